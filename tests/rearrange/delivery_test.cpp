// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/core/members.hpp>
#include <evenkeel/rearrange/delivery.hpp>
#include <evenkeel/rearrange/delivery_exchange.hpp>
#include <evenkeel/rearrange/order.hpp>

#include "tests/support/layouts.hpp"

namespace evenkeel::delivery_test {
namespace {

using ids = std::vector<std::uint32_t>;
using sizes = std::vector<std::uint64_t>;

auto refuses(std::string const& message) { return testing::ThrowsMessage<std::invalid_argument>(message); }

/// Two instances on 16 ranks, each with 2 stages of 2 parts of 2 siblings.
struct small_world {
    grid llm{.tensor = 2, .context = 2, .data = 2, .pipeline = 2};
    group instances = group_of(llm);
    member_shape shape = shape_of(llm);
    /// Samples 0 1 2 drawn by rank 0, sample 3 by rank 4.
    layout home = home_layout(std::vector<std::size_t>{3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    layout planned = layout_of(test::plan_of({{3, 0}, {1, 2}}), instances, {16});
};

TEST(deliver, brings_inputs_to_the_leader_of_the_first_stage) {
    small_world const world;
    auto const inputs = deliver(world.home, world.planned, world.instances, world.shape, {});
    EXPECT_EQ(inputs.pieces, one_unit_each(4));
    ASSERT_EQ(inputs.copies.size(), 1u);
    EXPECT_EQ(inputs.copies[0], (rearrangement{world.home, world.planned}));
}

TEST(deliver, brings_labels_to_the_leader_of_the_last_stage) {
    small_world const world;
    auto const labels =
        deliver(world.home, world.planned, world.instances, world.shape, {.stages = field_stages::last});
    ASSERT_EQ(labels.copies.size(), 1u);
    EXPECT_EQ(test::numbers(items_on(labels.copies[0].to(), world_rank{8})), (ids{3, 0}));
    EXPECT_EQ(test::numbers(items_on(labels.copies[0].to(), world_rank{12})), (ids{1, 2}));
}

TEST(deliver, brings_sequence_offsets_to_every_member_of_every_stage) {
    small_world const world;
    auto const offsets = deliver(world.home, world.planned, world.instances, world.shape,
                                 {.to = delivery::replicate, .stages = field_stages::all});
    EXPECT_EQ(offsets.copies.size(), 8u);
    for (auto const rank : world.instances[rank_id{0}]) {
        auto const mine = exchange_of(offsets, rank, sizes(4, 10));
        EXPECT_EQ(mine.receives.bytes() + 10 * mine.kept.size(), 20u) << to_index(rank);
    }
    auto const drawer = exchange_of(offsets, world_rank{0}, sizes(4, 10));
    EXPECT_EQ(drawer.sends.size(), 15u) << "to all the others";
    EXPECT_EQ(drawer.sends.bytes(), 10u * (7 + 2 * 8));
    EXPECT_EQ(test::numbers(drawer.kept), ids{0});
}

TEST(deliver, deals_the_pieces_of_a_sharded_field_so_that_causal_attention_is_even) {
    small_world const world;
    auto const ids_of_tokens =
        deliver(world.home, world.planned, world.instances, world.shape, {.to = delivery::shard});
    ASSERT_EQ(ids_of_tokens.copies.size(), 1u);
    EXPECT_EQ(ids_of_tokens.pieces.units(), 16u);
    // Instance 0 runs samples 3 and 0: pieces 12 to 15 and 0 to 3. Part 0 is led by rank 0, part 1 by rank 2.
    EXPECT_EQ(test::numbers(items_on(ids_of_tokens.copies[0].to(), world_rank{0})), (ids{12, 15, 0, 3}));
    EXPECT_EQ(test::numbers(items_on(ids_of_tokens.copies[0].to(), world_rank{2})), (ids{13, 14, 1, 2}));
    auto const pieces = pieces_of(field{.name = "ids", .bytes = {8, 4, 0, 12}}, ids_of_tokens.pieces);
    EXPECT_EQ(pieces.bytes, (sizes{2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0, 3, 3, 3, 3}));
    EXPECT_EQ(exchange_of(ids_of_tokens, world_rank{2}, pieces.bytes).receives.bytes(), 6u + 4u);
}

TEST(deliver, cuts_nothing_where_there_is_one_part) {
    small_world world;
    world.shape = {.pipeline = 2};
    auto const whole = deliver(world.home, world.planned, world.instances, world.shape, {.to = delivery::shard});
    EXPECT_EQ(whole.pieces, one_unit_each(4));
}

TEST(deliver, sends_the_gradient_of_the_leader_back_or_those_of_all_members) {
    small_world const world;
    auto const outputs = deliver(world.home, world.planned, world.instances, world.shape, {.to = delivery::replicate});
    auto const leaders = exchange_of(invert(outputs, gradients::of_leader), world_rank{0}, sizes(4, 10));
    EXPECT_EQ(leaders.receives.bytes(), 20u) << "samples 1 and 2 from instance 1; its own stays";
    EXPECT_EQ(leaders.sends.bytes(), 10u) << "sample 3, to the rank that drew it";
    auto const all = exchange_of(invert(outputs, gradients::summed), world_rank{0}, sizes(4, 10));
    EXPECT_EQ(all.receives.bytes(), 10u * (3 + 2 * 4)) << "of 4 members each, but for what it has itself";
}

TEST(deliver, takes_groups_of_one_and_no_items) {
    auto const home = home_layout(std::vector<std::size_t>{0, 0});
    auto const nothing =
        deliver(home, layout_of(test::plan_of({{}, {}})), flat_group({2}), {}, {.to = delivery::replicate});
    EXPECT_EQ(nothing.copies.size(), 1u);
    EXPECT_EQ(exchange_of(nothing, world_rank{1}, {}),
              (exchange{.self = world_rank{1}, .sends = {}, .receives = {}, .kept = {}}));
}

TEST(deliver, refuses_what_does_not_fit) {
    small_world const world;
    EXPECT_THAT([&] { (void)deliver(world.home, world.planned, world.instances, {.pipeline = 3}, {}); },
                refuses("deliver: the members of instance 0 = 8, expected a multiple of 3 stages of 1 parts"));
    EXPECT_THAT([&] { (void)deliver(world.planned, world.home, group_of({.data = 2, .offset = 4}), {}, {}); },
                refuses("deliver: to[0].rank = 0, expected the leader of an instance"));
    group const ragged{.members = {world_rank{0}, world_rank{1}, world_rank{2}}, .offsets = {0, 2, 3}};
    auto const home = home_layout(std::vector<std::size_t>{1, 0, 1});
    EXPECT_THAT([&] { (void)deliver(home, home, ragged, {}, {.to = delivery::replicate}); },
                refuses("deliver: the members of a stage of instance 1 = 1, expected as many as of instance 0, 2, to "
                        "replicate"));
    EXPECT_EQ(deliver(home, home, ragged, {}, {}).copies.size(), 1u) << "leaders do, whatever the instances";
}

TEST(pieces_of, refuses_items_that_do_not_divide) {
    EXPECT_THAT(
        [] {
            (void)pieces_of({.name = "ids", .bytes = {8, 6}}, units_of(std::vector<std::size_t>{4, 4}));
        },
        refuses("pieces_of: whole.bytes[1] = 6, expected a multiple of its 4 pieces"));
}

/// Every delivery of a random batch over a random grid, all ranks' exchanges together.
class delivery_law : public testing::TestWithParam<unsigned> {
  protected:
    delivery_law() {
        test::seeded random{GetParam()};
        shape_grid = {.tensor = random.between(1, 2),
                      .context = random.between(1, 3),
                      .data = random.between(1, 3),
                      .pipeline = random.between(1, 2),
                      .order = random.up_to(1) == 0 ? "tp-cp-ep-dp-pp" : "dp-pp-tp-cp",
                      .offset = random.up_to(2)};
        ranks = {shape_grid.offset + ranks_of(shape_grid).value + random.up_to(1)};
        instances = group_of(shape_grid);
        std::size_t const items = random.up_to(12);
        home = home_layout(test::random_counts(random, items, ranks.value));
        planned =
            layout_of(test::random_plan(random, items, instances.ranks(), random.between(1, 2)), instances, ranks);
        how = {.to = static_cast<delivery>(random.up_to(2)), .stages = static_cast<field_stages>(random.up_to(2))};
        whole.bytes.resize(items);
        for (auto& bytes : whole.bytes) {
            bytes = 2 * shape_grid.context * random.up_to(3);
        }
    }

    grid shape_grid;
    world_size ranks;
    group instances;
    layout home;
    layout planned;
    field_delivery how;
    field whole{.name = "any", .bytes = {}};
};

TEST_P(delivery_law, every_receiver_gets_every_piece_once_and_messages_match_on_both_ends) {
    auto const shape = shape_of(shape_grid);
    auto const field = deliver(home, planned, instances, shape, how);
    auto const bytes = pieces_of(whole, field.pieces).bytes;
    for (auto const& way : {field, invert(field, gradients::of_leader), invert(field, gradients::summed)}) {
        std::vector<exchange> all;
        for (std::size_t rank = 0; rank < ranks.value; ++rank) {
            all.push_back(exchange_of(way, to_id<world_rank>(rank), bytes));
        }
        std::size_t sent = 0;
        std::size_t received = 0;
        for (auto const& mine : all) {
            for (std::size_t message = 0; message < mine.sends.size(); ++message) {
                auto const& theirs = all[to_index(mine.sends.peers[message])].receives;
                auto const at = std::ranges::find(theirs.peers, mine.self) - theirs.peers.begin();
                ASSERT_LT(static_cast<std::size_t>(at), theirs.size());
                EXPECT_TRUE(
                    std::ranges::equal(mine.sends.items_of(message), theirs.items_of(static_cast<std::size_t>(at))));
            }
            sent += mine.sends.items.size();
            received += mine.receives.items.size();
        }
        EXPECT_EQ(sent, received);
    }
    // Which members must have which bytes in the end.
    std::map<std::uint32_t, std::uint64_t> held;
    for (std::size_t rank = 0; rank < ranks.value; ++rank) {
        auto const mine = exchange_of(field, to_id<world_rank>(rank), bytes);
        std::uint64_t sum = mine.receives.bytes();
        for (item_id const piece : mine.kept) {
            sum += bytes[to_index(piece)];
        }
        held[static_cast<std::uint32_t>(rank)] = sum;
    }
    std::map<std::uint32_t, std::uint64_t> expected;
    for (std::uint32_t rank = 0; rank < ranks.value; ++rank) {
        expected[rank] = 0;
    }
    for (std::size_t item = 0; item < planned.size(); ++item) {
        std::size_t instance = 0;
        while (instances.leader(to_id<rank_id>(instance)) != planned.places[item].rank) {
            ++instance;
        }
        for (std::size_t stage = 0; stage < shape.pipeline; ++stage) {
            bool const first = stage == 0;
            bool const last = stage + 1 == shape.pipeline;
            if ((how.stages == field_stages::first && !first) || (how.stages == field_stages::last && !last)) {
                continue;
            }
            auto const members = members_of(instances, shape, to_id<rank_id>(instance), stage);
            for (std::size_t member = 0; member < members.size(); ++member) {
                bool const sibling = member % shape_grid.tensor != 0;
                std::uint64_t const share = how.to == delivery::replicate           ? whole.bytes[item]
                                            : how.to == delivery::shard && !sibling ? whole.bytes[item] / shape.context
                                            : how.to == delivery::leader && member == 0 ? whole.bytes[item]
                                                                                        : 0;
                expected[static_cast<std::uint32_t>(members[member])] += share;
            }
        }
    }
    EXPECT_EQ(held, expected);
}

INSTANTIATE_TEST_SUITE_P(seeds, delivery_law, testing::Range(0u, 300u));

}  // namespace
}  // namespace evenkeel::delivery_test
