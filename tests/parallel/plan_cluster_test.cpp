// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/parallel/plan_cluster.hpp>

#include "builders.hpp"
#include "tests/support/batches.hpp"

namespace evenkeel::plan_cluster_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(plan_cluster, reproduces_figure_2) {
    auto const plan = plan_cluster(test::figure_2(), test::v100s(), {72});
    auto const& text = plan.modalities[0];
    auto const& image = plan.modalities[1];
    EXPECT_EQ(text.deployment.cut, (parallelism{.tp = 2, .pp = 2}));
    EXPECT_EQ(image.deployment.cut, (parallelism{.tp = 4, .pp = 4}));
    EXPECT_THAT(text.replica_batches(), ElementsAre(18, 18, 18, 18));
    EXPECT_THAT(image.replica_batches(), ElementsAre(24, 24, 24));
    EXPECT_EQ(text.load.micro_batch, 3u);
    EXPECT_EQ(image.load.micro_batch, 2u);
    // Replicas x micro-batches per sync x micro-batch: the same contrastive batch for both.
    EXPECT_EQ(text.load.replicas * text.load.group * text.load.micro_batch, 24u);
    EXPECT_EQ(image.load.replicas * image.load.group * image.load.micro_batch, 24u);
    EXPECT_EQ(plan.meeting.syncs, 3u);
    EXPECT_EQ(plan.gpus(), gpu_count{64});
    EXPECT_EQ(plan.seconds(), 36);
    EXPECT_EQ(plan.lower_bound, 36);
    EXPECT_FALSE(plan.colocation_wins());
}

TEST(plan_cluster, reproduces_figure_4) {
    auto const plan = plan_cluster(test::figure_4(), test::roomy(1, 4), {12});
    EXPECT_NEAR(plan.seconds(), 3.556, 0.0005);
    EXPECT_NEAR(plan.seconds(), 1.6 / 0.45, 1e-9);
    EXPECT_THAT(plan.modalities[0].replica_batches(), ElementsAre(12));
    EXPECT_THAT(plan.modalities[1].replica_batches(), ElementsAre(4, 4, 4));
    EXPECT_DOUBLE_EQ(plan.colocated->seconds, 5);
    EXPECT_EQ(plan.gpus(), gpu_count{4});
}

/// CLIP as in Table 2, in FP16 with a sharded optimiser, its activations kept.
submodule tower(std::string name, double hidden, double parameters, double tokens) {
    double const heads = hidden / 64;
    return {.name = std::move(name),
            .layers = 24,
            .parameters = parameters,
            .hidden = static_cast<std::size_t>(hidden),
            .tokens = tokens,
            .shard_optimizer = true,
            .activation_bytes = 24 * (34 * tokens * hidden + 5 * heads * tokens * tokens),
            .time = flops_time{.flops_per_second = 125e12, .best_efficiency = 0.58, .half_efficiency = 3.1e6},
            .tp = {1},
            .pp = {1}};
}

TEST(plan_cluster, gives_clip_4_text_and_60_vision_replicas) {
    multimodal_model const clip{.submodules = {tower("vision", 1536, 760e6, 442), tower("text", 1024, 350e6, 77)},
                                .interaction = {.features = 1024}};
    auto const plan = plan_cluster(clip, test::v100s(), {600});
    EXPECT_EQ(plan.modalities[0].load.replicas, 60u);
    EXPECT_EQ(plan.modalities[1].load.replicas, 4u);
    EXPECT_THAT(plan.modalities[0].replica_batches(), Each(10));
    EXPECT_THAT(plan.modalities[1].replica_batches(), Each(150));
    EXPECT_GT(plan.colocated->seconds, plan.seconds());
}

TEST(plan_cluster, leaves_gpus_idle_that_do_not_help) {
    auto const plan = plan_cluster(test::figure_4(), test::roomy(1, 5), {12});
    EXPECT_EQ(plan.gpus(), gpu_count{4});
}

