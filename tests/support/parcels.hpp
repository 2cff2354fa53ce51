// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/rearrange/exchange.hpp>

#include "tests/support/backends.hpp"

namespace evenkeel::test {

/// One item that a rank has received, or kept.
struct parcel {
    world_rank from{};
    item_id item{};
    std::vector<std::byte> bytes;
};

/// Carries an exchange out, message by message as it is written down, and returns what this rank holds after it.
///
/// @param sizes    Of each item.
/// @param content  The bytes of an item that this rank has.
[[nodiscard]] inline std::vector<parcel> carry(comm::communicator& world, exchange const& mine,
                                               std::span<std::uint64_t const> sizes,
                                               std::function<std::vector<std::byte>(item_id)> const& content) {
    std::vector<std::vector<std::byte>> leaving(mine.sends.size());
    std::vector<comm::outgoing> sends;
    for (std::size_t message = 0; message < mine.sends.size(); ++message) {
        for (item_id const item : mine.sends.items_of(message)) {
            auto const bytes = content(item);
            leaving[message].insert(leaving[message].end(), bytes.begin(), bytes.end());
        }
        sends.push_back({mine.sends.peers[message], leaving[message]});
    }
    std::vector<std::byte> arriving(mine.receives.bytes());
    std::vector<comm::incoming> receives;
    for (std::size_t message = 0; message < mine.receives.size(); ++message) {
        std::uint64_t const first = mine.receives.byte_offsets[message];
        receives.push_back({mine.receives.peers[message],
                            std::span{arriving}.subspan(first, mine.receives.byte_offsets[message + 1] - first)});
    }
    world.exchange(sends, receives).wait(patience);
    std::vector<parcel> result;
    auto next = arriving.begin();
    for (std::size_t message = 0; message < mine.receives.size(); ++message) {
        for (item_id const item : mine.receives.items_of(message)) {
            auto const last = next + static_cast<std::ptrdiff_t>(sizes[to_index(item)]);
            result.push_back({mine.receives.peers[message], item, {next, last}});
            next = last;
        }
    }
    for (item_id const item : mine.kept) {
        result.push_back({mine.self, item, content(item)});
    }
    return result;
}

}  // namespace evenkeel::test
