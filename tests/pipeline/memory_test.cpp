// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/pipeline/distmm_pipe.hpp>
#include <evenkeel/pipeline/gpipe.hpp>
#include <evenkeel/pipeline/memory.hpp>
#include <evenkeel/pipeline/one_f_one_b.hpp>
#include <evenkeel/pipeline/simulate.hpp>
#include <evenkeel/pipeline/zero_bubble.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::memory_test {
namespace {

std::vector<memory_use> use_of(schedule const& drawn, pipeline_memory const& sizes) {
    auto const times =
        uniform_times({drawn.stages}, {.forward = 1, .backward = 2, .input_gradient = 1, .weight_gradient = 1}, 1);
    return memory_of(drawn, simulate(drawn, times).pipelines[0], sizes);
}

std::uint64_t peak_of(schedule const& drawn, stage_memory const& each) {
    std::uint64_t peak = 0;
    for (auto const& device : use_of(drawn, {.stages = std::vector<stage_memory>(drawn.stages, each)})) {
        peak = std::max(peak, device.peak);
    }
    return peak;
}

TEST(memory_of, follows_a_device_through_the_step) {
    // F1 0-1, F2 1-2, S 2-3, B1 3-5, B2 5-7
    auto const use = use_of(distmm_pipe(stage_count{1}, {2}, {2}),
                            {.stages = {{.fixed = 1000, .activation = 100}}, .feature = 10, .interaction = 7});

    ASSERT_EQ(use.size(), 1u);
    EXPECT_EQ(use[0].changes,
              (std::vector<memory_change>{{0, 1110}, {1, 1220}, {2, 1227}, {3, 1220}, {5, 1110}, {7, 1000}}));
    EXPECT_EQ(use[0].peak, 1227u);
    EXPECT_EQ(use[0].peak_at, 2);
}

TEST(memory_of, holds_what_the_weight_gradient_needs_until_then) {
    // F1 0-1, I1 1-2, W1 2-3
    auto const use =
        use_of(zero_bubble_h1(stage_count{1}, {1}), {.stages = {{.activation = 100, .weight_gradient = 30}}});

    EXPECT_EQ(use[0].changes, (std::vector<memory_change>{{0, 100}, {2, 30}, {3, 0}}));
}

TEST(memory_of, lets_go_of_a_feature_with_the_input_gradient) {
    // F1 0-1, I1 1-2, W1 2-3
    auto const use = use_of(zero_bubble_h1(stage_count{1}, {1}),
                            {.stages = {{.activation = 100, .weight_gradient = 30}}, .feature = 7});

    EXPECT_EQ(use[0].changes, (std::vector<memory_change>{{0, 107}, {2, 30}, {3, 0}}));
}

TEST(memory_of, holds_features_on_the_last_stage_only) {
    auto const use = use_of(distmm_pipe(stage_count{2}, {4}, {2}),
                            {.stages = {{.activation = 1}, {.activation = 1}}, .feature = 1000});

    EXPECT_EQ(use[0].peak, 3u);
    EXPECT_EQ(use[1].peak, 2u + 2000u);
}

// The memory of a device is M, a whole submodule has M_s bytes of static memory and M_a of activations per sample,
// evenly spread over the stages. The bounds are those of the paper; what it calls DISTMM-Pipe's is the one of groups as
// large as the pipeline is deep.
struct machine {
    std::uint64_t memory;
    std::uint64_t fixed;
    std::uint64_t per_sample;

    /// Whether a schedule fits whose micro-batches have `samples`.
    [[nodiscard]] bool fits(schedule const& drawn, std::uint64_t samples) const {
        return peak_of(drawn, {.fixed = fixed / drawn.stages, .activation = samples * per_sample / drawn.stages}) <=
               memory;
    }

    /// The most samples that fit into a micro-batch.
    [[nodiscard]] std::uint64_t largest(schedule const& drawn) const {
        std::uint64_t samples = 0;
        for (std::uint64_t more = std::uint64_t{1} << 14U; more > 0; more /= 2) {
            samples += fits(drawn, samples + more) ? more : 0;
        }
        return samples;
    }
};

TEST(memory_bounds, of_1F1B_do_not_grow_with_the_pipeline) {
    for (std::uint64_t const stages : {1u, 2u, 4u, 6u}) {
        machine const own{.memory = 4000, .fixed = 1200, .per_sample = 12};
        // (M - M_s / P) / M_a, below M / M_a
        EXPECT_EQ(own.largest(one_f_one_b({stages}, {2 * stages})), (4000 - 1200 / stages) / 12) << stages;
    }
}

TEST(memory_bounds, of_distmm_pipe_are_the_papers_where_a_group_is_as_large_as_the_pipeline_is_deep) {
    for (std::uint64_t const stages : {2u, 3u, 4u, 6u}) {
        machine const own{.memory = 40'000, .fixed = 12'000, .per_sample = 12};
        auto const drawn = distmm_pipe({stages}, {3 * stages}, {stages});
        std::uint64_t const contrastive = stages * own.largest(drawn);
        // (M P - M_s) / (2 M_a) is safe, for 2 P micro-batches fit and 2 P - 1 are held ...
        std::uint64_t const papers = (40'000 * stages - 12'000) / (2 * 12);
        EXPECT_TRUE(own.fits(drawn, papers / stages));
        // ... and G / (G + P - 1) of what P devices hold is exact.
        double const exact = static_cast<double>(40'000 * stages - 12'000) / 12 * static_cast<double>(stages) /
                             static_cast<double>(2 * stages - 1);
        EXPECT_LE(static_cast<double>(contrastive), exact);
        EXPECT_GT(static_cast<double>(contrastive + stages), exact);
    }
}

TEST(memory_bounds, of_distmm_pipe_are_exact_with_any_group) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        test::seeded random{seed};
        std::uint64_t const stages = random.between(1, 6);
        std::uint64_t const group = random.between(1, 10);
        machine const own{.memory = 20'000, .fixed = 60 * random.up_to(200), .per_sample = 60};
        auto const drawn = distmm_pipe({stages}, {group * random.between(2, 4)}, {group});
        // Micro-batches in flight on the first stage; the schedule may be too short to need them all.
        std::uint64_t const held = std::min<std::uint64_t>(drawn.micro_batches, group + stages - 1);

        EXPECT_EQ(own.largest(drawn), (own.memory - own.fixed / stages) * stages / (held * own.per_sample));
    }
}

