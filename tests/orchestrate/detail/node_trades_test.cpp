// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/orchestrate/detail/node_trades.hpp>
#include <evenkeel/orchestrate/detail/parcels.hpp>
#include <evenkeel/orchestrate/detail/phase_task.hpp>

namespace evenkeel::detail::node_trades_test {
namespace {

/// Three nodes whose items are parcels of their own; the weight of each is also its bytes.
class three_nodes : public testing::Test {
  protected:
    three_nodes() : nodes_(3) {
        nodes_[1].is_even = true;
        nodes_[2].is_even = true;
    }

    void add(std::uint64_t weight, std::uint32_t node, std::uint32_t home) {
        nodes_[node].parcels.push_back(static_cast<std::uint32_t>(weights_.size()));
        nodes_[node].load += weight;
        weights_.push_back(weight);
        homes_.push_back(home);
    }
    void add(std::uint64_t weight, std::uint32_t node) { add(weight, node, node); }

    /// Of node 0: given, node, taken or `nothing`, and cost.
    [[nodiscard]] std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t>> trades(
        std::uint64_t most) {
        phase_task task;
        task.weights = weights_;
        task.bytes = weights_;
        parcels_.assign(task, homes_, parcel_of::item);
        std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t>> result;
        for (auto const& one : list_(parcels_, nodes_, 0, most)) {
            result.emplace_back(one.given, one.node, one.takes ? one.taken : nothing, one.cost);
        }
        return result;
    }

    static constexpr std::uint32_t nothing = 99;
    using list = std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t>>;

    std::vector<parcel_node> nodes_;
    std::vector<std::uint64_t> weights_;
    std::vector<std::uint32_t> homes_;
    parcels parcels_;
    node_trades list_;
};

TEST_F(three_nodes, offer_the_cheapest_first_and_no_more_than_another_may_have) {
    add(6, 0);
    add(4, 0);
    add(5, 1);
    add(9, 2);
    EXPECT_EQ(trades(11), (list{{1, 1, nothing, 4}, {0, 1, nothing, 6}, {1, 1, 2, 9}, {0, 1, 2, 11}}))
        << "node 2 has room for neither, and may not take a 6 for its 9: node 0 would have 13";
}

TEST_F(three_nodes, take_nothing_from_a_node_that_is_not_even_itself) {
    add(6, 0);
    add(1, 1);
    add(1, 2);
    nodes_[1].is_even = false;
    EXPECT_EQ(trades(10), (list{{0, 2, nothing, 6}, {0, 2, 2, 7}}));
}

TEST_F(three_nodes, count_what_comes_home_as_free_and_no_more) {
    add(6, 0, 1);
    add(4, 1);
    nodes_[2].is_even = false;
    EXPECT_EQ(trades(10), (list{{0, 1, nothing, 0}, {0, 1, 1, 0}}));
}

TEST_F(three_nodes, neither_give_nor_take_what_weighs_nothing) {
    add(6, 0);
    add(0, 0);
    add(0, 1);
    add(5, 1);
    nodes_[2].is_even = false;
    EXPECT_EQ(trades(11), (list{{0, 1, nothing, 6}, {0, 1, 3, 11}}));
}

}  // namespace
}  // namespace evenkeel::detail::node_trades_test
