// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <evenkeel/parallel/collectives.hpp>

namespace evenkeel::collectives_test {
namespace {

constexpr cluster slow{.nodes = 4,
                       .gpus_per_node = 8,
                       .memory_bytes = 1,
                       .intra_bandwidth = 100,
                       .inter_bandwidth = 10,
                       .intra_latency = 0.5,
                       .inter_latency = 3};

TEST(all_reduce, within_a_node_is_a_ring) {
    EXPECT_DOUBLE_EQ(all_reduce_seconds(slow, 800, {.nodes = 1, .on_one_node = 8}), 2 * 7.0 / 8 * 800 / 100 + 14 * 0.5);
}

TEST(all_reduce, between_nodes_sends_the_whole_once_per_node) {
    EXPECT_DOUBLE_EQ(all_reduce_seconds(slow, 800, {.nodes = 4, .on_one_node = 1}), 2 * 3.0 / 4 * 800 / 10 + 6 * 3);
    EXPECT_DOUBLE_EQ(all_reduce_seconds(slow, 800, {.nodes = 4, .on_one_node = 8}),
                     2 * 7.0 / 8 * 800 / 100 + 14 * 0.5 + 2 * 3.0 / 4 * 800 / 10 + 6 * 3);
}

TEST(all_reduce, waits_for_what_else_its_node_sends) {
    EXPECT_DOUBLE_EQ(all_reduce_seconds(slow, 800, {.nodes = 2, .on_one_node = 1}, 4000), 4000 / 10.0 + 2 * 3);
}

TEST(all_reduce, of_one_or_of_nothing_takes_no_time) {
    EXPECT_EQ(all_reduce_seconds(slow, 800, {}), 0);
    EXPECT_EQ(all_reduce_seconds(slow, 0, {.nodes = 4, .on_one_node = 8}), 0);
    EXPECT_EQ(all_reduce_volume(800, 1), 0);
}

TEST(packed, fills_nodes) {
    EXPECT_EQ(packed(16, 8), (spread{.nodes = 2, .on_one_node = 8}));
    EXPECT_EQ(packed(9, 8), (spread{.nodes = 2, .on_one_node = 8}));
    EXPECT_EQ(packed(3, 8), (spread{.nodes = 1, .on_one_node = 3}));
    EXPECT_EQ(packed(3, 1), (spread{.nodes = 3, .on_one_node = 1}));
}

}  // namespace
}  // namespace evenkeel::collectives_test
