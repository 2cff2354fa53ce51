// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/parallel/cluster.hpp>

#include "builders.hpp"

namespace evenkeel::cluster_test {
namespace {

std::string refusal(cluster const& bad) {
    try {
        require_cluster("plan_cluster", bad);
    } catch (std::invalid_argument const& error) {
        return error.what();
    }
    return "";
}

TEST(cluster, numbers_gpus_node_by_node) {
    cluster const two{.nodes = 2, .gpus_per_node = 4};
    EXPECT_EQ(two.gpus(), gpu_count{8});
    EXPECT_EQ(two.node_of(world_rank{3}), node_id{0});
    EXPECT_EQ(two.node_of(world_rank{4}), node_id{1});
}

TEST(cluster, keeps_a_reserve_of_memory) {
    EXPECT_EQ((cluster{.memory_bytes = 16, .memory_reserve = 0.25}.usable_bytes()), 12);
}

TEST(cluster, is_accepted_as_described) { EXPECT_EQ(refusal(test::v100s()), ""); }

TEST(cluster, is_refused_where_nothing_could_run) {
    double const nan = std::numeric_limits<double>::quiet_NaN();
    double const infinity = std::numeric_limits<double>::infinity();
    auto const with = [](auto member, auto value) {
        auto bad = test::v100s();
        bad.*member = value;
        return refusal(bad);
    };
    using testing::HasSubstr;
    EXPECT_THAT(with(&cluster::nodes, std::size_t{0}), HasSubstr("cluster.nodes = 0"));
    EXPECT_THAT(with(&cluster::nodes, std::size_t{1} << 17U), HasSubstr("cluster.nodes = 131072"));
    EXPECT_THAT(with(&cluster::nodes, std::size_t{1} << 16U), HasSubstr("cluster.nodes * gpus_per_node = 524288"));
    EXPECT_THAT(with(&cluster::gpus_per_node, std::size_t{0}), HasSubstr("cluster.gpus_per_node = 0"));
    for (double const bad : {0.0, -1.0, nan, infinity, 1e30, 1e-30}) {
        EXPECT_THAT(with(&cluster::memory_bytes, bad), HasSubstr("cluster.memory_bytes"));
        EXPECT_THAT(with(&cluster::intra_bandwidth, bad), HasSubstr("cluster.intra_bandwidth"));
        EXPECT_THAT(with(&cluster::inter_bandwidth, bad), HasSubstr("cluster.inter_bandwidth"));
    }
    for (double const bad : {-1.0, nan, infinity}) {
        EXPECT_THAT(with(&cluster::intra_latency, bad), HasSubstr("cluster.intra_latency"));
        EXPECT_THAT(with(&cluster::inter_latency, bad), HasSubstr("cluster.inter_latency"));
    }
    for (double const bad : {-0.1, 1.0, nan}) {
        EXPECT_THAT(with(&cluster::memory_reserve, bad), HasSubstr("cluster.memory_reserve"));
    }
}

}  // namespace
}  // namespace evenkeel::cluster_test