TEST(plan_cluster, says_when_colocation_wins) {
    // Two towers of one sample each: side by side both wait for the slower one, half of the GPUs for nothing.
    multimodal_model const lopsided{.submodules = {test::rated("large", 9), test::rated("small", 1)}};
    auto const plan = plan_cluster(lopsided, test::roomy(1, 2), {2});
    EXPECT_EQ(plan.seconds(), 18);
    EXPECT_EQ(plan.colocated->seconds, 10);
    EXPECT_TRUE(plan.colocation_wins());
}

TEST(plan_cluster, overlaps_an_encoder_and_its_llm) {
    multimodal_model model{.submodules = {test::rated("vision", 1), test::rated("llm", 3)},
                           .interaction = {.kind = interaction_kind::join}};
    model.submodules[1].inputs = {"vision"};
    auto const plan = plan_cluster(model, test::roomy(1, 4), {48});
    EXPECT_EQ(plan.modalities[0].load.replicas, 1u);
    EXPECT_EQ(plan.modalities[1].load.replicas, 3u);
    // Both are busy 48 seconds; the LLM waits for the first of 16 parts.
    EXPECT_EQ(plan.meeting.syncs, 16u);
    EXPECT_DOUBLE_EQ(plan.seconds(), 48 + 48.0 / 16);
    // As many GPUs at work without waiting.
    EXPECT_DOUBLE_EQ(plan.colocated->seconds, 48);
}

TEST(plan_cluster, gives_instances_to_orchestrate) {
    auto const plan = plan_cluster(test::figure_2(), test::v100s(), {72});
    auto const image = group_of(plan, 1);
    EXPECT_EQ(image.ranks(), rank_count{3});
    EXPECT_EQ(image[rank_id{2}].size(), 16u);
    EXPECT_EQ(image.leader(rank_id{1}), plan.placement.gpu_of(1, {.tp = 4, .pp = 4}, 1, 0, 0));
    require_group("test", image, {64});
}

TEST(plan_cluster, may_keep_to_the_papers_rule) {
    auto of = tower("vision", 1536, 760e6, 442);
    of.tp = of.pp = {};
    multimodal_model const model{.submodules = {of, tower("text", 1024, 350e6, 77)}, .interaction = {.features = 1024}};
    auto const paper = plan_cluster(model, test::v100s(), {512}, {.rule = partition_rule::paper});
    EXPECT_EQ(paper.modalities[0].deployment.cut, (parallelism{.tp = 1, .pp = 1}));
    EXPECT_LE(plan_cluster(model, test::v100s(), {512}).seconds(), paper.seconds());
}

TEST(plan_cluster, is_the_same_every_time) {
    auto of = tower("vision", 1536, 760e6, 442);
    of.tp = of.pp = {};
    multimodal_model const model{.submodules = {of, tower("text", 1024, 350e6, 77)}, .interaction = {.features = 1024}};
    EXPECT_EQ(plan_cluster(model, test::v100s(), {512}), plan_cluster(model, test::v100s(), {512}));
}

TEST(plan_cluster, finds_room_for_degrees_that_do_not_divide_each_other) {
    multimodal_model const model{.submodules = {test::rated("three", 1, 3), test::rated("two", 1, 2)}};
    for (std::size_t nodes = 1; nodes <= 4; ++nodes) {
        auto const plan = plan_cluster(model, test::roomy(nodes, 5), {60});
        require_placement("test", plan.placement, plan.deployments(), test::roomy(nodes, 5));
    }
}

/// Nodes of ten GPUs: two blocks of four and four of three fit, but only as 4 + 3 + 3 on each.
multimodal_model four_and_three() { return {.submodules = {test::rated("a", 1, 4), test::rated("b", 1, 3)}}; }

