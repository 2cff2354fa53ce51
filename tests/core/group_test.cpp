// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/core/group.hpp>

#include "tests/support/layouts.hpp"

namespace evenkeel::group_test {
namespace {

using ranks_of = std::vector<std::uint32_t>;

/// World ranks 0 .. 7 as tensor-parallel 2 x data-parallel 4.
///
///     rank 0: 0 1    rank 1: 2 3    rank 2: 4 5    rank 3: 6 7
group tensor_parallel_pairs() {
    auto result = flat_group({8});
    result.offsets = {0, 2, 4, 6, 8};
    return result;
}

auto requiring(group group, std::size_t ranks) {
    return [=] { require_group("layout_of", group, {ranks}); };
}

auto refuses(std::string const& found) { return testing::ThrowsMessage<std::invalid_argument>("layout_of: " + found); }

TEST(group, lists_the_members_of_each_instance_the_leader_first) {
    evenkeel::group pairs{.members = {world_rank{0}, world_rank{1}, world_rank{2}, world_rank{3}},
                          .offsets = {0, 2, 4}};
    EXPECT_EQ(pairs.leader(evenkeel::rank_id{1}), world_rank{2});
    EXPECT_EQ(pairs.ranks(), rank_count{2});
    EXPECT_EQ(test::numbers(pairs[rank_id{0}]), (ranks_of{0, 1}));
    EXPECT_EQ(test::numbers(pairs[rank_id{1}]), (ranks_of{2, 3}));
}

TEST(group, has_as_many_ranks_as_data_parallel_instances) {
    EXPECT_EQ(tensor_parallel_pairs().ranks(), rank_count{4});
    EXPECT_EQ(tensor_parallel_pairs().leader(rank_id{3}), world_rank{6});
    EXPECT_EQ(group{}.ranks(), rank_count{0});
}

TEST(instance_of, finds_the_instance_of_every_member_and_none_for_others) {
    group const some{.members = {world_rank{5}, world_rank{2}, world_rank{7}, world_rank{0}}, .offsets = {0, 1, 3, 4}};
    EXPECT_EQ(instance_of(some, world_rank{5}), rank_id{0});
    EXPECT_EQ(instance_of(some, world_rank{2}), rank_id{1});
    EXPECT_EQ(instance_of(some, world_rank{7}), rank_id{1});
    EXPECT_EQ(instance_of(some, world_rank{0}), rank_id{2});
    EXPECT_EQ(instance_of(some, world_rank{1}), std::nullopt);
    EXPECT_EQ(instance_of({}, world_rank{0}), std::nullopt);
}

TEST(flat_group, makes_every_world_rank_an_instance) {
    auto const flat = flat_group({3});
    EXPECT_EQ(flat.ranks(), rank_count{3});
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
        EXPECT_EQ(flat.leader(rank_id{rank}), world_rank{rank});
        EXPECT_EQ(test::numbers(flat[rank_id{rank}]), ranks_of{rank});
    }
    EXPECT_EQ(flat_group({0}), group{});
}

TEST(require_group, accepts_instances_of_any_size_in_any_order) {
    EXPECT_NO_THROW(require_group("layout_of", tensor_parallel_pairs(), {8}));
    EXPECT_NO_THROW(require_group("layout_of", {.members = {world_rank{5}, world_rank{0}}, .offsets = {0, 2}}, {8}));
    EXPECT_NO_THROW(require_group("layout_of", group{}, {8}));
    EXPECT_NO_THROW(require_group("layout_of", group{}, {0}));
}

TEST(require_group, refuses_a_member_outside_the_world) {
    EXPECT_THAT(requiring(tensor_parallel_pairs(), 7), refuses("group.members[7] = 7, expected a world rank below 7"));
    EXPECT_THAT(requiring({.members = {world_rank{4294967295}}, .offsets = {0, 1}}, 7),
                refuses("group.members[0] = 4294967295, expected a world rank below 7"));
}

TEST(require_group, refuses_a_world_rank_with_two_parts) {
    EXPECT_THAT(requiring({.members = {world_rank{1}, world_rank{0}, world_rank{1}}, .offsets = {0, 2, 3}}, 2),
                refuses("group.members[2] = 1, expected every world rank at most once"));
}

TEST(require_group, refuses_an_instance_without_members) {
    EXPECT_THAT(requiring({.members = {world_rank{0}, world_rank{1}}, .offsets = {0, 2, 2}}, 2),
                refuses("group.offsets[2] = 2, expected offsets that rise, for an instance has at least its leader"));
    EXPECT_THAT(requiring({.members = {world_rank{0}, world_rank{1}}, .offsets = {0, 7, 2}}, 2),
                refuses("group.offsets[2] = 2, expected offsets that rise, for an instance has at least its leader"));
}

TEST(require_group, refuses_offsets_that_do_not_cover_the_members) {
    EXPECT_THAT(requiring({.members = {world_rank{0}, world_rank{1}}, .offsets = {0, 1}}, 2),
                refuses("group.offsets = [0 .. 1], expected offsets from 0 to group.members.size() = 2"));
    EXPECT_THAT(requiring({.members = {world_rank{0}}, .offsets = {1}}, 2),
                refuses("group.offsets = [1 .. 1], expected offsets from 0 to group.members.size() = 1"));
    EXPECT_THAT(requiring({.members = {}, .offsets = {}}, 2),
                refuses("group.offsets.size() = 0, expected 1 + instances"));
}

TEST(require_group, accepts_the_random_groups_of_these_tests) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        test::seeded random{seed};
        world_size const ranks{random.between(1, 12)};
        auto const group = test::random_group(random, ranks);
        EXPECT_NO_THROW(require_group("layout_of", group, ranks)) << "seed " << seed;
        EXPECT_GE(group.ranks().value, 1u) << "seed " << seed;
    }
}

}  // namespace
}  // namespace evenkeel::group_test
