// SPDX-License-Identifier: Apache-2.0
#include "examples/support/overlapped_steps.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/comm/threads.hpp>
#include <evenkeel/core/topology.hpp>

namespace evenkeel::examples::overlapped_steps_test {
namespace {

/// Two samples per rank and step; the first phase has nothing in them on rank 0.
drawn_step drawn(std::size_t step, std::size_t rank, std::size_t phases) {
    drawn_step result{.first_sample = 6 * step, .lengths = {}};
    for (std::size_t phase = 0; phase < phases; ++phase) {
        result.lengths.push_back({20 * phase + 3 * rank, 7 * phase + rank});
    }
    return result;
}

waits_report waits(std::vector<std::string> const& names, bool overlap) {
    waits_report result;
    comm::run_threads(uniform_topology({3}, {3}), [&](comm::communicator& world) {
        auto const draw = [&](std::size_t step) { return drawn(step, to_index(world.rank()), names.size()); };
        auto const report = run_overlapped(
            world, names, draw,
            {.steps = 3, .scale = {.fixed = 2}, .overlap = overlap, .computing = std::chrono::milliseconds{1}});
        if (world.rank() == world_rank{0}) {
            result = report;
        }
    });
    return result;
}

TEST(run_overlapped, verifies_what_arrives_and_says_what_each_rank_waited) {
    for (auto const& names : {std::vector<std::string>{"image", "audio", "llm"}, {"image", "audio"}, {"llm"}}) {
        for (bool const overlap : {true, false}) {
            auto const report = waits(names, overlap);
            EXPECT_EQ(report.wrong, 0U);
            EXPECT_EQ(report.overlap, overlap);
            EXPECT_EQ(report.step_ms, 1);
            ASSERT_EQ(report.waited_ms.size(), 3U);
            for (double const ms : report.waited_ms) {
                EXPECT_GT(ms, 0);
            }
        }
    }
}

TEST(waits_report, lists_every_rank) {
    auto const text =
        to_text({.overlap = false, .step_ms = 20, .waited_ms = {0.5, 1, 2, 3, 4, 5, 6, 7, 12.3456}, .wrong = 0});
    EXPECT_THAT(text, testing::HasSubstr("Overlap off"));
    EXPECT_THAT(text, testing::HasSubstr("\nranks from    0     0.500     1.000     2.000"));
    EXPECT_THAT(text, testing::HasSubstr("\nranks from    8    12.346\nEvery byte verified.\n"));
    EXPECT_THAT(to_text({.waited_ms = {1}, .wrong = 2}), testing::HasSubstr("2 bytes are wrong"));
}

}  // namespace
}  // namespace evenkeel::examples::overlapped_steps_test
