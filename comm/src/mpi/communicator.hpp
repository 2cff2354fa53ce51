// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <evenkeel/comm/communicator.hpp>

#include "hub.hpp"

namespace evenkeel::comm::mpi {

/// One rank of a hub.
class rank_communicator final : public communicator {
  public:
    rank_communicator(world_rank rank, std::shared_ptr<hub> hub)
        : communicator{rank, hub->topology()}, hub_{std::move(hub)} {}

    void require_alive() override { hub_->look(rank()); }

  private:
    pending do_all_gather(std::span<std::byte const> mine, std::span<std::uint64_t const> counts,
                          std::span<std::byte> all, stream on) override;
    pending do_barrier(stream on) override;
    pending do_exchange(std::span<outgoing const> sends, std::span<incoming const> receives, stream on,
                        statement const& mine) override;
    std::unique_ptr<communicator> do_split(std::uint32_t color, std::uint32_t key, deadline until) override;
    void do_abort(std::string_view reason, std::optional<world_rank> culprit) noexcept override;

    template <class Call>
    pending take_part(std::string_view operation, Call call);

    std::shared_ptr<hub> hub_;
    std::uint64_t next_ = 0;  ///< the number of this rank's next operation
};

}  // namespace evenkeel::comm::mpi
