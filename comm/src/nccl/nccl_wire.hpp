// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include <nccl.h>

#include <evenkeel/comm/deadline.hpp>

#include "wire.hpp"

namespace evenkeel::comm::nccl {

/// Waits for what a call that does not block has begun. @throws failure, also when the deadline passes
void settle(ncclComm_t comm, deadline until, char const* call);

/// Bytes over NCCL. The messages of an operation are one group, with one send or receive each.
class nccl_wire final : public wire {
  public:
    /// Takes over `comm`, which does not block.
    explicit nccl_wire(ncclComm_t comm) noexcept : comm_{comm} {}
    ~nccl_wire() override { end(); }

    void begin(std::span<departure const> sends, std::span<arrival const> receives, cudaStream_t on) override;
    [[nodiscard]] bool settled() override;
    void begin_split(world_rank color, world_rank position, std::size_t size) override;
    [[nodiscard]] std::unique_ptr<wire> take_split() override;
    void close() override;
    void end() noexcept override;

    /// `bytes` from each rank to all, on the device.
    void all_gather(std::byte const* mine, std::byte* all, std::size_t bytes, cudaStream_t on);

  private:
    [[nodiscard]] static bool settled(ncclComm_t comm);

    ncclComm_t comm_;  ///< null once it has ended
    ncclComm_t splitting_ = nullptr;
};

}  // namespace evenkeel::comm::nccl
