// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include <evenkeel/comm/communicator.hpp>

#include "rank_state.hpp"

namespace evenkeel::comm::nccl {

/// One rank whose bytes are on a device.
class device_communicator final : public communicator {
  public:
    device_communicator(world_rank rank, std::shared_ptr<rank_state> state)
        : communicator{rank, state->topology()}, state_{std::move(state)} {}

    void require_alive() override;
    [[nodiscard]] std::shared_ptr<copier> device_copier() override;

  private:
    pending do_all_gather(std::span<std::byte const> mine, std::span<std::uint64_t const> counts,
                          std::span<std::byte> all, stream on) override;
    pending do_barrier(stream on) override;
    pending do_exchange(std::span<outgoing const> sends, std::span<incoming const> receives, stream on,
                        statement const& mine) override;
    std::unique_ptr<communicator> do_split(std::uint32_t color, std::uint32_t key, deadline until) override;
    void do_abort(std::string_view reason, std::optional<world_rank> culprit) noexcept override;

    /// @param identity  Of what must be the same in the calls of all ranks.
    [[nodiscard]] std::shared_ptr<operation> make(std::string_view name, std::uint64_t identity, stream on) const;
    /// @param prepare  Is given the operation before it begins.
    template <class Prepare>
    [[nodiscard]] pending begin(std::string_view name, std::uint64_t identity, stream on, Prepare prepare);
    /// The others wait for a rank that has no memory for its part, and are told.
    void tell_that_memory_lacks(std::string_view name) const noexcept;

    std::shared_ptr<rank_state> state_;
    std::shared_ptr<copier> copier_;
};

/// @throws failure  if this process has no GPU; no other call of CUDA says so in so many words.
[[nodiscard]] int current_device();

/// Every rank meets every other, so that connections are there before anything is timed, and all hold the same nodes.
///
/// @param maker  The function that errors are about. @throws comm::error
void greet_all(communicator& world, std::string_view maker, deadline until);

}  // namespace evenkeel::comm::nccl