TEST(memory_bounds, of_gpipe_with_one_group_per_flush_are_twice_the_papers_of_distmm_pipe) {
    for (std::uint64_t const stages : {1u, 2u, 4u, 6u}) {
        machine const own{.memory = 40'000, .fixed = 12'000, .per_sample = 12};
        std::uint64_t const group = stages;
        auto const drawn = gpipe_sync({stages}, {2 * group}, {group}, micro_batch_count{group});
        // (M P - M_s) / M_a, in whole samples per micro-batch
        EXPECT_EQ(own.largest(drawn), (40'000 * stages - 12'000) / 12 / group);
    }
}

TEST(memory_bounds, of_zero_bubble_h1_are_those_of_1F1B) {
    for (std::uint64_t const stages : {1u, 2u, 4u, 6u}) {
        machine const own{.memory = 4000, .fixed = 1200, .per_sample = 12};
        EXPECT_EQ(own.largest(zero_bubble_h1({stages}, {3 * stages})),
                  own.largest(one_f_one_b({stages}, {3 * stages})));
    }
}

TEST(memory_of, refuses_sizes_and_timelines_of_other_schedules) {
    auto const drawn = one_f_one_b(stage_count{2}, {2});
    auto const line = simulate(drawn, uniform_times({2}, {})).pipelines[0];
    constexpr auto largest = std::numeric_limits<std::uint64_t>::max();

    EXPECT_THROW((void)memory_of(drawn, line, {.stages = {{}}}), std::invalid_argument);
    EXPECT_THROW((void)memory_of(drawn, {}, {.stages = {{}, {}}}), std::invalid_argument);
    EXPECT_THROW((void)memory_of(drawn, line, {.stages = {{}, {.activation = 1, .weight_gradient = 2}}}),
                 std::invalid_argument);
    EXPECT_THAT(
        [&] {
            (void)memory_of(drawn, line, {.stages = {{}, {.fixed = 2, .activation = largest - 1}}});
        },
        testing::ThrowsMessage<std::overflow_error>("memory_of: the memory of a device exceeds 64 bits"));
    EXPECT_THAT(
        [&] {
            (void)memory_of(drawn, line, {.stages = {{}, {.activation = largest}}, .feature = 1});
        },
        testing::ThrowsMessage<std::overflow_error>("memory_of: what a micro-batch keeps exceeds 64 bits"));
}

TEST(memory_of, tells_schedules_of_as_many_instructions_apart) {
    auto const drawn = distmm_pipe(stage_count{4}, {16}, {4});
    auto const other = gpipe_sync(stage_count{4}, {16}, {4});
    ASSERT_EQ(drawn.instructions.size(), other.instructions.size());
    auto const line = simulate(drawn, uniform_times({4}, {.forward = 1, .backward = 2}, 1)).pipelines[0];
    pipeline_memory const sizes{.stages = std::vector<stage_memory>(4)};

    EXPECT_THAT([&] { (void)memory_of(other, line, sizes); },
                testing::ThrowsMessage<std::invalid_argument>(
                    "memory_of: line = another schedule's, expected the timeline of this one"));
    // The same instructions in other groups.
    auto regrouped = drawn;
    regrouped.group = 0;
    EXPECT_NE(fingerprint_of(regrouped), fingerprint_of(drawn));
}

TEST(memory_of, refuses_schedules_that_do_not_run) {
    auto drawn = distmm_pipe(stage_count{4}, {16}, {4});
    auto line = simulate(drawn, uniform_times({4}, {})).pipelines[0];
    pipeline_memory const sizes{.stages = std::vector<stage_memory>(4)};
    drawn.instructions[0].stage = stage_id{5'000'000};
    line.drawn = fingerprint_of(drawn);
    EXPECT_THROW((void)memory_of(drawn, line, sizes), std::invalid_argument);
    drawn.offsets.clear();
    EXPECT_THROW((void)memory_of(drawn, line, sizes), std::invalid_argument);
}

}  // namespace
}  // namespace evenkeel::memory_test
