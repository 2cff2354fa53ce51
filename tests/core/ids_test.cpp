// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <gtest/gtest.h>

#include <evenkeel/core/ids.hpp>

namespace evenkeel::ids_test {
namespace {

static_assert(evenkeel::to_index(evenkeel::rank_id{3}) == std::size_t{3});
static_assert(evenkeel::to_id<evenkeel::rank_id>(std::size_t{3}) == rank_id{3});

static_assert(identifier<item_id> && identifier<rank_id> && identifier<world_rank> && identifier<node_id> &&
              identifier<micro_batch_id>);
static_assert(!identifier<std::uint32_t> && !identifier<rank_count>);

static_assert(!std::is_convertible_v<std::uint32_t, item_id>, "a number is no id by accident");
static_assert(!std::is_constructible_v<rank_id, world_rank> && !std::is_convertible_v<world_rank, rank_id>,
              "a rank of a group and one of the world are never taken for each other");
static_assert(!std::is_constructible_v<rank_count, world_size> && !std::is_constructible_v<world_size, node_size>);
static_assert(!std::is_convertible_v<std::size_t, rank_count>, "a bare number says not what it counts");

TEST(ids, reach_to_the_last_item_of_the_largest_batch) {
    std::size_t const last = max_items - 1;
    EXPECT_EQ(to_index(to_id<item_id>(last)), last);
    EXPECT_EQ(max_items, 4294967295u);
}

TEST(ids, compare_by_position) {
    EXPECT_LT(item_id{1}, item_id{2});
    EXPECT_EQ(rank_count{2}, rank_count{2});
    EXPECT_NE(world_size{2}, world_size{3});
    EXPECT_NE(node_size{2}, node_size{3});
}

}  // namespace
}  // namespace evenkeel::ids_test
