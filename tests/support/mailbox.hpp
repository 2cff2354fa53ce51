// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/comm/communicator.hpp>

#include "tests/support/payloads.hpp"

namespace evenkeel::test {

/// One rank's side of an exchange: what it sends, known from sender, receiver and round, and room for what it receives.
///
///     mailbox box{world, [](std::size_t from, std::size_t to) { return from + to; }};
///     box.exchange(world).wait(patience);
///     box.expect_everything();
class mailbox {
  public:
    /// @param bytes_between  How many bytes go from one rank to another; asked for every pair.
    template <std::invocable<std::size_t, std::size_t> Sizes>
    mailbox(comm::communicator const& world, Sizes bytes_between, std::size_t round = 0)
        : self_{to_index(world.rank())}, round_{round} {
        for (std::size_t peer = 0; peer < world.size().value; ++peer) {
            std::size_t const out = peer == self_ ? 0u : bytes_between(self_, peer);
            std::size_t const in = peer == self_ ? 0u : bytes_between(peer, self_);
            out_.push_back(message(self_, peer, out));
            in_.push_back(untouched_bytes(in));
            if (out > 0) {
                sends.push_back({to_id<world_rank>(peer), out_.back()});
            }
            if (in > 0) {
                receives.push_back({to_id<world_rank>(peer), in_.back()});
            }
        }
    }

    [[nodiscard]] comm::pending exchange(comm::communicator& world) const { return world.exchange(sends, receives); }

    void expect_everything() const {
        for (std::size_t peer = 0; peer < in_.size(); ++peer) {
            EXPECT_TRUE(in_[peer] == message(peer, self_, in_[peer].size())) << "from rank " << peer;
        }
    }

    void expect_nothing() const {
        for (std::size_t peer = 0; peer < in_.size(); ++peer) {
            EXPECT_TRUE(in_[peer] == untouched_bytes(in_[peer].size())) << "from rank " << peer;
        }
    }

    /// Makes what has been sent worthless, as a caller does who uses the buffer again.
    void overwrite_sent() {
        for (auto& bytes : out_) {
            bytes.assign(bytes.size(), std::byte{0});
        }
    }

    std::vector<comm::outgoing> sends;
    std::vector<comm::incoming> receives;

  private:
    [[nodiscard]] std::vector<std::byte> message(std::size_t from, std::size_t to, std::size_t size) const {
        return payload((from << 40U) + (to << 20U) + round_ + 1, size);
    }

    std::size_t self_;
    std::size_t round_;
    std::vector<std::vector<std::byte>> out_;  ///< per peer
    std::vector<std::vector<std::byte>> in_;   ///< per peer
};

}  // namespace evenkeel::test
