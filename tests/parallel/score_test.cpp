// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/parallel/colocate.hpp>
#include <evenkeel/parallel/score.hpp>

#include "builders.hpp"
#include "naive_score.hpp"
#include "random_deployments.hpp"

namespace evenkeel::score_test {
namespace {

std::vector<world_rank> gpus(std::vector<std::uint32_t> const& numbers) {
    std::vector<world_rank> result;
    for (auto const number : numbers) {
        result.push_back(world_rank{number});
    }
    return result;
}

/// One modality without a word to say.
deployment quiet(parallelism cut, std::size_t replicas, double seconds) {
    deployment one{.cut = cut, .replicas = replicas, .seconds = seconds};
    one.communication.tensor_reduces.resize(cut.pp);
    one.communication.gradient_bytes.resize(cut.pp);
    return one;
}

constexpr cluster two_nodes{.nodes = 2,
                            .gpus_per_node = 4,
                            .memory_bytes = 1,
                            .intra_bandwidth = 100,
                            .inter_bandwidth = 10,
                            .intra_latency = 0.5,
                            .inter_latency = 3};

TEST(score, is_the_slowest_modality_where_nothing_is_said) {
    std::vector const modalities{quiet({}, 1, 4), quiet({}, 3, 3.5)};
    auto const of = score({{gpus({0}), gpus({1, 2, 3})}}, modalities, {.levels = {0, 0}}, two_nodes);
    EXPECT_EQ(of.seconds, 4);
    EXPECT_EQ(of.lower_bound, 4);
    EXPECT_EQ(of.gap(), 0);
    EXPECT_EQ(of.modalities[1], (gpu_seconds{.computing = 3.5}));
}

TEST(score, counts_gradients_once_per_node) {
    auto one = quiet({}, 4, 1);
    one.communication.gradient_bytes = {80};
    std::vector const modalities{one};
    meeting const alone{.levels = {0}};
    auto const within = score({{gpus({0, 1, 2, 3})}}, modalities, alone, two_nodes);
    EXPECT_DOUBLE_EQ(within.modalities[0].gradients, 2 * 3.0 / 4 * 80 / 100 + 6 * 0.5);
    auto const across = score({{gpus({0, 1, 4, 5})}}, modalities, alone, two_nodes);
    EXPECT_DOUBLE_EQ(across.modalities[0].gradients, 80.0 / 100 + 2 * 0.5 + 80.0 / 10 + 2 * 3);
    EXPECT_EQ(within.gap(), 0);
}

TEST(score, shares_a_network_between_all_that_cross_it) {
    auto one = quiet({}, 2, 1);
    one.communication.gradient_bytes = {80};
    std::vector const modalities{one, one};
    auto const both = score({{gpus({0, 4}), gpus({1, 5})}}, modalities, {.levels = {0, 0}}, two_nodes);
    EXPECT_DOUBLE_EQ(both.modalities[0].gradients, 2 * 80.0 / 10 + 2 * 3);
}

TEST(score, finds_no_gradients_to_add_up_in_one_replica) {
    // Fig. 5: the modality with one replica has no all-reduce any more.
    submodule const of{.name = "red", .parameters = 100, .time = seconds_per_sample{1}};
    auto const stages = split_stages(of, 1);
    EXPECT_EQ(communication_of(of, {}, stages, {.replicas = 1}).gradient_bytes.front(), 0);
    EXPECT_EQ(communication_of(of, {}, stages, {.replicas = 3}).gradient_bytes.front(), 200);
}

TEST(score, hands_on_activations_side_by_side_within_a_node) {
    auto one = quiet({.tp = 2, .pp = 2}, 1, 1);
    one.communication.boundary_bytes = 60;
    one.communication.boundary_messages = 4;
    std::vector const modalities{one};
    meeting const alone{.levels = {0}};
    EXPECT_DOUBLE_EQ(score({{gpus({0, 1, 2, 3})}}, modalities, alone, two_nodes).modalities[0].pipeline,
                     30.0 / 100 + 4 * 0.5);
    EXPECT_DOUBLE_EQ(score({{gpus({0, 1, 4, 5})}}, modalities, alone, two_nodes).modalities[0].pipeline,
                     60.0 / 10 + 4 * 3);
}

TEST(score, charges_a_torn_tensor_parallel_group) {
    auto one = quiet({.tp = 4}, 1, 10);
    one.communication.tensor_bytes = 8;
    one.communication.tensor_reduces = {5};
    std::vector modalities{one};
    meeting const alone{.levels = {0}};
    double const within = 5 * (2 * 3.0 / 4 * 8 / 100 + 6 * 0.5);
    double const torn = 5 * (8.0 / 100 + 2 * 0.5 + 8.0 / 10 + 2 * 3);
    auto const kept = score({{gpus({0, 1, 2, 3})}}, modalities, alone, two_nodes);
    EXPECT_DOUBLE_EQ(kept.modalities[0].tensor, within);
    EXPECT_DOUBLE_EQ(kept.seconds, 10);
    EXPECT_NEAR(score({{gpus({0, 1, 4, 5})}}, modalities, alone, two_nodes).seconds, 10 - within + torn, 1e-9);
    // A measured time has the all-reduces in it.
    modalities[0].communication.tensor_is_measured = true;
    auto const measured = score({{gpus({0, 1, 4, 5})}}, modalities, alone, two_nodes);
    EXPECT_EQ(measured.modalities[0].computing, 10);
    EXPECT_NEAR(measured.seconds, 10 - within + torn, 1e-9);
}

TEST(score, gathers_only_the_other_modality) {
    // Two towers, a node each: every node takes in the other's 12 samples, forwards and back, in each of two syncs.
    std::vector const modalities{quiet({}, 4, 1), quiet({}, 3, 1)};
    meeting const contrast{.flows = {{1, 0, flow_kind::gathered}, {0, 1, flow_kind::gathered}},
                           .feature_bytes = 5,
                           .per_sync = 12,
                           .syncs = 2,
                           .levels = {0, 0}};
    auto const apart = score({{gpus({0, 1, 2, 3}), gpus({4, 5, 6})}}, modalities, contrast, two_nodes);
    double const volume = 2 * 2 * 12 * 5;
    EXPECT_DOUBLE_EQ(apart.modalities[0].interaction, volume / 100 + 4 * 0.5 + volume / 10 + 4 * 3);
}

TEST(score, halves_what_a_colocated_contrast_gathers) {
    // Colocated, every node needs both modalities' features from the others.
    multimodal_model towers = test::figure_2();
    towers.interaction = {.features = 5, .value_bytes = 1};
    auto const with = [&](double inter_bandwidth) {
        auto cluster = two_nodes;
        cluster.inter_bandwidth = inter_bandwidth;
        return detail::colocated_communication(towers, cluster, 1, {.replicas = 8, .per_sync = 12, .syncs = 2})
            .interaction;
    };
    double const received = (with(10) - with(1e20)) * 10;
    // A modality's own half is there already; so is half of the other's.
    EXPECT_NEAR(received, 2 * (2 * 2 * 12 * 5) / 2.0, 1e-6);
}

TEST(score, hands_an_encoders_features_to_the_samples_of_the_llm) {
    // Encoder replicas have samples 0-5 and 6-11, LLM replicas 0-3, 4-7, 8-11.
    std::vector const modalities{quiet({}, 2, 1), quiet({}, 3, 1)};
    meeting const join{.flows = {{0, 1, flow_kind::input}}, .feature_bytes = 5, .per_sync = 12, .levels = {0, 1}};
    // The second node's LLM replica needs 2 + 2 samples of encoders on the first node.
    auto const of = score({{gpus({0, 1}), gpus({2, 4, 3})}}, modalities, join, two_nodes);
    EXPECT_DOUBLE_EQ(of.modalities[1].interaction, 2 * 4 * 5 / 100.0 + 2 * 0.5 + 2 * 4 * 5 / 10.0 + 2 * 3);
    EXPECT_EQ(of.modalities[0].interaction, 0);
    EXPECT_NEAR(of.seconds, 2 + of.modalities[1].interaction, 1e-9);
}

TEST(score, refuses_a_placement_that_is_none) {
    std::vector const modalities{quiet({}, 2, 1)};
    meeting const alone{.levels = {0}};
    EXPECT_THROW(static_cast<void>(score({{gpus({0})}}, modalities, alone, two_nodes)), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(score({{gpus({0, 0})}}, modalities, alone, two_nodes)), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(score({{gpus({0, 1})}}, modalities, alone, {})), std::invalid_argument);
}

TEST(score, of_any_placement_is_what_the_documentation_says) {
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        auto const on = test::random_placement_case(seed, 16);
        // Any placement at all, tensor-parallel groups torn apart.
        std::vector<world_rank> all;
        for (std::size_t gpu = 0; gpu < on.cluster.gpus().value; ++gpu) {
            all.push_back(to_id<world_rank>(gpu));
        }
        std::mt19937_64 engine{seed};
        for (std::size_t last = all.size(); last > 1; --last) {
            std::swap(all[last - 1], all[engine() % last]);
        }
        gpu_placement placement;
        auto next = all.begin();
        for (auto const& one : on.modalities) {
            placement.gpus.emplace_back(next, next + static_cast<std::ptrdiff_t>(one.gpus().value));
            next += static_cast<std::ptrdiff_t>(one.gpus().value);
        }
        auto const of = score(placement, on.modalities, on.meeting, on.cluster);
        double const expected = test::naive_score{on.cluster, on.modalities, on.meeting}(placement);
        EXPECT_NEAR(of.seconds, expected, 1e-9 * (1 + expected)) << "seed " << seed;
    }
}

}  // namespace
}  // namespace evenkeel::score_test
