// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/core/topology.hpp>

namespace evenkeel::comm {

/// Communicators whose ranks are threads of this process: nothing to install or to start.
///
///     auto ranks = evenkeel::comm::make_threads(cluster);
///     // hand ranks[r] to the thread that plays rank r
///
/// Bytes are copied once, straight from the sender's buffer to the receiver's, by whichever of the two waits first; a
/// rank that computes between call and wait holds nobody up. Streams are refused.
///
/// @return one communicator per world rank of `topology`, in order.
/// @throws std::invalid_argument  if the topology has no rank.
[[nodiscard]] std::vector<std::unique_ptr<communicator>> make_threads(topology const& topology);

/// Runs `body` once per rank, each in a thread of its own, and returns when all have ended.
///
///     evenkeel::comm::run_threads(cluster, [&](evenkeel::comm::communicator& world) { ... });
///
/// A rank that throws aborts the communicator, so that no other waits for it.
///
/// @throws std::invalid_argument  if `body` is empty.
/// @throws what the first rank to fail has thrown, when all threads have ended. A `comm::error` only where no rank has
///         thrown anything else: the others' are a consequence.
void run_threads(topology const& topology, std::function<void(communicator&)> const& body);

}  // namespace evenkeel::comm
