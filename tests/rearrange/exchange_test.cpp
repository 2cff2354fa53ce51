// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/rearrange/exchange.hpp>
#include <evenkeel/rearrange/order.hpp>

#include "tests/support/layouts.hpp"

namespace evenkeel::exchange_test {
namespace {

using ids = std::vector<std::uint32_t>;
using sizes = std::vector<std::uint64_t>;

auto refuses(std::string const& message) { return testing::ThrowsMessage<std::invalid_argument>(message); }

///     home      rank 0: 0 1 2    rank 1: 3    rank 2: 4 5
///     planned   rank 0: 4 1      rank 1: 2 0  rank 2: 3 5
rearrangement small_move() {
    return {home_layout(std::vector<std::size_t>{3, 1, 2}), layout_of(test::plan_of({{4, 1}, {2, 0}, {3, 5}}))};
}

TEST(exchange_of, groups_what_leaves_and_what_arrives_by_peer) {
    auto const move = small_move();
    auto const bytes = sizes{10, 20, 30, 40, 50, 60};
    auto const self = world_rank{0};
    auto const mine = evenkeel::exchange_of(move, self, bytes);
    EXPECT_EQ(mine.receives.bytes(), 50u);

    EXPECT_EQ(mine.self, world_rank{0});
    EXPECT_EQ(test::numbers(mine.kept), ids{1});
    EXPECT_EQ(test::numbers(mine.sends.peers), ids{1});
    EXPECT_EQ(test::numbers(mine.sends.items_of(0)), (ids{0, 2})) << "in order of their id, not of either memory";
    EXPECT_EQ(mine.sends.byte_offsets, (sizes{0, 40}));
    EXPECT_EQ(test::numbers(mine.receives.peers), ids{2});
    EXPECT_EQ(test::numbers(mine.receives.items_of(0)), ids{4});
    EXPECT_EQ(mine.receives.byte_offsets, (sizes{0, 50}));
}

TEST(exchange_of, lays_the_messages_of_a_buffer_out_without_gaps) {
    rearrangement const gather{home_layout(std::vector<std::size_t>{1, 2, 0, 1}),
                               layout_of(test::plan_of({{}, {}, {3, 2, 1, 0}, {}}))};
    auto const mine = exchange_of(gather, world_rank{2}, sizes{1, 2, 4, 8});

    EXPECT_EQ(mine.receives.size(), 3u);
    EXPECT_EQ(test::numbers(mine.receives.peers), (ids{0, 1, 3}));
    EXPECT_EQ(test::numbers(mine.receives.items), (ids{0, 1, 2, 3}));
    EXPECT_EQ(mine.receives.item_offsets, (std::vector<std::size_t>{0, 1, 3, 4}));
    EXPECT_EQ(mine.receives.byte_offsets, (sizes{0, 1, 7, 15}));
    EXPECT_EQ(mine.sends, messages{});
}

TEST(exchange_of, needs_no_buffer_where_all_items_stay) {
    auto const home = home_layout(std::vector<std::size_t>{2, 1});
    auto const mine = exchange_of({home, layout_of(test::plan_of({{1, 0}, {2}}))}, world_rank{0}, sizes{8, 8, 8});

    EXPECT_EQ(mine.sends.bytes(), 0u);
    EXPECT_EQ(mine.receives.bytes(), 0u);
    EXPECT_EQ(mine.sends.size(), 0u);
    EXPECT_EQ(mine.receives.size(), 0u);
    EXPECT_EQ(test::numbers(mine.kept), (ids{0, 1}));
}

TEST(exchange_of, sends_no_message_for_items_without_a_byte) {
    auto const mine = exchange_of(small_move(), world_rank{0}, sizes{0, 20, 0, 40, 0, 60});
    EXPECT_EQ(mine, (exchange{.self = world_rank{0}, .sends = {}, .receives = {}, .kept = {item_id{1}}}));

    auto const some = exchange_of(small_move(), world_rank{0}, sizes{0, 20, 5, 40, 50, 60});
    EXPECT_EQ(test::numbers(some.sends.items_of(0)), ids{2}) << "an item of 0 bytes beside one of 5";
}

TEST(exchange_of, leaves_a_rank_without_tokens_out_of_every_message) {
    // Rank 0 has no token at all, rank 1 six; they change sides.
    rearrangement const move{home_layout(std::vector<std::size_t>{1, 1}), layout_of(test::plan_of({{1}, {0}}))};
    auto const bytes = sizes{0, 48};
    EXPECT_EQ(exchange_of(move, world_rank{0}, bytes).sends, messages{});
    EXPECT_EQ(exchange_of(move, world_rank{0}, bytes).receives.bytes(), 48u);
    EXPECT_EQ(exchange_of(move, world_rank{1}, bytes).sends.bytes(), 48u);
    EXPECT_EQ(exchange_of(move, world_rank{1}, bytes).receives, messages{});
}

TEST(exchange_of, gives_a_rank_without_samples_an_empty_exchange) {
    rearrangement const move{home_layout(std::vector<std::size_t>{2, 0, 0}), layout_of(test::plan_of({{0}, {1}, {}}))};
    EXPECT_EQ(exchange_of(move, world_rank{2}, sizes{5, 3}),
              (exchange{.self = world_rank{2}, .sends = {}, .receives = {}, .kept = {}}));
    EXPECT_EQ(exchange_of(move, world_rank{1}, sizes{5, 3}).receives.bytes(), 3u);
}

TEST(exchange_of, refuses_sizes_of_another_batch) {
    EXPECT_THAT(
        [] {
            (void)exchange_of(small_move(), world_rank{0}, sizes{1, 2});
        },
        refuses("exchange_of: bytes.size() = 2, expected one size for each of 6 items"));
}

TEST(exchange_of, refuses_a_rank_outside_the_world) {
    EXPECT_THAT([] { (void)exchange_of(small_move(), world_rank{3}, sizes(6, 1)); },
                refuses("exchange_of: self = 3, expected a world rank below 3"));
}

TEST(exchange_of, refuses_to_wrap) {
    constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
    EXPECT_THAT(
        [] {
            (void)exchange_of(small_move(), world_rank{0}, sizes{largest, 0, 1, 0, 0, 0});
        },
        testing::ThrowsMessage<std::overflow_error>("exchange_of: the size of an exchange exceeds 64 bits"));
    EXPECT_EQ(exchange_of(small_move(), world_rank{0}, sizes{largest, largest, 0, 0, 0, 0}).sends.bytes(), largest)
        << "what is kept is in no buffer";
}

/// Every rank's exchange of a random rearrangement, with sizes some of which are 0.
class exchange_law : public testing::TestWithParam<unsigned> {
  protected:
    exchange_law() {
        test::seeded random{GetParam() + 1000};
        bytes = test::random_bytes(random, move.size());
        for (std::size_t rank = 0; rank < move.ranks().value; ++rank) {
            ranks.push_back(exchange_of(move, to_id<world_rank>(rank), bytes));
        }
    }

