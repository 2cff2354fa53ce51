// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <evenkeel/comm/communicator.hpp>

namespace evenkeel::test {

/// Passes everything on to another communicator. What a test wants to see, or to happen otherwise, it overrides.
class passing_communicator : public comm::communicator {
  protected:
    /// @param inner  Outlives it.
    explicit passing_communicator(comm::communicator& inner)
        : communicator{inner.rank(), inner.topology()}, inner_{inner} {}
    explicit passing_communicator(std::unique_ptr<communicator> inner)
        : communicator{inner->rank(), inner->topology()}, owned_{std::move(inner)}, inner_{*owned_} {}

    comm::pending do_all_gather(std::span<std::byte const> mine, std::span<std::uint64_t const> counts,
                                std::span<std::byte> all, comm::stream on) override {
        return inner_.all_gather(mine, counts, all, on);
    }
    comm::pending do_barrier(comm::stream on) override { return inner_.barrier(on); }
    comm::pending do_exchange(std::span<comm::outgoing const> sends, std::span<comm::incoming const> receives,
                              comm::stream on, comm::statement const& mine) override {
        return inner_.exchange(sends, receives, on, mine);
    }
    std::unique_ptr<communicator> do_split(std::uint32_t color, std::uint32_t key, comm::deadline until) override {
        return inner_.split(color, key, until);
    }
    void do_abort(std::string_view reason, std::optional<world_rank> culprit) noexcept override {
        inner_.abort(reason, culprit);
    }

  private:
    std::unique_ptr<communicator> owned_;
    comm::communicator& inner_;
};

}  // namespace evenkeel::test
