// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/errors.hpp>

namespace evenkeel::comm {

namespace {

/// The rules of both directions: peers known, not oneself, ascending, with at least one byte.
template <class Message>
void require_messages(std::string_view argument, std::span<Message const> messages, world_rank self, world_size size) {
    for (std::size_t m = 0; m < messages.size(); ++m) {
        auto const name = element(argument, m);
        auto const peer = messages[m].peer;
        if (to_index(peer) >= size.value) {
            throw_invalid("exchange", name + ".peer", to_index(peer), "a rank below " + std::to_string(size.value));
        }
        if (peer == self) {
            throw_invalid("exchange", name + ".peer", to_index(peer),
                          "another rank: what stays is no message but a local copy");
        }
        if (m > 0 && messages[m - 1].peer >= peer) {
            throw_invalid("exchange", name + ".peer", to_index(peer),
                          "more than the peer before it, " + std::to_string(to_index(messages[m - 1].peer)));
        }
        if (messages[m].bytes.empty()) {
            throw_invalid("exchange", name + ".bytes.size()", 0, "at least 1: a message without bytes is left out");
        }
    }
}

void require_size(std::string_view argument, std::size_t found, std::uint64_t expected) {
    if (found != expected) {
        throw_invalid("all_gather", argument, found, std::to_string(expected) + " bytes");
    }
}

}  // namespace

communicator::communicator(world_rank rank, evenkeel::topology topology)
    : rank_{rank}, topology_{std::move(topology)} {}

pending communicator::all_gather(std::span<std::byte const> mine, std::span<std::byte> all, stream on) {
    auto const ranks = size().value;
    require_size("all.size()", all.size(), checked_multiply(mine.size(), ranks, "all_gather: the bytes of all"));
    counts_.assign(ranks, mine.size());
    return do_all_gather(mine, counts_, all, on);
}

pending communicator::all_gather(std::span<std::byte const> mine, std::span<std::uint64_t const> counts,
                                 std::span<std::byte> all, stream on) {
    if (counts.size() != size().value) {
        throw_invalid("all_gather", "counts.size()", counts.size(),
                      "one for each of " + std::to_string(size().value) + " ranks");
    }
    require_size("mine.size()", mine.size(), counts[to_index(rank())]);
    std::uint64_t total = 0;
    for (auto const count : counts) {
        total = checked_add(total, count, "all_gather: the bytes of all");
    }
    require_size("all.size()", all.size(), total);
    return do_all_gather(mine, counts, all, on);
}

pending communicator::exchange(std::span<outgoing const> sends, std::span<incoming const> receives, stream on,
                               statement const& mine) {
    require_messages("sends", sends, rank(), size());
    require_messages("receives", receives, rank(), size());
    return do_exchange(sends, receives, on, mine);
}

pending communicator::barrier(stream on) { return do_barrier(on); }

std::unique_ptr<communicator> communicator::split(std::uint32_t color, std::uint32_t key, deadline until) {
    return do_split(color, key, until);
}

}  // namespace evenkeel::comm
