// SPDX-License-Identifier: Apache-2.0
#include "examples/support/phases.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace evenkeel::examples::phases_test {
namespace {

using lengths = std::vector<std::uint64_t>;
using rows = std::vector<std::size_t>;

TEST(phases_of, makes_an_encoder_of_each_column_but_text_and_then_the_llm) {
    auto const phases = phases_of({.columns = {"image", "text", "audio"}, .lengths = {1, 2, 4, 10, 20, 40}});

    EXPECT_EQ(phases, (std::vector<phase_lengths>{{"image", {1, 10}}, {"audio", {4, 40}}, {"llm", {7, 70}}}));
}

TEST(phases_of, has_the_llm_alone_where_there_is_only_text) {
    EXPECT_EQ(phases_of({.columns = {"text"}, .lengths = {5, 6}}), (std::vector<phase_lengths>{{"llm", {5, 6}}}));
}

TEST(drawing, gives_each_rank_the_next_rows) {
    auto const drawing = examples::drawing{.ranks = 2, .samples_per_rank = 3};

    EXPECT_EQ(drawing.samples(), 6u);
    EXPECT_EQ(drawing.rows(0, 0, 10), (rows{0, 1, 2}));
    EXPECT_EQ(drawing.rows(0, 1, 10), (rows{3, 4, 5}));
    EXPECT_EQ(drawing.rows(1, 0, 10), (rows{6, 7, 8}));
}

TEST(drawing, begins_again_after_the_last_row) {
    auto const drawing = examples::drawing{.ranks = 2, .samples_per_rank = 3};

    EXPECT_EQ(drawing.rows(1, 1, 10), (rows{9, 0, 1}));
    EXPECT_EQ(drawing.rows(0, 1, 1), (rows{0, 0, 0}));
    EXPECT_EQ(drawing.lengths(1, 1, lengths{7, 8, 9, 0, 0, 0, 0, 0, 0, 6}), (lengths{6, 7, 8}));
}

TEST(heaviest_step, finds_the_step_with_the_most_tokens) {
    auto const phases = std::vector<phase_lengths>{{"image", {1, 0, 5, 0, 2}}, {"llm", {1, 1, 1, 1, 1}}};
    auto const drawing = examples::drawing{.ranks = 2, .samples_per_rank = 1};

    // Rows 0 and 1, 2 and 3, 4 and 0.
    EXPECT_EQ(heaviest_step(phases, drawing, 1), 3);
    EXPECT_EQ(heaviest_step(phases, drawing, 2), 7);
    EXPECT_EQ(heaviest_step(phases, drawing, 3), 7);
    // Every row twice, and rows 0 and 1 again.
    EXPECT_EQ(heaviest_step(phases, {.ranks = 4, .samples_per_rank = 3}, 1), 2 * 13 + 3);
}

TEST(heaviest_step, is_past_64_bits_without_harm) {
    auto const phases = std::vector<phase_lengths>{{"llm", {UINT64_MAX, UINT64_MAX}}};
    EXPECT_NEAR(
        heaviest_step(phases, {.ranks = 1'000'000, .samples_per_rank = 1'000'000}, 1'000'000'000) / 1.8446744e31, 1,
        1e-6);
}

TEST(heaviest_step, is_what_the_drawn_rows_add_up_to) {
    auto const phases = std::vector<phase_lengths>{{"llm", {3, 1, 4, 1, 5, 9, 2}}};
    for (auto const& drawing : {examples::drawing{2, 1}, examples::drawing{2, 2}, examples::drawing{3, 3}}) {
        auto heaviest = std::uint64_t{0};
        for (auto step = std::size_t{0}; step < 20; ++step) {
            auto sum = std::uint64_t{0};
            for (auto rank = std::size_t{0}; rank < drawing.ranks; ++rank) {
                for (auto const length : drawing.lengths(step, rank, phases[0].lengths)) {
                    sum += length;
                }
            }
            heaviest = std::max(heaviest, sum);
        }
        EXPECT_EQ(heaviest_step(phases, drawing, 20), static_cast<double>(heaviest));
    }
}

}  // namespace
}  // namespace evenkeel::examples::phases_test
