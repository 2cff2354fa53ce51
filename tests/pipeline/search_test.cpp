// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/core/infeasible.hpp>
#include <evenkeel/pipeline/search.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::search_test {
namespace {

/// A stage that takes `launch` for every micro-batch and one unit for every sample forward, two backward.
measured_size affine(std::size_t stages, std::size_t samples, double launch, std::uint64_t bytes_per_sample = 1) {
    auto const work = static_cast<double>(samples);
    return {.samples = samples,
            .times = uniform_times({stages}, {.forward = launch + work, .backward = 2 * (launch + work)}, 1),
            .memory = {.stages = std::vector<stage_memory>(stages, {.activation = samples * bytes_per_sample})}};
}

measured_pipeline pipeline_of(std::size_t stages, std::size_t samples_per_sync, double launch) {
    measured_pipeline result{.samples_per_sync = samples_per_sync};
    for (std::size_t samples = 1; samples <= samples_per_sync; samples *= 2) {
        result.sizes.push_back(affine(stages, samples, launch));
    }
    return result;
}

TEST(search_groups, cuts_finer_the_less_a_micro_batch_costs) {
    auto const group = [](double launch) {
        return search_groups(std::array{pipeline_of(4, 16, launch)}, 4).group[0].value;
    };
    EXPECT_EQ(group(0), 16u);
    EXPECT_EQ(group(1), 4u);
    EXPECT_EQ(group(100), 1u);
}

TEST(search_groups, finds_the_papers_halves_and_better_for_figure_6) {
    // A micro-batch of 8 samples takes 2 forward; the smaller ones are measured, without loss.
    measured_pipeline own{.samples_per_sync = 16};
    for (std::size_t const samples : {1u, 2u, 4u, 8u}) {
        auto const part = static_cast<double>(samples) / 8;
        own.sizes.push_back({.samples = samples,
                             .times = uniform_times({4}, {.forward = 2 * part, .backward = 4 * part}, 1),
                             .memory = {.stages = std::vector<stage_memory>(4, {.activation = samples})}});
    }
    auto const best = search_groups(std::span{&own, 1}, 4);

    EXPECT_EQ(best.size, std::vector<std::size_t>{0});
    EXPECT_EQ(best.group, std::vector<group_size>{{16}});
    EXPECT_EQ(best.simulated.end, 54.25);
    EXPECT_EQ(best.schedules[0], distmm_pipe(stage_count{4}, {64}, {16}));

    own.sizes.erase(own.sizes.begin(), own.sizes.begin() + 2);
    EXPECT_EQ(search_groups(std::span{&own, 1}, 4).simulated.end, 61);
}

TEST(search_groups, keeps_to_the_memory_of_a_device) {
    measured_pipeline own{.samples_per_sync = 16, .sizes = {affine(4, 8, 100), affine(4, 1, 100)}};

    // 8 + 8 samples and those of 3 more micro-batches against 16 + 3.
    EXPECT_EQ(search_groups(std::span{&own, 1}, 3, 40).size[0], 0u);
    EXPECT_EQ(search_groups(std::span{&own, 1}, 3, 39).size[0], 1u);
    try {
        (void)search_groups(std::span{&own, 1}, 3, 10);
        FAIL() << "nothing fits";
    } catch (infeasible const& error) {
        EXPECT_STREQ(error.what(), "search_groups: the memory of pipelines[0] cannot be met, 9 are missing");
        EXPECT_EQ(error.amount(), 9u);
    }
}

TEST(search_groups, is_as_good_as_trying_every_combination) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        test::seeded random{seed};
        std::vector<measured_pipeline> pipelines;
        for (std::size_t number = 0; number < random.between(1, 3); ++number) {
            pipelines.push_back(pipeline_of(random.between(1, 4), std::size_t{1} << random.between(1, 3),
                                            static_cast<double>(random.up_to(6)) / 2));
        }
        std::size_t const syncs = random.between(1, 3);
        double least = std::numeric_limits<double>::infinity();
        std::size_t combinations = 1;
        for (auto const& own : pipelines) {
            combinations *= own.sizes.size();
        }
        for (std::size_t combination = 0; combination < combinations; ++combination) {
            std::vector<schedule> schedules;
            std::vector<pipeline_times> times;
            std::size_t left = combination;
            for (auto const& own : pipelines) {
                auto const& size = own.sizes[left % own.sizes.size()];
                left /= own.sizes.size();
                std::size_t const group = own.samples_per_sync / size.samples;
                schedules.push_back(distmm_pipe({size.times.stages.size()}, {syncs * group}, {group}));
                times.push_back(size.times);
            }
            least = std::min(least, simulate(schedules, times).end);
        }
        auto const found = search_groups(pipelines, syncs);
        EXPECT_EQ(found.simulated.end, least) << "seed " << seed;
        EXPECT_LE(found.tried, combinations + 12);
    }
}

TEST(search_groups, of_no_pipelines_finds_nothing_to_do) {
    auto const found = search_groups({}, 3);
    EXPECT_EQ(found.simulated.end, 0);
    EXPECT_TRUE(found.schedules.empty());
}

TEST(search_groups, refuses_more_micro_batches_than_are_counted) {
    measured_pipeline const own{.samples_per_sync = 8, .sizes = {affine(4, 1, 0)}};
    // With 2^61, times 8 wraps to none.
    for (unsigned const power : {29U, 60U, 61U, 63U}) {
        auto const syncs = std::size_t{1} << power;
        try {
            (void)search_groups(std::span{&own, 1}, syncs);
            ADD_FAILURE() << "accepted 2^" << power;
        } catch (std::invalid_argument const& error) {
            EXPECT_EQ(std::string{error.what()},
                      "search_groups: syncs = " + std::to_string(syncs) +
                          ", expected at most 4294967295 micro-batches: with pipelines[0].sizes[0] each sync is of 8");
        }
    }
}

TEST(search_groups, refuses_sizes_that_cannot_be_cut_from_the_batch) {
    auto const message = [](measured_pipeline const& own) {
        try {
            (void)search_groups(std::span{&own, 1}, 2);
        } catch (std::invalid_argument const& error) {
            return std::string{error.what()};
        }
        return std::string{"none"};
    };
    EXPECT_EQ(message({.samples_per_sync = 16, .sizes = {affine(2, 3, 0)}}),
              "search_groups: pipelines[0].sizes = no divisor, expected a size that divides the 16 samples per sync");
    EXPECT_EQ(message({.samples_per_sync = 16}),
              "search_groups: pipelines[0].sizes = no divisor, expected a size that divides the 16 samples per sync");
    EXPECT_EQ(message({.samples_per_sync = 16, .sizes = {affine(2, 0, 0)}}),
              "search_groups: pipelines[0].sizes[0].samples = 0, expected at least 1");
    EXPECT_EQ(message({.samples_per_sync = 16, .sizes = {{.samples = 4}}}),
              "search_groups: pipelines[0].sizes[0].times.stages.size() = 0, expected at least 1");
}

}  // namespace
}  // namespace evenkeel::search_test
