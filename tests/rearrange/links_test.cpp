// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/rearrange/links.hpp>

#include "tests/support/batches.hpp"
#include "tests/support/traffics.hpp"

namespace evenkeel::test::links_test {
namespace {

using testing::ElementsAre;

using enum exchange_algorithm;

pair_traffic everybody(std::size_t ranks, std::uint64_t bytes) {
    return pair_traffic_of(std::vector<std::uint64_t>(ranks * ranks, bytes), world_size{ranks});
}
topology two_by_four() { return uniform_topology(world_size{8}, node_size{4}); }

TEST(predict, counts_the_bytes_and_messages_of_each_link) {
    auto const flat_way = predict(everybody(8, 10), two_by_four(), flat);
    EXPECT_EQ(flat_way.of_ranks[5], (link_load{30, 30, 40, 40, 3, 4, 0}));
    EXPECT_THAT(flat_way.sent_by_nodes, ElementsAre(160, 160));
    EXPECT_EQ(flat_way.busiest_between(), 40u);
    EXPECT_EQ(flat_way.busiest_node(), 160u);

    // As many bytes between nodes in a fourth of the messages; three quarters of them take the way inside, too.
    auto const hops = predict(everybody(8, 10), two_by_four(), two_hop);
    EXPECT_EQ(hops.of_ranks[5], (link_load{60, 60, 40, 40, 3, 1, 30}));
    EXPECT_THAT(hops.received_by_nodes, ElementsAre(160, 160));
}

TEST(predict, sees_the_busiest_rank_at_the_mean_of_its_node_when_spread) {
    std::vector<std::uint64_t> matrix(64);
    matrix[6] = 4'000;
    auto const skewed = pair_traffic_of(matrix, world_size{8});
    EXPECT_EQ(predict(skewed, two_by_four(), flat).busiest_between(), 4'000u);
    auto const level = predict(skewed, two_by_four(), spread);
    EXPECT_EQ(level.busiest_between(), 1'000u);
    EXPECT_EQ(level.busiest_node(), 4'000u);
    EXPECT_EQ(level.of_ranks[0].relayed, 0u);
    EXPECT_EQ(level.of_ranks[1].relayed, 1'000u);
}

TEST(predict, reckons_a_latency_per_message_and_the_bytes_of_the_busiest_link) {
    link_costs const costs{.inside_ns_per_message = 1,
                           .between_ns_per_message = 100,
                           .inside_ps_per_byte = 1'000,
                           .between_ps_per_byte = 10'000,
                           .between_ns_per_hop = 7};
    // A hop between nodes, messages to 3 inside and 4 between, and 40 bytes between at 10 ns.
    EXPECT_EQ(predict(everybody(8, 10), two_by_four(), flat, costs).nanoseconds, 7u + 403u + 400u);
    // 3 inside and 60 bytes at 1 ns, then 1 between and 40 bytes at 10 ns.
    EXPECT_EQ(predict(everybody(8, 10), two_by_four(), two_hop, costs).nanoseconds, 63u + 7u + 500u);
    // Nothing to level: messages to 3 inside more than flat.
    EXPECT_EQ(predict(everybody(8, 10), two_by_four(), spread, costs).nanoseconds, 7u + 403u + 400u + 3u);
    auto shared = costs;
    shared.cards_per_node = 1;
    EXPECT_EQ(predict(everybody(8, 10), two_by_four(), flat, shared).nanoseconds, 7u + 403u + 1'600u);
    // Of two_hop, each rank meets one rank of the other node.
    shared.crowding_percent = 25;
    EXPECT_EQ(predict(everybody(8, 10), two_by_four(), flat, shared).nanoseconds, 7u + 403u + 2'000u);
    EXPECT_EQ(predict(everybody(8, 10), two_by_four(), two_hop, shared).nanoseconds, 63u + 7u + 100u + 1'600u);
}

TEST(fastest_algorithm, keeps_to_rails_where_many_streams_share_a_link_badly) {
    link_costs costs{.inside_ps_per_byte = 300, .between_ps_per_byte = 7'000, .cards_per_node = 1};
    auto const large = everybody(8, 1'000'000);
    EXPECT_EQ(fastest_algorithm(large, two_by_four(), costs), flat);
    costs.crowding_percent = 15;
    EXPECT_EQ(fastest_algorithm(large, two_by_four(), costs), two_hop);
}

TEST(predict, moves_the_same_bytes_between_nodes_under_every_algorithm) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        seeded random{seed};
        auto const nodes = random_nodes(random, random.between(1, 9));
        auto const all = random_traffic(random, nodes.size());
        auto const straight = predict(all, nodes, flat);
        for (auto const algorithm : {two_hop, spread}) {
            auto const way = predict(all, nodes, algorithm);
            EXPECT_EQ(way.sent_by_nodes, straight.sent_by_nodes) << "seed " << seed;
            EXPECT_EQ(way.received_by_nodes, straight.received_by_nodes) << "seed " << seed;
            EXPECT_GE(way.busiest_between(), predict(all, nodes, spread).busiest_between()) << "seed " << seed;
        }
    }
}

TEST(predict, says_nothing_about_nothing) {
    auto const none = predict({.ranks = world_size{0}, .pairs = {}}, topology{}, two_hop);
    EXPECT_EQ(none.nanoseconds, 0u);
    EXPECT_EQ(none.busiest_between(), 0u);
    auto const alone = predict(everybody(1, 9), uniform_topology(world_size{1}, node_size{1}), spread);
    EXPECT_EQ(alone.of_ranks.front(), link_load{});
    EXPECT_EQ(alone.nanoseconds, 0u);
}

TEST(predict, refuses_times_beyond_64_bits) {
    link_costs costs;
    costs.between_ns_per_message = std::numeric_limits<std::uint64_t>::max();
    EXPECT_THROW(static_cast<void>(predict(everybody(8, 1), two_by_four(), flat, costs)), std::overflow_error);
}

TEST(predict, names_itself_in_what_it_refuses) {
    auto const refused = [](pair_traffic const& all, exchange_algorithm algorithm) {
        try {
            static_cast<void>(predict(all, two_by_four(), algorithm));
        } catch (std::invalid_argument const& caught) {
            return std::string{caught.what()};
        }
        return std::string{"nothing"};
    };
    EXPECT_EQ(refused(everybody(8, 1), automatic), "predict: algorithm = automatic, expected flat, two_hop or spread");
    EXPECT_EQ(refused(everybody(8, 1), exchange_algorithm{9}),
              "predict: algorithm = 9, expected flat, two_hop or spread");
    EXPECT_EQ(refused(everybody(4, 1), flat), "predict: topology.size() = 8, expected the 4 ranks of the traffic");
}

TEST(fastest_algorithm, is_two_hop_for_small_messages_flat_for_large_ones_and_spread_for_skewed_ones) {
    auto const nodes = uniform_topology(world_size{64}, node_size{8});
    EXPECT_EQ(fastest_algorithm(everybody(64, 64), nodes), two_hop);
    EXPECT_EQ(fastest_algorithm(everybody(64, 8'000'000), nodes), flat);
    std::vector<std::uint64_t> matrix(64 * 64, 1'000);
    // All to one rail, so that relays along rails level nothing.
    for (std::size_t node = 1; node < 8; ++node) {
        matrix[8 * node] = 64'000'000;
    }
    EXPECT_EQ(fastest_algorithm(pair_traffic_of(matrix, world_size{64}), nodes), spread);
    EXPECT_EQ(fastest_algorithm(everybody(8, 100), uniform_topology(world_size{8}, node_size{8})), flat);
}

TEST(name_of, calls_each_algorithm_as_it_is_written) {
    std::vector<std::string> names;
    for (auto const algorithm : {flat, two_hop, spread, automatic}) {
        names.emplace_back(name_of(algorithm));
    }
    EXPECT_THAT(names, ElementsAre("flat", "two_hop", "spread", "automatic"));
}

}  // namespace
}  // namespace evenkeel::test::links_test
