// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/core/members.hpp>

#include "tests/support/layouts.hpp"

namespace evenkeel::members_test {
namespace {

using ids = std::vector<std::uint32_t>;

auto refuses(std::string const& message) { return testing::ThrowsMessage<std::invalid_argument>(message); }

TEST(group_of, makes_tensor_parallel_siblings_one_instance) {
    auto const instances = evenkeel::group_of({.tensor = 2, .data = 4});
    EXPECT_EQ(instances.ranks(), rank_count{4}) << "8 world ranks, and plans over 4";
    EXPECT_EQ(test::numbers(instances[evenkeel::rank_id{1}]), (ids{2, 3}));
    EXPECT_EQ(instances.leader(rank_id{3}), world_rank{6});
}

TEST(group_of, is_the_flat_group_where_only_data_is_parallel) { EXPECT_EQ(group_of({.data = 5}), flat_group({5})); }

TEST(group_of, lists_members_stage_by_stage_and_part_by_part) {
    //              part 0   part 1
    // stage 0      0 1      2 3         instance 1: 4 5 6 7 and 12 13 14 15
    // stage 1      8 9      10 11
    grid const llm{.tensor = 2, .context = 2, .data = 2, .pipeline = 2};
    auto const instances = group_of(llm);
    auto const shape = shape_of(llm);
    EXPECT_EQ(test::numbers(instances[rank_id{0}]), (ids{0, 1, 2, 3, 8, 9, 10, 11}));
    EXPECT_EQ(test::numbers(members_of(instances, shape, rank_id{0}, 0)), (ids{0, 1, 2, 3}));
    EXPECT_EQ(test::numbers(members_of(instances, shape, rank_id{1}, 1)), (ids{12, 13, 14, 15}));
    require_group("test", instances, {16});
    require_shape("test", shape, instances);
}

TEST(group_of, lists_members_alike_whatever_the_order_of_the_grid) {
    // Pipeline stages are fastest: world rank = stage + 2 * (part + 2 * instance).
    grid const llm{.context = 2, .data = 3, .pipeline = 2, .order = "pp-cp-dp"};
    EXPECT_EQ(test::numbers(group_of(llm)[rank_id{2}]), (ids{8, 10, 9, 11}));
    EXPECT_EQ(test::numbers(members_of(group_of(llm), shape_of(llm), rank_id{2}, 1)), (ids{9, 11}));
}

TEST(group_of, takes_expert_parallel_ranks_as_instances_in_order_of_their_leader) {
    // As the dense grid of the same ranks: experts are over ranks that draw different samples.
    EXPECT_EQ(group_of({.tensor = 2, .expert = 2, .data = 3}), group_of({.tensor = 2, .data = 6}));
    EXPECT_EQ(group_of({.expert = 2, .data = 3, .order = "dp-ep"}), flat_group({6}));
}

TEST(group_of, makes_disjoint_and_overlapping_groups_in_one_world) {
    auto const encoder = group_of({.data = 2});
    auto const llm = group_of({.tensor = 2, .data = 3, .offset = 2});
    EXPECT_EQ(test::numbers(encoder.members), (ids{0, 1}));
    EXPECT_EQ(test::numbers(llm.members), (ids{2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(group_of({.tensor = 4, .data = 2}).ranks(), rank_count{2}) << "the same 8 ranks once more";
}

TEST(group_of, refuses_what_ranks_of_refuses) {
    EXPECT_THAT([] { (void)group_of({.data = 0}); }, refuses("group_of: grid.data = 0, expected at least 1"));
}

TEST(require_shape, names_the_first_instance_that_does_not_fit) {
    group const ragged{.members = {world_rank{0}, world_rank{1}, world_rank{2}}, .offsets = {0, 2, 3}};
    require_shape("test", {}, ragged);
    EXPECT_THAT([&] { require_shape("deliver", {.pipeline = 2}, ragged); },
                refuses("deliver: the members of instance 1 = 1, expected a multiple of 2 stages of 1 parts"));
    EXPECT_THAT([&] { require_shape("deliver", {.context = 0}, ragged); },
                refuses("deliver: members.context = 0, expected at least 1"));
    EXPECT_THAT([&] { require_shape("deliver", {.pipeline = 0}, ragged); },
                refuses("deliver: members.pipeline = 0, expected at least 1"));
}

}  // namespace
}  // namespace evenkeel::members_test
