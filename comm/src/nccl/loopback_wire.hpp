// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "memory.hpp"
#include "wire.hpp"

namespace evenkeel::comm::nccl {

class landing_field;

/// Bytes between ranks that are threads and share one device: the receiver copies, on its own stream, when the sender's
/// stream has got there, and the sender's stream waits for that.
class loopback_wire final : public wire {
  public:
    /// The wires of as many ranks, in order.
    [[nodiscard]] static std::vector<std::unique_ptr<wire>> make(std::size_t ranks);

    loopback_wire(std::shared_ptr<landing_field> field, world_rank self) : field_{std::move(field)}, self_{self} {}
    ~loopback_wire() override { end(); }

    void begin(std::span<departure const> sends, std::span<arrival const> receives, cudaStream_t on) override;
    [[nodiscard]] bool settled() override;
    void begin_split(world_rank color, world_rank position, std::size_t size) override;
    [[nodiscard]] std::unique_ptr<wire> take_split() override;
    void close() override {}
    void end() noexcept override;

    /// A message that its sender has laid out.
    struct parcel {
        departure what;
        event ready;  ///< on the sender's stream
        event taken;  ///< on the receiver's
        enum class state { open, taken, withdrawn } at = state::open;
    };

  private:
    std::shared_ptr<landing_field> field_;
    world_rank self_;
    cudaStream_t on_ = nullptr;
    std::vector<std::shared_ptr<parcel>> sent_;  ///< that the stream does not wait for yet
    std::vector<arrival> expected_;              ///< that are not being copied yet
    std::vector<std::shared_ptr<parcel>> done_;  ///< of this operation, in both directions
    std::size_t splits_ = 0;
    std::unique_ptr<wire> split_;
};

}  // namespace evenkeel::comm::nccl
