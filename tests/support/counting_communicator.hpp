// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <evenkeel/comm/communicator.hpp>

#include "tests/support/passing_communicator.hpp"

namespace evenkeel::test {

/// Passes everything on to another communicator and keeps a record of the messages that it was given.
class counting_communicator final : public passing_communicator {
  public:
    explicit counting_communicator(comm::communicator& inner) : passing_communicator{inner} {}

    struct record {
        world_rank peer{};
        std::size_t bytes = 0;
        friend bool operator==(record const&, record const&) = default;
    };

    std::size_t exchanges = 0;
    std::size_t others = 0;  ///< operations that are no exchange
    std::vector<record> sent;
    std::vector<record> received;

  private:
    comm::pending do_all_gather(std::span<std::byte const> mine, std::span<std::uint64_t const> counts,
                                std::span<std::byte> all, comm::stream on) override {
        ++others;
        return passing_communicator::do_all_gather(mine, counts, all, on);
    }

    comm::pending do_barrier(comm::stream on) override {
        ++others;
        return passing_communicator::do_barrier(on);
    }

    comm::pending do_exchange(std::span<comm::outgoing const> sends, std::span<comm::incoming const> receives,
                              comm::stream on, comm::statement const& mine) override {
        ++exchanges;
        for (auto const& message : sends) {
            sent.push_back({message.peer, message.bytes.size()});
        }
        for (auto const& message : receives) {
            received.push_back({message.peer, message.bytes.size()});
        }
        return passing_communicator::do_exchange(sends, receives, on, mine);
    }

    std::unique_ptr<communicator> do_split(std::uint32_t color, std::uint32_t key, comm::deadline until) override {
        ++others;
        return passing_communicator::do_split(color, key, until);
    }
};

}  // namespace evenkeel::test