TEST(plan_cluster, finds_room_that_large_blocks_first_would_not_leave) {
    auto model = four_and_three();
    model.submodules[0].replicas = {2};
    model.submodules[1].replicas = {4};
    auto const cluster = test::roomy(2, 10);
    for (bool const turned : {false, true}) {
        auto const plan = plan_cluster(model, cluster, {4});
        require_placement("test", plan.placement, plan.deployments(), cluster);
        EXPECT_EQ(plan.gpus(), gpu_count{20}) << turned;
        EXPECT_EQ(plan.seconds(), 2) << turned;
        std::swap(model.submodules[0], model.submodules[1]);
    }
    // Left to choose, it is not slower.
    auto free = four_and_three();
    free.submodules[1].time = seconds_per_sample{2};
    EXPECT_EQ(plan_cluster(free, cluster, {4}).seconds(), 2);
}

/// Times of 1, 4 and 16 samples at a tensor-parallel degree.
std::vector<measured_time> measured_at(std::size_t tp, double one) {
    return {{.micro_batch = 1, .tp = tp, .seconds = one},
            {.micro_batch = 4, .tp = tp, .seconds = 3 * one},
            {.micro_batch = 16, .tp = tp, .seconds = 11 * one}};
}

TEST(plan_cluster, keeps_what_is_slower_alone_where_it_is_faster_beside_others) {
    // Alone, two replicas of `b` take less than a pipeline of two stages; beside two replicas of `c` on other nodes,
    // with which they would share the network, more.
    submodule a{.name = "a",
                .layers = 3,
                .parameters = 289e6,
                .hidden = 768,
                .tokens = 316,
                .shard_optimizer = true,
                .activation_bytes = 27e6,
                .time = time_table{measured_at(2, 0.00537)},
                .layer_weights = {4, 5, 1},
                .tp = {2}};
    submodule b{.name = "b",
                .layers = 5,
                .parameters = 168e6,
                .hidden = 256,
                .tokens = 454,
                .shard_optimizer = true,
                .activation_bytes = 50e6,
                .time = flops_time{.flops_per_second = 1e14, .best_efficiency = 0.5},
                .layer_weights = {4, 4, 5, 3, 3},
                .tp = {1}};
    auto rows = measured_at(1, 0.01425);
    for (auto const& row : measured_at(2, 0.00843)) {
        rows.push_back(row);
    }
    submodule c{.name = "c",
                .layers = 5,
                .parameters = 1059e6,
                .hidden = 512,
                .tokens = 163,
                .shard_optimizer = true,
                .activation_bytes = 6e6,
                .time = time_table{rows},
                .layer_weights = {5, 3, 4, 3, 4}};
    auto cluster = test::v100s(2);
    cluster.gpus_per_node = 3;
    cluster.memory_bytes = 14.67e9;
    cluster.intra_bandwidth = 423e9;
    cluster.inter_bandwidth = 3.657e9;
    EXPECT_NEAR(plan_cluster({.submodules = {a, b, c}}, cluster, {23}).seconds(), 0.131, 0.001);
}

/// A model on a few GPUs, of which a step is as long as its slowest modality: nothing is said, memory is short.
struct small_case {
    multimodal_model model = {};
    evenkeel::cluster cluster = {};
    std::uint64_t batch = 1;
};

small_case random_small_case(std::uint64_t seed) {
    test::seeded random{seed};
    auto const number = [&](std::uint64_t least, std::uint64_t most) {
        return static_cast<double>(random.between(least, most));
    };
    small_case result{.cluster = test::roomy(random.between(1, 3), std::size_t{1} << random.between(1, 2)),
                      .batch = random.between(1, 24)};
    result.cluster.memory_bytes = number(5, 60);
    auto const modalities = random.between(1, 3);
    for (std::size_t i = 0; i < modalities; ++i) {
        submodule one{.name = "submodule " + std::to_string(i),
                      .layers = random.between(2, 6),
                      .parameters = number(0, 40),
                      .weight_bytes = 1,
                      .gradient_bytes = 0,
                      .optimizer_bytes = 1,
                      .shard_optimizer = random.up_to(1) == 0,
                      .activation_bytes = number(0, 8),
                      .tp = {1, 2},
                      .pp = {1, 2}};
        if (random.up_to(1) == 0) {
            one.time = seconds_per_sample{number(1, 20) / 4};
        } else {
            time_table table;
            for (std::size_t tp : {1U, 2U}) {
                double seconds = number(1, 8) / static_cast<double>(tp);
                for (std::uint64_t size : {1U, 4U, 32U}) {
                    table.rows.push_back({.micro_batch = size, .tp = tp, .seconds = seconds});
                    seconds += number(1, 20);
                }
            }
            one.time = table;
        }
        result.model.submodules.push_back(one);
    }
    bool const joins = modalities > 1 && random.up_to(2) == 0;
    if (joins) {
        result.model.submodules.back().inputs = {"submodule 0"};
    }
    result.model.interaction.kind = joins ? interaction_kind::join : interaction_kind::contrastive;
    result.model.interaction.batch = joins ? 0 : random.between(1, result.batch);
    return result;
}

