// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/rearrange/links.hpp>
#include <evenkeel/rearrange/passages.hpp>

#include "tests/support/batches.hpp"
#include "tests/support/traffics.hpp"

namespace evenkeel::test::passages_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using enum exchange_algorithm;
using cells = std::vector<std::uint64_t>;

passage way(std::uint32_t from, std::uint32_t relay, std::uint32_t landing, std::uint32_t to, std::uint64_t offset,
            std::uint64_t bytes) {
    return {world_rank{from}, world_rank{relay}, world_rank{landing}, world_rank{to}, offset, bytes};
}

/// Only rank 0 sends, 8 bytes to rank 2 of the other node and 3 to its neighbour.
pair_traffic one_sender() {
    return pair_traffic_of(cells{0, 3, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, world_size{4});
}
topology two_by_two() { return uniform_topology(world_size{4}, node_size{2}); }

TEST(passages_of, goes_straight_when_flat) {
    EXPECT_THAT(passages_of(one_sender(), two_by_two(), flat),
                ElementsAre(way(0, 0, 1, 1, 0, 3), way(0, 0, 2, 2, 0, 8)));
}

TEST(passages_of, goes_over_the_receivers_rail_in_two_hops) {
    auto const all = pair_traffic_of(cells{0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, world_size{4});
    EXPECT_THAT(passages_of(all, two_by_two(), two_hop),
                ElementsAre(way(0, 1, 1, 1, 0, 1), way(0, 0, 2, 2, 0, 2), way(0, 1, 3, 3, 0, 3)));
}

TEST(passages_of, shares_a_message_with_the_neighbours_at_both_ends_when_spread) {
    // The mean of both nodes is 4: half of the 8 bytes leaves over rank 1, half arrives over rank 3.
    EXPECT_THAT(passages_of(one_sender(), two_by_two(), spread),
                ElementsAre(way(0, 0, 1, 1, 0, 3), way(0, 0, 2, 2, 0, 4), way(0, 1, 3, 2, 4, 4)));
}

TEST(passages_of, moves_nothing_inside_a_node_that_no_levelling_makes_faster) {
    // Node 0 sends 8 from each rank; node 1 sends 4 from its first rank alone, which is less.
    auto const all = pair_traffic_of(cells{0, 0, 8, 0, 0, 0, 0, 8, 4, 0, 0, 0, 0, 0, 0, 0}, world_size{4});
    for (auto const& one : passages_of(all, two_by_two(), spread)) {
        EXPECT_EQ(one.from, one.relay);
        EXPECT_EQ(one.to, one.landing);
    }
}

TEST(passages_of, is_empty_without_messages) {
    EXPECT_THAT(passages_of({.ranks = world_size{0}, .pairs = {}}, topology{}, spread), IsEmpty());
    EXPECT_THAT(passages_of({.ranks = world_size{4}, .pairs = {}}, two_by_two(), two_hop), IsEmpty());
}

/// What must hold under any algorithm. @return the most bytes that a rank sends to or receives from other nodes
std::uint64_t check_passages(pair_traffic const& all, topology const& nodes, exchange_algorithm algorithm) {
    auto const passages = passages_of(all, nodes, algorithm);
    std::map<std::size_t, std::uint64_t> sent;
    std::map<std::size_t, std::uint64_t> received;
    std::size_t next = 0;
    for (auto const& pair : all.pairs) {
        // The passages of a message follow each other and cover it.
        std::uint64_t covered = 0;
        while (next < passages.size() && passages[next].from == pair.from && passages[next].to == pair.to) {
            auto const& one = passages[next++];
            EXPECT_EQ(one.offset, covered);
            EXPECT_GT(one.bytes, 0u);
            covered += one.bytes;
            EXPECT_TRUE(nodes.node_of(one.relay) == nodes.node_of(pair.from));
            EXPECT_EQ(nodes.node_of(one.landing), nodes.node_of(pair.to));
            if (nodes.node_of(one.relay) != nodes.node_of(one.landing)) {
                sent[to_index(one.relay)] += one.bytes;
                received[to_index(one.landing)] += one.bytes;
            }
        }
        EXPECT_EQ(covered, pair.bytes);
    }
    EXPECT_EQ(next, passages.size());
    std::uint64_t most = 0;
    for (auto const& loads : {sent, received}) {
        for (auto const& [rank, bytes] : loads) {
            most = std::max(most, bytes);
        }
    }
    return most;
}

TEST(passages_of, carries_every_byte_once_and_levels_to_the_largest_mean) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        seeded random{seed};
        auto const nodes = random_nodes(random, random.between(1, 9));
        auto const all = random_traffic(random, nodes.size());
        check_passages(all, nodes, flat);
        check_passages(all, nodes, two_hop);

        // Not even with all freedom could the ranks of the busiest node send or receive less than their mean.
        std::vector<std::uint64_t> out(nodes.nodes());
        std::vector<std::uint64_t> in(nodes.nodes());
        std::vector<std::uint64_t> ranks(nodes.nodes());
        for (auto const node : nodes.nodes_of_ranks) {
            ++ranks[to_index(node)];
        }
        for (auto const& pair : all.pairs) {
            if (nodes.node_of(pair.from) != nodes.node_of(pair.to)) {
                out[to_index(nodes.node_of(pair.from))] += pair.bytes;
                in[to_index(nodes.node_of(pair.to))] += pair.bytes;
            }
        }
        std::uint64_t least = 0;
        for (std::size_t node = 0; node < out.size(); ++node) {
            if (ranks[node] > 0) {
                least = std::max(least, (std::max(out[node], in[node]) + ranks[node] - 1) / ranks[node]);
            }
        }
        auto const straight = check_passages(all, nodes, flat);
        EXPECT_EQ(check_passages(all, nodes, spread), std::min(straight, least));
    }
}

