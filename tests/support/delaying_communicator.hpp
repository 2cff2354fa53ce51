// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <thread>
#include <utility>

#include <evenkeel/comm/communicator.hpp>

#include "tests/support/batches.hpp"
#include "tests/support/passing_communicator.hpp"

namespace evenkeel::test {

/// Passes everything on to another communicator, each time after a while that the seed knows. So do all that are split
/// from it.
class delaying_communicator final : public passing_communicator {
  public:
    delaying_communicator(comm::communicator& inner, std::uint64_t seed, std::uint64_t longest_us)
        : passing_communicator{inner}, random_{seed}, longest_us_{longest_us} {}

  private:
    delaying_communicator(std::unique_ptr<communicator> inner, std::uint64_t seed, std::uint64_t longest_us)
        : passing_communicator{std::move(inner)}, random_{seed}, longest_us_{longest_us} {}

    void delay() {
        // Most operations go on at once, as they would.
        if (random_.up_to(2) == 0) {
            std::this_thread::sleep_for(std::chrono::microseconds{random_.up_to(longest_us_)});
        }
    }

    comm::pending do_all_gather(std::span<std::byte const> mine, std::span<std::uint64_t const> counts,
                                std::span<std::byte> all, comm::stream on) override {
        delay();
        return passing_communicator::do_all_gather(mine, counts, all, on);
    }

    comm::pending do_barrier(comm::stream on) override {
        delay();
        return passing_communicator::do_barrier(on);
    }

    comm::pending do_exchange(std::span<comm::outgoing const> sends, std::span<comm::incoming const> receives,
                              comm::stream on, comm::statement const& mine) override {
        delay();
        return passing_communicator::do_exchange(sends, receives, on, mine);
    }

    std::unique_ptr<communicator> do_split(std::uint32_t color, std::uint32_t key, comm::deadline until) override {
        delay();
        auto made = passing_communicator::do_split(color, key, until);
        return std::unique_ptr<communicator>{
            new delaying_communicator{std::move(made), random_.up_to(1U << 30U), longest_us_}};
    }

    seeded random_;
    std::uint64_t longest_us_;
};

}  // namespace evenkeel::test
