// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <evenkeel/core/ids.hpp>

#include "../copier.hpp"
#include "batch_copy.hpp"
#include "memory.hpp"

namespace evenkeel::comm::nccl {

/// Copies within device memory, one batch per call. Its memory only grows and is used again when the stream that has
/// used it is through.
class device_copier final : public copier, public std::enable_shared_from_this<device_copier> {
  public:
    device_copier(world_rank rank, int device) : rank_{rank}, device_{device} {}

    [[nodiscard]] bool reaches(void const* address) const override;
    [[nodiscard]] std::shared_ptr<std::byte> take(std::size_t bytes, stream on) override;
    void copy(std::span<local_copy const> copies, stream on) override;
    void pack(std::span<scattered_run const> runs, std::byte* dense, stream on) override {
        move_runs(packing::pack, runs, dense, on);
    }
    void unpack(std::span<scattered_run const> runs, std::byte* dense, stream on) override {
        move_runs(packing::unpack, runs, dense, on);
    }
    [[nodiscard]] stream own_stream() override;
    void finish_own_stream() override;

  private:
    /// One piece of memory, and the last thing on the stream that uses it.
    struct block {
        explicit block(growing_buffer::where place) : memory{place} {}
        growing_buffer memory;
        std::size_t size = 0;
        event free;
        bool taken = false;
    };
    using shelf = std::vector<std::unique_ptr<block>>;

    void move_runs(packing way, std::span<scattered_run const> runs, std::byte* dense, stream on);
    [[nodiscard]] static block& find(shelf& from, growing_buffer::where place, std::size_t bytes);
    /// @throws comm::error  if `call` throws a `failure`.
    template <class Call>
    auto checked(Call call) const;

    world_rank rank_;
    int device_;
    shelf there_;
    shelf here_;  ///< pinned
    std::unique_ptr<nccl::own_stream> own_;
};

}  // namespace evenkeel::comm::nccl