    std::uint64_t bytes_of(std::vector<item_id> const& list) const {
        std::uint64_t total = 0;
        for (item_id const item : list) {
            total += bytes[to_index(item)];
        }
        return total;
    }

    /// Of `list`, those with a byte, in order of their id.
    std::vector<item_id> with_bytes(std::vector<item_id> list) const {
        std::erase_if(list, [&](item_id item) { return bytes[to_index(item)] == 0; });
        std::ranges::sort(list);
        return list;
    }

    rearrangement const move = test::random_journey(GetParam()).first;
    std::vector<std::uint64_t> bytes;
    std::vector<exchange> ranks;
};

/// The message to or from `peer`: its items, and where it lies.
struct message {
    std::vector<item_id> items;
    std::uint64_t bytes = 0;
    friend bool operator==(message const&, message const&) = default;
};

message message_of(messages const& all, world_rank peer) {
    for (std::size_t number = 0; number < all.size(); ++number) {
        if (all.peers[number] == peer) {
            auto const items = all.items_of(number);
            return {{items.begin(), items.end()}, all.byte_offsets[number + 1] - all.byte_offsets[number]};
        }
    }
    return {};
}

TEST_P(exchange_law, what_one_rank_sends_the_other_receives) {
    for (auto const& sender : ranks) {
        for (auto const& receiver : ranks) {
            EXPECT_EQ(message_of(sender.sends, receiver.self), message_of(receiver.receives, sender.self));
        }
    }
}

TEST_P(exchange_law, no_rank_is_its_own_peer_and_peers_ascend) {
    for (auto const& rank : ranks) {
        for (auto const* all : {&rank.sends, &rank.receives}) {
            EXPECT_THAT(all->peers, testing::Each(testing::Ne(rank.self)));
            EXPECT_EQ(std::ranges::adjacent_find(all->peers, std::ranges::greater_equal{}), all->peers.end());
        }
    }
}

TEST_P(exchange_law, no_message_is_empty_and_offsets_add_up) {
    for (auto const& rank : ranks) {
        for (auto const* all : {&rank.sends, &rank.receives}) {
            ASSERT_EQ(all->item_offsets.size(), all->size() + 1);
            ASSERT_EQ(all->byte_offsets.size(), all->size() + 1);
            EXPECT_EQ(all->item_offsets.back(), all->items.size());
            EXPECT_EQ(all->bytes(), bytes_of(all->items));
            for (std::size_t number = 0; number < all->size(); ++number) {
                auto const items = all->items_of(number);
                std::uint64_t const length = all->byte_offsets[number + 1] - all->byte_offsets[number];
                EXPECT_EQ(length, bytes_of({items.begin(), items.end()}));
                EXPECT_GT(length, 0u);
                EXPECT_TRUE(std::ranges::is_sorted(items));
            }
            EXPECT_EQ(std::ranges::count_if(all->items, [&](item_id item) { return bytes[to_index(item)] == 0; }), 0);
        }
    }
}

TEST_P(exchange_law, a_rank_keeps_or_sends_what_it_held_and_keeps_or_receives_what_it_will_hold) {
    for (auto const& rank : ranks) {
        auto before = rank.kept;
        before.insert(before.end(), rank.sends.items.begin(), rank.sends.items.end());
        EXPECT_EQ(with_bytes(before), with_bytes(items_on(move.from(), rank.self)));
        EXPECT_EQ(with_bytes(before).size(), before.size());

        auto after = rank.kept;
        after.insert(after.end(), rank.receives.items.begin(), rank.receives.items.end());
        EXPECT_EQ(with_bytes(after), with_bytes(items_on(move.to(), rank.self)));
        EXPECT_TRUE(std::ranges::is_sorted(rank.kept));
    }
}

TEST_P(exchange_law, the_way_back_swaps_what_is_sent_and_what_is_received) {
    for (auto const& rank : ranks) {
        auto const back = exchange_of(invert(move), rank.self, bytes);
        EXPECT_EQ(back, (exchange{rank.self, rank.receives, rank.sends, rank.kept}));
    }
}

/// Every byte of every item is known from item and offset, so each one can be told at the receiver.
TEST_P(exchange_law, carries_every_byte_to_its_place) {
    auto const byte_of = [](item_id item, std::uint64_t offset) {
        return static_cast<std::uint8_t>(to_index(item) * 37 + offset);
    };
    std::vector<std::vector<std::uint8_t>> sent;
    for (auto const& rank : ranks) {
        auto& buffer = sent.emplace_back();
        for (item_id const item : rank.sends.items) {
            for (std::uint64_t offset = 0; offset < bytes[to_index(item)]; ++offset) {
                buffer.push_back(byte_of(item, offset));
            }
        }
        ASSERT_EQ(buffer.size(), rank.sends.bytes());
    }
    for (auto const& rank : ranks) {
        std::vector<std::uint8_t> received(rank.receives.bytes());
        for (std::size_t number = 0; number < rank.receives.size(); ++number) {
            auto const& peer = ranks[to_index(rank.receives.peers[number])];
            auto const outgoing = std::ranges::find(peer.sends.peers, rank.self) - peer.sends.peers.begin();
            auto const from = static_cast<std::ptrdiff_t>(peer.sends.byte_offsets[static_cast<std::size_t>(outgoing)]);
            auto const to = static_cast<std::ptrdiff_t>(rank.receives.byte_offsets[number]);
            auto const length = static_cast<std::ptrdiff_t>(rank.receives.byte_offsets[number + 1]) - to;
            std::copy_n(sent[to_index(peer.self)].begin() + from, length, received.begin() + to);
        }
        std::size_t position = 0;
        for (item_id const item : rank.receives.items) {
            for (std::uint64_t offset = 0; offset < bytes[to_index(item)]; ++offset) {
                EXPECT_EQ(received[position++], byte_of(item, offset));
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(seeds, exchange_law, testing::Range(0u, 200u));

}  // namespace
}  // namespace evenkeel::exchange_test
