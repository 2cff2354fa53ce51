// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/parallel/plan_cluster.hpp>
#include <evenkeel/pipeline/distmm_pipe.hpp>
#include <evenkeel/pipeline/modelled_times.hpp>
#include <evenkeel/pipeline/simulate.hpp>
#include <evenkeel/pipeline/zero_bubble.hpp>

#include "tests/parallel/builders.hpp"
#include "tests/support/batches.hpp"

namespace evenkeel::modelled_times_test {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;

/// A tower that was timed with one size of micro-batch.
submodule measured(std::string name, std::size_t layers, measured_time const& row) {
    return {.name = std::move(name), .layers = layers, .time = time_table{{row}}, .micro_batches = {row.micro_batch}};
}

schedule drawn_for(parallelism cut, replica_load const& load) {
    return distmm_pipe({cut.pp}, {load.micro_batches()}, {load.group});
}

template <class Call>
std::string refusal_of(Call call) {
    try {
        call();
    } catch (std::invalid_argument const& error) {
        return error.what();
    }
    return "none";
}

TEST(modelled_times, reproduce_figure_2) {
    auto const cluster = test::roomy(8, 8);
    auto const text = measured("text", 2, {.micro_batch = 3, .tp = 2, .seconds = 12});
    auto const image = measured("image", 4, {.micro_batch = 2, .tp = 4, .seconds = 12});
    parallelism const text_cut{.tp = 2, .pp = 2};
    parallelism const image_cut{.tp = 4, .pp = 4};
    replica_load const of_text{.replicas = 4, .per_sync = 24, .share = 6, .micro_batch = 3, .group = 2, .syncs = 3};
    replica_load const of_image{.replicas = 3, .per_sync = 24, .share = 8, .micro_batch = 2, .group = 4, .syncs = 3};
    auto const times = std::array{modelled_times(text, {}, cluster, text_cut, split_stages(text, 2), of_text),
                                  modelled_times(image, {}, cluster, image_cut, split_stages(image, 4), of_image)};

    for (auto const& stage : times[0].stages) {
        EXPECT_THAT(stage.forward, DoubleEq(2));
        EXPECT_THAT(stage.backward, DoubleEq(4));
    }
    auto const simulated = simulate(std::array{drawn_for(text_cut, of_text), drawn_for(image_cut, of_image)}, times);
    EXPECT_THAT(simulated.pipelines[0].end, DoubleEq(43));
    EXPECT_THAT(simulated.pipelines[1].end, DoubleEq(45));
}

/// Any submodule, and how it is run.
struct any_replica {
    submodule of;
    modality_role role;
    evenkeel::cluster cluster = test::v100s();
    parallelism cut;
    replica_load load;

    any_replica(std::uint64_t seed, bool even) {
        test::seeded random{seed};
        auto const amount = [&](std::uint64_t most) { return static_cast<double>(random.between(1, most)) / 7; };
        cut = {.tp = std::size_t{1} << random.up_to(3), .pp = random.between(1, 6)};
        of = {.name = "tower",
              .layers = cut.pp * random.between(1, 4) + (even ? 0 : random.between(1, cut.pp)),
              .parameters = amount(900),
              .hidden = random.between(1, 64),
              .tokens = amount(900)};
        load = {.replicas = 2,
                .micro_batch = random.between(1, 6),
                .group = random.between(1, 6),
                .syncs = random.between(1, 4)};
        load.share = load.micro_batch * load.group;
        load.per_sync = 2 * load.share;
        role = {.sample_seconds = amount(9), .pair_seconds = amount(9) / 100};
        switch (random.up_to(2)) {
            case 0: of.time = seconds_per_sample{.seconds = amount(30)}; break;
            case 1:
                of.time = time_table{{{.micro_batch = 1, .tp = cut.tp, .seconds = amount(50)},
                                      {.micro_batch = 4, .tp = cut.tp, .seconds = 10 + amount(50)}}};
                break;
            default: of.time = flops_time{.flops_per_second = amount(1000), .half_efficiency = amount(100)};
        }
    }

    [[nodiscard]] stage_split stages() const { return split_stages(of, cut.pp); }
    [[nodiscard]] double simulated_end() const {
        auto times = modelled_times(of, role, cluster, cut, stages(), load);
        return simulate(drawn_for(cut, load), times).end;
    }
    [[nodiscard]] double expected_end() const {
        return replica_seconds(of, role, cluster, cut, stages(), load).value();
    }
};

TEST(modelled_times, end_when_replica_seconds_says_with_even_stages) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        any_replica const own{seed, true};
        EXPECT_NEAR(own.simulated_end() / own.expected_end(), 1, 1e-12) << "seed " << seed;
    }
}

TEST(modelled_times, end_no_later_than_replica_seconds_says_with_uneven_stages) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        any_replica const own{seed, false};
        EXPECT_LE(own.simulated_end(), own.expected_end() * (1 + 1e-12)) << "seed " << seed;
    }
}

TEST(modelled_times, give_each_stage_its_layers) {
    auto of = measured("tower", 3, {.seconds = 12});
    of.layer_weights = {2, 1, 1};
    auto const times = modelled_times(of, {}, test::roomy(1, 2), {.pp = 2}, split_stages(of, 2), {});

    // Two stages of 6: forward, backward, gradients of inputs, of weights.
    EXPECT_THAT(times.stages, testing::SizeIs(2));
    for (auto const& stage : times.stages) {
        EXPECT_THAT(stage.forward, DoubleEq(2));
        EXPECT_THAT(stage.backward, DoubleEq(4));
        EXPECT_THAT(stage.input_gradient, DoubleEq(2));
        EXPECT_THAT(stage.weight_gradient, DoubleEq(2));
    }
}

