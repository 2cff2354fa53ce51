// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/core/topology.hpp>

namespace evenkeel::comm {

/// Communicators whose ranks are threads of this process and share one GPU, the current device: what ranks do on their
/// devices, from packing to the order on streams, on a machine with a single card.
///
///     auto ranks = evenkeel::comm::make_loopback(cluster);
///     // hand ranks[r] to the thread that plays rank r
///
/// As over NCCL: messages and gathered bytes may lie in device memory or on the host, a transfer begins when what is on
/// its stream before it is complete, and streams that are being captured are refused. Faults are named as over threads.
/// Bytes are copied within the device, so times say nothing about links.
///
/// @return one communicator per world rank of `nodes`, in order.
/// @throws std::invalid_argument  if `nodes` has no rank.
/// @throws comm::error            if there is no CUDA device.
[[nodiscard]] std::vector<std::unique_ptr<communicator>> make_loopback(topology const& nodes);

/// Runs `body` once per rank, each in a thread of its own, and returns or throws as `run_threads` does.
///
///     evenkeel::comm::run_loopback(cluster, [&](evenkeel::comm::communicator& world) { ... });
void run_loopback(topology const& nodes, std::function<void(communicator&)> const& body);

}  // namespace evenkeel::comm