TEST(passages_of, keeps_two_hops_on_rails_where_nodes_differ_in_size) {
    // Node 0 has ranks 0 and 1, node 1 ranks 2, 3 and 4: two rails, rank 4 on that of ranks 0 and 2.
    topology const nodes{{node_id{0}, node_id{0}, node_id{1}, node_id{1}, node_id{1}}};
    std::vector<std::uint64_t> matrix(25, 1);
    for (auto const& one : passages_of(pair_traffic_of(matrix, world_size{5}), nodes, two_hop)) {
        if (nodes.node_of(one.from) != nodes.node_of(one.to)) {
            auto const rail = [](world_rank rank) { return rank == world_rank{1} || rank == world_rank{3} ? 1 : 0; };
            EXPECT_EQ(rail(one.relay), rail(one.to));
            EXPECT_EQ(nodes.node_of(one.relay), nodes.node_of(one.from));
        }
    }
}

TEST(passages_of, refuses_automatic_another_world_and_traffic_that_breaks_its_rules) {
    auto const refused = [](pair_traffic const& all, exchange_algorithm algorithm = flat) {
        try {
            static_cast<void>(passages_of(all, two_by_two(), algorithm));
        } catch (std::invalid_argument const& caught) {
            return std::string{caught.what()};
        }
        return std::string{"nothing"};
    };
    auto const pair = [](std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
        return pair_bytes{world_rank{from}, world_rank{to}, bytes};
    };
    EXPECT_EQ(refused(one_sender(), automatic), "passages_of: algorithm = automatic, expected flat, two_hop or spread");
    EXPECT_EQ(refused(one_sender(), exchange_algorithm{9}),
              "passages_of: algorithm = 9, expected flat, two_hop or spread");
    EXPECT_EQ(refused({world_size{3}, {}}), "passages_of: topology.size() = 4, expected the 3 ranks of the traffic");
    EXPECT_EQ(refused({world_size{4}, {pair(4, 0, 1)}}),
              "passages_of: traffic.pairs[0].from = 4, expected a rank below 4");
    EXPECT_EQ(refused({world_size{4}, {pair(0, 9, 1)}}),
              "passages_of: traffic.pairs[0].to = 9, expected a rank below 4");
    EXPECT_EQ(refused({world_size{4}, {pair(2, 2, 1)}}),
              "passages_of: traffic.pairs[0].to = 2, expected another rank than the sender");
    EXPECT_EQ(refused({world_size{4}, {pair(2, 1, 0)}}),
              "passages_of: traffic.pairs[0].bytes = 0, expected at least 1");
    EXPECT_EQ(refused({world_size{4}, {pair(2, 1, 1), pair(2, 1, 1)}}),
              "passages_of: traffic.pairs[1] = 1, expected pairs that ascend in sender, then receiver");
}

}  // namespace
}  // namespace evenkeel::test::passages_test