/// The shortest step over every size of sync, degree, number of replicas and micro-batch, spelled out.
std::optional<double> optimum(small_case const& on) {
    auto const number = [](auto count) { return static_cast<double>(count); };
    auto const& all = on.model.submodules;
    auto const gpus = on.cluster.gpus().value;
    bool const joins = on.model.interaction.kind == interaction_kind::join;
    std::optional<double> best;
    for (std::uint64_t syncs = 1; syncs <= on.batch; ++syncs) {
        std::uint64_t const per_sync = on.batch / syncs;
        if (on.batch % syncs != 0 || per_sync < std::max<std::uint64_t>(1, on.model.interaction.batch)) {
            continue;
        }
        // times[i][n]: the fastest on exactly n GPUs.
        std::vector<std::vector<double>> times(all.size(), std::vector<double>(gpus + 1, 1e300));
        for (std::size_t i = 0; i < all.size(); ++i) {
            auto const& one = all[i];
            bool const is_llm = joins && i + 1 == all.size();
            bool const is_encoder = joins && i == 0;
            for (std::size_t tp : {1U, 2U}) {
                for (std::size_t pp : {1U, 2U}) {
                    for (std::size_t replicas = 1; replicas * tp * pp <= gpus && replicas <= per_sync; ++replicas) {
                        std::uint64_t const share = (per_sync + replicas - 1) / replicas;
                        for (auto const size : detail::micro_batch_choices(one, pp, share)) {
                            std::uint64_t const group = (share + size - 1) / size;
                            double bytes = 0;
                            for (std::size_t stage = 0; stage < pp; ++stage) {
                                double const layers = number((stage + 1) * one.layers / pp - stage * one.layers / pp);
                                double const part = layers / number(one.layers) / number(tp);
                                std::uint64_t const behind = pp - 1 - stage;
                                std::uint64_t held = is_llm       ? behind + 1
                                                     : is_encoder ? 2 * group + behind
                                                                  : group + behind;
                                // Nobody runs ahead in a join without being an input: the third one is an end, too.
                                if (joins && !is_encoder) {
                                    held = behind + 1;
                                }
                                held = std::min(held, group * syncs);
                                double const samples = std::min(number(held * size), number(share * syncs));
                                double const states = one.shard_optimizer ? 1 / number(replicas) : 1;
                                bytes = std::max(
                                    bytes, part * (one.parameters * (1 + states) + samples * one.activation_bytes));
                            }
                            if (bytes > on.cluster.memory_bytes) {
                                continue;
                            }
                            double seconds = 0;
                            if (auto const* const rate = std::get_if<seconds_per_sample>(&one.time)) {
                                seconds = number(syncs * share) * rate->seconds;
                            } else {
                                double const layers = number((one.layers + pp - 1) / pp) / number(one.layers);
                                seconds = number(pp - 1 + group * syncs) * layers *
                                          *measured_seconds(std::get<time_table>(one.time), size, tp);
                            }
                            auto& fastest = times[i][replicas * tp * pp];
                            fastest = std::min(fastest, seconds);
                        }
                    }
                }
            }
        }
        std::function<void(std::size_t, std::size_t, double, double)> const follow =
            [&](std::size_t i, std::size_t used, double first, double second) {
                if (i == all.size()) {
                    double const busiest = std::max(first, second);
                    double const seconds = busiest + (first + second - busiest) / number(syncs);
                    best = std::min(best.value_or(seconds), seconds);
                    return;
                }
                for (std::size_t own = 1; used + own <= gpus; ++own) {
                    if (times[i][own] < 1e299) {
                        bool const is_second = joins && i + 1 == all.size();
                        follow(i + 1, used + own, is_second ? first : std::max(first, times[i][own]),
                               is_second ? std::max(second, times[i][own]) : second);
                    }
                }
            };
        follow(0, 0, 0, 0);
    }
    return best;
}