TEST(modelled_times, have_the_shares_of_a_second_forward) {
    auto const of = measured("tower", 1, {.seconds = 12});
    auto const times = modelled_times(of, {}, test::roomy(1, 1), {}, split_stages(of, 1), {},
                                      {.forward = 1.0 / 4, .input_gradient = 1.0 / 2});
    EXPECT_EQ(times.stages[0], (stage_times{.forward = 3, .backward = 9, .input_gradient = 6, .weight_gradient = 3}));
}

TEST(modelled_times, hand_on_activations_unless_a_rate_has_them) {
    auto of = measured("tower", 2, {.micro_batch = 3, .seconds = 1});
    of.hidden = 5;
    of.tokens = 7.1;
    EXPECT_THAT(
        modelled_times(of, {}, test::roomy(1, 2), {.pp = 2}, split_stages(of, 2), {.micro_batch = 3}).boundary_bytes,
        ElementsAre(213u));
    of.time = seconds_per_sample{.seconds = 1};
    EXPECT_TRUE(modelled_times(of, {}, test::roomy(1, 2), {.pp = 2}, split_stages(of, 2), {}).boundary_bytes.empty());
}

/// Two stages of one GPU each, on nodes of as many GPUs as that.
pipeline_times planned(std::size_t gpus_per_node) {
    auto of = measured("tower", 2, {.seconds = 2});
    of.hidden = 8;
    of.tokens = 4;
    of.pp = {2};
    multimodal_model const model{.submodules = {of}};
    cluster const cluster{.nodes = 2 / gpus_per_node,
                          .gpus_per_node = gpus_per_node,
                          .memory_bytes = 1e9,
                          .intra_bandwidth = 1e6,
                          .inter_bandwidth = 1e3,
                          .intra_latency = 1e-3,
                          .inter_latency = 2e-3};
    auto const plan = plan_cluster(model, cluster, {4});
    return modelled_times(model, cluster, plan, 0, 0);
}

TEST(modelled_times, of_a_plan_have_the_links_of_its_placement) {
    EXPECT_EQ(planned(2).link, (link_times{.latency = 1e-3, .bandwidth = 1e6}));
    EXPECT_EQ(planned(1).link, (link_times{.latency = 2e-3, .bandwidth = 1e3}));
    EXPECT_EQ(stage_link(test::v100s(), 4, {.nodes = 1}), (link_times{.latency = 5e-6, .bandwidth = 600e9}));
    EXPECT_EQ(stage_link(test::v100s(), 4, {.nodes = 2}), (link_times{.latency = 20e-6, .bandwidth = 3.125e9}));
}

TEST(modelled_times, of_a_plan_of_figure_2_take_the_36_seconds_that_the_plan_says) {
    auto const model = test::figure_2();
    auto const cluster = test::v100s();
    auto const plan = plan_cluster(model, cluster, {72});
    for (std::size_t modality = 0; modality < 2; ++modality) {
        auto const& own = plan.modalities[modality];
        for (std::size_t replica = 0; replica < own.load.replicas; ++replica) {
            auto const times = modelled_times(model, cluster, plan, modality, replica);
            EXPECT_THAT(simulate(drawn_for(own.deployment.cut, own.load), times).end, DoubleEq(36));
        }
    }
}

TEST(modelled_times, refuse_what_the_model_does_not_know) {
    auto const of = measured("tower", 2, {.seconds = 1});
    auto const one = split_stages(of, 1);
    auto const cluster = test::roomy(1, 2);
    EXPECT_EQ(refusal_of([&] { (void)modelled_times(of, {}, cluster, {.tp = 2}, one, {}); }),
              "modelled_times: submodule 'tower'.time_table = no row for tp = 2, expected one");
    EXPECT_EQ(refusal_of([&] { (void)modelled_times(of, {}, cluster, {.pp = 2}, one, {}); }),
              "modelled_times: stages.shares.size() = 1, expected cut.pp, which is at least 1");
    EXPECT_THAT(refusal_of([&] {
                    (void)modelled_times(of, {}, cluster, {}, one, {}, {.forward = 0.75, .input_gradient = 0.5});
                }),
                HasSubstr("shares.forward + shares.input_gradient = 1.25"));

    multimodal_model const model{.submodules = {of}};
    auto const plan = plan_cluster(model, cluster, {4});
    EXPECT_EQ(refusal_of([&] { (void)modelled_times(model, cluster, plan, 1, 0); }),
              "modelled_times: modality = 1, expected less than 1");
    EXPECT_THAT(refusal_of([&] { (void)modelled_times(model, cluster, plan, 0, 9); }),
                HasSubstr("modelled_times: replica = 9, expected less than"));
    EXPECT_EQ(refusal_of([&] { (void)modelled_times({}, cluster, plan, 0, 0); }),
              "modelled_times: plan.modalities.size() = 1, expected 0, one for each submodule");
    auto huge = of;
    huge.hidden = std::size_t{1} << 62;
    huge.tokens = 1e6;
    EXPECT_THROW((void)modelled_times(huge, {}, cluster, {.pp = 2}, split_stages(huge, 2), {}), std::overflow_error);
}

}  // namespace
}  // namespace evenkeel::modelled_times_test
