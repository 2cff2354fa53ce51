// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include <cuda_runtime_api.h>

#include <evenkeel/core/ids.hpp>

namespace evenkeel::comm::nccl {

/// Bytes on the device for one peer.
struct departure {
    std::byte const* from = nullptr;
    std::size_t bytes = 0;
    world_rank to{};
};

/// Room on the device for the bytes of one peer.
struct arrival {
    std::byte* to = nullptr;
    std::size_t bytes = 0;
    world_rank from{};
};

/// What carries bytes between the devices of the ranks of one communicator: NCCL, or copies within one device.
///
/// All ranks begin the same in the same order; what is sent is received with the same size. Nothing waits. Everything
/// throws a `failure` where CUDA or NCCL complains.
class wire {
  public:
    wire() = default;
    wire(wire const&) = delete;
    wire& operator=(wire const&) = delete;
    /// Ends it at once, if it has not been closed.
    virtual ~wire() = default;

    /// All messages of one operation, in the order of `on`.
    virtual void begin(std::span<departure const> sends, std::span<arrival const> receives, cudaStream_t on) = 0;
    /// Makes progress. @return whether all that was begun is on its stream.
    [[nodiscard]] virtual bool settled() = 0;

    /// The ranks with the same `color` as a wire of their own.
    ///
    /// @param color     A rank of this wire that is among them; the same for all of them and for no others.
    /// @param position  This rank among them. @param size  How many they are.
    virtual void begin_split(world_rank color, world_rank position, std::size_t size) = 0;
    /// @return null as long as it is not there.
    [[nodiscard]] virtual std::unique_ptr<wire> take_split() = 0;

    /// Nothing is on its way, on no rank.
    virtual void close() = 0;
    /// From here on no peer touches a buffer of this rank.
    virtual void end() noexcept = 0;
};

}  // namespace evenkeel::comm::nccl