class plan_law : public testing::TestWithParam<std::uint64_t> {};

TEST_P(plan_law, is_as_fast_as_any_plan_and_never_exceeds_memory) {
    for (std::uint64_t seed = GetParam() * 200; seed < (GetParam() + 1) * 200; ++seed) {
        auto const on = random_small_case(seed);
        auto const best = optimum(on);
        std::optional<cluster_plan> plan;
        try {
            plan = plan_cluster(on.model, on.cluster, {on.batch}, {.placement = {.effort = 1000}});
        } catch (infeasible const& error) {
            EXPECT_GT(error.amount(), 0u);
            EXPECT_THAT(error.what(), HasSubstr("submodule"));
        }
        ASSERT_EQ(plan.has_value(), best.has_value()) << "seed " << seed;
        if (!plan) {
            continue;
        }
        EXPECT_NEAR(plan->seconds(), *best, 1e-9 * *best) << "seed " << seed;
        EXPECT_NEAR(plan->lower_bound, *best, 1e-9 * *best) << "seed " << seed;
        require_placement("test", plan->placement, plan->deployments(), on.cluster);
        for (std::size_t i = 0; i < plan->modalities.size(); ++i) {
            auto const& one = plan->modalities[i];
            EXPECT_LE(one.bytes, on.cluster.memory_bytes) << "seed " << seed;
            EXPECT_EQ(one.bytes, replica_bytes(on.model.submodules[i], roles_of(on.model)[i], one.deployment.cut,
                                               one.stages, one.load));
            std::uint64_t sum = 0;
            for (auto const own : one.replica_batches()) {
                EXPECT_GE(own, 1u);
                EXPECT_LE(own, one.load.group * one.load.micro_batch * one.load.syncs);
                sum += own;
            }
            EXPECT_EQ(sum, on.batch) << "seed " << seed;
            EXPECT_EQ(one.load.per_sync * one.load.syncs, on.batch);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(hundreds, plan_law, testing::Range<std::uint64_t>(0, 10));

/// What is thrown, and how much is said to lack.
struct refusal {
    std::string what = {};
    std::uint64_t lacking = 0;
};

refusal refused(multimodal_model const& model, cluster const& cluster, std::uint64_t batch) {
    try {
        static_cast<void>(plan_cluster(model, cluster, {batch}));
    } catch (infeasible const& error) {
        return {error.what(), error.amount()};
    } catch (std::invalid_argument const& error) {
        return {error.what(), 0};
    }
    return {"planned", 0};
}

TEST(plan_cluster, names_a_submodule_that_fits_nowhere) {
    auto model = test::figure_2();
    model.submodules[1].parameters = 1e15;
    auto const no = refused(model, test::v100s(), 72);
    EXPECT_THAT(no.what, HasSubstr("bytes of GPU memory for submodule 'image' at tp 4, pp 4 cannot be met"));
    // 16 bytes per parameter over 16 GPUs.
    EXPECT_EQ(no.lacking, static_cast<std::uint64_t>(1e15 - 17'179'869'184.0));
}

TEST(plan_cluster, says_at_least_of_what_is_more_than_can_be_counted) {
    auto model = test::figure_2();
    model.submodules[1].parameters = 1e23;
    EXPECT_THAT(refused(model, test::v100s(), 72).what, HasSubstr(", at least 9223372036854775808 are missing"));
}

TEST(plan_cluster, names_what_the_samples_of_a_sync_lack) {
    auto model = test::figure_4();
    model.submodules[0].activation_bytes = 1e12;
    auto cluster = test::roomy(1, 4);
    cluster.memory_bytes = 2e12;
    auto const no = refused(model, cluster, 12);
    EXPECT_THAT(no.what, HasSubstr("bytes of GPU memory for submodule 'blue' with its samples of a sync"));
    // 12 samples on 4 replicas.
    EXPECT_EQ(no.lacking, std::uint64_t{1'000'000'000'000});
}

TEST(plan_cluster, names_the_submodule_that_finds_no_gpus) {
    auto const no = refused(test::figure_2(), test::v100s(2), 72);
    EXPECT_THAT(no.what, HasSubstr("GPUs for submodule 'image' besides the others"));
    EXPECT_EQ(no.lacking, 4u);

    auto const alone = refused(test::figure_2(), test::v100s(1), 72);
    EXPECT_THAT(alone.what, HasSubstr("GPUs for one replica of submodule 'image'"));
    EXPECT_EQ(alone.lacking, 8u);

    auto narrow = test::roomy(64, 2);
    auto const torn = refused(test::figure_2(), narrow, 72);
    EXPECT_THAT(torn.what, HasSubstr("GPUs in a node for the tensor parallelism of submodule 'image'"));
    EXPECT_EQ(torn.lacking, 2u);

    // Two nodes of six: after a block of four on each, 2 + 2 GPUs are left where one of three is to go.
    auto holed = four_and_three();
    holed.submodules[0].replicas = {2};
    auto const tight = refused(holed, test::roomy(2, 6), 4);
    EXPECT_THAT(tight.what, HasSubstr("GPUs in a node for the tensor parallelism of submodule 'b' besides the others "
                                      "cannot be met, 1 is missing"));
    EXPECT_EQ(tight.lacking, 1u);

    auto asked = test::figure_4();
    asked.submodules[1].replicas = {50};
    EXPECT_THAT(refused(asked, test::roomy(1, 4), 12).what, HasSubstr("the replicas asked of submodule 'orange'"));
}

TEST(plan_cluster, names_what_cannot_be) {
    auto cluster = test::v100s();
    cluster.inter_bandwidth = 0;
    EXPECT_THAT(refused(test::figure_2(), cluster, 72).what, HasSubstr("cluster.inter_bandwidth = 0"));

    EXPECT_THAT(refused(test::figure_2(), test::v100s(), 0).what, HasSubstr("batch.samples = 0"));
    EXPECT_THAT(refused(test::figure_2(), test::v100s(), max_batch + 1).what, HasSubstr("batch.samples"));

    auto const few = refused(test::figure_2(), test::v100s(), 20);
    EXPECT_THAT(few.what, HasSubstr("interaction.batch"));
    EXPECT_EQ(few.lacking, 4u);

    auto unknown = test::figure_2();
    unknown.submodules[0].time = seconds_per_sample{std::nan("")};
    EXPECT_THAT(refused(unknown, test::v100s(), 72).what, HasSubstr("submodule 'text'.seconds_per_sample = nan"));

    auto cyclic = test::figure_2();
    cyclic.submodules[0].inputs = {"image"};
    cyclic.submodules[1].inputs = {"text"};
    EXPECT_THAT(refused(cyclic, test::v100s(), 72).what,
                HasSubstr("submodule 'text'.inputs = text <- image <- text, expected a model without cycles"));

    auto untimed = test::figure_2();
    untimed.submodules[0].time = time_table{{{.micro_batch = 1, .tp = 8, .seconds = 1}}};
    EXPECT_THAT(refused(untimed, test::v100s(), 72).what, HasSubstr("submodule 'text'.time_table = no row"));
}

}  // namespace
}  // namespace evenkeel::plan_cluster_test
