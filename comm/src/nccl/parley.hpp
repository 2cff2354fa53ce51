// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include <cuda_runtime_api.h>

#include <evenkeel/comm/deadline.hpp>
#include <evenkeel/core/ids.hpp>

#include "../fault.hpp"
#include "wire.hpp"

namespace evenkeel::comm::nccl {

/// Another rank has told that the communicator has ended.
struct told {
    fault why;
};

/// How ranks talk to each other before bytes move: everybody says equally much to all. One thing at a time.
///
/// Throws `told`, and a `failure` where CUDA or NCCL complains.
class parley {
  public:
    parley() = default;
    parley(parley const&) = delete;
    parley& operator=(parley const&) = delete;
    virtual ~parley() = default;

    /// @param operation  What errors are about. @param mine  Belongs to the parley until `heard`, `all` likewise.
    virtual void begin(std::string_view operation, std::span<std::byte const> mine, std::span<std::byte> all) = 0;
    /// Makes progress without blocking. @return whether everybody's bytes are here.
    [[nodiscard]] virtual bool heard() = 0;
    /// Whether another rank has told something, while nobody says anything else.
    virtual void listen() = 0;
    /// What is wrong when the deadline of `operation` has passed. It is told to the others, if there is a way.
    [[nodiscard]] virtual fault lateness(std::string_view operation) = 0;
    /// Leaves what is being said, and lets the others know, if there is a way.
    virtual void leave() noexcept = 0;
    /// Tells the others, if there is a way.
    ///
    /// @param culprit  Whom their errors name.
    virtual void tell(fault const& why, std::optional<world_rank> culprit) noexcept = 0;

    /// For the ranks with the same `color`, in order of `key`, then of rank. Collective; blocks.
    ///
    /// @param over, on  The wire and the stream of those ranks, which outlive it.
    /// @throws comm::error
    [[nodiscard]] virtual std::unique_ptr<parley> split(std::uint32_t color, std::uint32_t key, wire& over,
                                                        cudaStream_t on, deadline until) = 0;
};

}  // namespace evenkeel::comm::nccl
