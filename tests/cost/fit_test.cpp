// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/cost/attention.hpp>
#include <evenkeel/cost/fit.hpp>
#include <evenkeel/cost/quantise.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::fit_test {
namespace {

/// Batches of `samples` lengths each, as a rank draws them: many short, few long.
std::vector<cost_observation> batches(std::size_t count, std::uint64_t seed) {
    test::seeded random{seed};
    std::vector<cost_observation> result(count);
    for (auto& batch : result) {
        std::uint64_t const samples = random.between(8, 72);
        batch.count = static_cast<double>(samples);
        for (std::uint64_t sample = 0; sample < samples; ++sample) {
            auto const octave = random.between(4, 12);
            auto const length = static_cast<double>(random.between(1ULL << octave, 2ULL << octave));
            batch.tokens += length;
            batch.squares += length * length;
        }
    }
    return result;
}

/// What `truth` says, off by `noise` times a number that is about normal: the sum of twelve even ones.
std::vector<cost_observation> timed(std::vector<cost_observation> batches, cost_fit const& truth, double noise,
                                    std::uint64_t seed) {
    test::seeded random{seed};
    for (auto& batch : batches) {
        double normal = -6;
        for (int i = 0; i < 12; ++i) {
            normal += static_cast<double>(random.up_to(1'000'000)) * 1e-6;
        }
        batch.seconds = truth.seconds(batch.squares, batch.tokens, batch.count) * (1 + noise * normal);
    }
    return batches;
}

double relative_error(double found, double expected) { return std::abs(found / expected - 1); }

/// Root mean square error of predictions for fresh batches.
double prediction_error(cost_fit const& found, cost_fit const& truth, std::uint64_t seed) {
    double sum = 0;
    auto const fresh = batches(500, seed);
    for (auto const& batch : fresh) {
        double const error = relative_error(found.seconds(batch.squares, batch.tokens, batch.count),
                                            truth.seconds(batch.squares, batch.tokens, batch.count));
        sum += error * error;
    }
    return std::sqrt(sum / static_cast<double>(fresh.size()));
}

/// From tokens that decide to attention that decides, also without one or two of the coefficients.
constexpr cost_fit truths[] = {
    {.quadratic = 2.4e-11, .linear = 6e-7, .fixed = 3e-5}, {.quadratic = 1e-10, .linear = 1e-7, .fixed = 1e-4},
    {.quadratic = 1e-12, .linear = 6e-7, .fixed = 0},      {.quadratic = 0, .linear = 5e-7, .fixed = 2e-5},
    {.quadratic = 3e-11, .linear = 0, .fixed = 0},         {.quadratic = 0, .linear = 0, .fixed = 1e-3},
};

TEST(fit, finds_the_coefficients_of_a_cost_from_the_times_of_three_batches) {
    // 2 * squares + 3 * tokens + 5 * count, batches {1}, {2} and {1, 4}.
    auto const observations = std::vector<cost_observation>{{1, 1, 1, 10}, {4, 2, 1, 19}, {17, 5, 2, 59}};
    auto const found = fit(observations);

    EXPECT_NEAR(found.quadratic, 2, 1e-9);
    EXPECT_NEAR(found.linear, 3, 1e-9);
    EXPECT_NEAR(found.fixed, 5, 1e-9);
    EXPECT_NEAR(found.residual, 0, 1e-9);
}

TEST(fit, gives_exact_data_their_coefficients_back) {
    for (auto const& truth : truths) {
        auto const found = fit(timed(batches(200, 1), truth, 0, 2));
        auto const near = [&](double value, double expected, double scale) {
            EXPECT_LE(std::abs(value - expected), 1e-6 * (expected > 0 ? expected : scale));
        };
        near(found.quadratic, truth.quadratic, 1e-11);
        near(found.linear, truth.linear, 1e-7);
        near(found.fixed, truth.fixed, 1e-5);
    }
}

TEST(fit, predicts_fresh_batches_within_one_percent_from_200_observations_with_5_percent_noise) {
    // What is left is chance: three coefficients from 200 numbers are off by 0.05 * sqrt(3 / 200), 0.6 %, at best.
    constexpr int seeds = 20;
    for (auto const& truth : truths) {
        double sum = 0;
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
            auto const found = fit(timed(batches(200, seed), truth, 0.05, 100 + seed));
            double const error = prediction_error(found, truth, 200 + seed);
            sum += error * error;
            EXPECT_LE(error, 0.015) << "seed " << seed;
            EXPECT_NEAR(found.residual, 0.05, 0.01);
        }
        EXPECT_LE(std::sqrt(sum / seeds), 0.0075);
    }
}

TEST(fit, never_gives_a_negative_coefficient) {
    // Half of the time is noise, so that unconstrained least squares would go below zero.
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        auto const found = fit(timed(batches(3 + seed % 10, seed), truths[seed % 6], 0.15, seed));
        EXPECT_GE(found.quadratic, 0);
        EXPECT_GE(found.linear, 0);
        EXPECT_GE(found.fixed, 0);
        EXPECT_TRUE(std::isfinite(found.residual));
    }
}

TEST(fit, is_not_beaten_by_any_other_coefficients_that_are_not_negative) {
    auto const error = [](std::vector<cost_observation> const& data, cost_fit const& of) {
        double sum = 0;
        for (auto const& batch : data) {
            double const predicted = of.seconds(batch.squares, batch.tokens, batch.count);
            sum += (predicted - batch.seconds) * (predicted - batch.seconds) / (predicted * predicted);
        }
        return sum;
    };
    test::seeded random{7};
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        auto const data = timed(batches(30, seed), truths[seed % 6], 0.1, seed);
        auto const best = fit(data);
        for (int i = 0; i < 100; ++i) {
            auto other = best;
            for (double* const coefficient : {&other.quadratic, &other.linear, &other.fixed}) {
                *coefficient *= 0.9 + 0.2 * static_cast<double>(random.up_to(1000)) * 1e-3;
            }
            // The error counts relative to what is predicted, so a factor of all three changes nothing that matters.
            double const scale = best.seconds(1e8, 1e5, 40) / other.seconds(1e8, 1e5, 40);
            for (double* const coefficient : {&other.quadratic, &other.linear, &other.fixed}) {
                *coefficient *= scale;
            }
            EXPECT_LE(error(data, best), error(data, other) * 1.02) << "seed " << seed;
        }
    }
}

TEST(fit, explains_samples_of_one_length_by_their_tokens) {
    // Nothing tells the three apart: 100 tokens each, 0.5 seconds a sample.
    auto const observations = std::vector<cost_observation>{{10'000, 100, 1, 0.5}, {30'000, 300, 3, 1.5}};
    auto const found = fit(observations);

    EXPECT_EQ(found.quadratic, 0);
    EXPECT_NEAR(found.linear, 0.005, 1e-12);
    EXPECT_EQ(found.fixed, 0);
    EXPECT_NEAR(found.seconds(20'000, 200, 2), 1.0, 1e-9);
}

TEST(fit, explains_collinear_data_by_as_few_coefficients_as_do) {
    // Batches of one 10 and one 30: count and tokens are the same but for a factor, squares too.
    auto const truth = cost_fit{.quadratic = 1e-3, .linear = 1e-2, .fixed = 0.1};
    std::vector<cost_observation> data;
    for (double size = 1; size < 20; ++size) {
        data.push_back({1000 * size, 40 * size, 2 * size, truth.seconds(1000, 40, 2) * size});
    }
    auto const found = fit(data);

    EXPECT_GT(found.linear, 0);
    EXPECT_EQ(found.quadratic, 0);
    EXPECT_EQ(found.fixed, 0);
    EXPECT_NEAR(found.seconds(7000, 280, 14), truth.seconds(7000, 280, 14), 1e-9);
    EXPECT_NEAR(found.residual, 0, 1e-9);
}

TEST(fit, of_one_observation_is_a_cost_per_token) {
    auto const found = fit(std::vector<cost_observation>{{50, 10, 2, 4}});

    EXPECT_EQ(found.quadratic, 0);
    EXPECT_NEAR(found.linear, 0.4, 1e-12);
    EXPECT_EQ(found.fixed, 0);
}

TEST(fit, refuses_what_was_not_measured) {
    auto const fitting = [](std::vector<cost_observation> observations) { return [=] { (void)fit(observations); }; };
    auto const says = [](char const* text) {
        return testing::ThrowsMessage<std::invalid_argument>(testing::StartsWith(text));
    };
    EXPECT_THAT(fitting({}), says("fit: observations.size() = 0, expected at least 1"));
    EXPECT_THAT(fitting({{1, 1, 1, 1}, {1, 1, 1, 0}}), says("fit: observations[1].seconds = 0, expected"));
    EXPECT_THAT(fitting({{-1, 1, 1, 1}}), says("fit: observations[0].squares = -1, expected"));
    EXPECT_THAT(fitting({{1, std::nan(""), 1, 1}}), says("fit: observations[0].tokens = nan, expected"));
    EXPECT_THAT(fitting({{1, 1, 0, 1}}), says("fit: observations[0].count = 0, expected"));
    EXPECT_THAT(fitting({{1, 1, 1, std::numeric_limits<double>::infinity()}}),
                says("fit: observations[0].seconds = inf"));
}

TEST(fit, is_the_same_in_whatever_unit) {
    auto const observations = timed(batches(50, 3), truths[0], 0.05, 4);
    auto const plain = fit(observations);
    for (double const unit : {0x1p-700, 0x1p-100, 0x1p+100, 0x1p+700}) {
        auto slower = observations;
        auto longer = observations;
        for (std::size_t position = 0; position < observations.size(); ++position) {
            slower[position].seconds *= unit;
            longer[position].tokens *= unit;
        }
        auto const slow = fit(slower);
        EXPECT_EQ(slow.quadratic, plain.quadratic * unit);
        EXPECT_EQ(slow.linear, plain.linear * unit);
        EXPECT_EQ(slow.fixed, plain.fixed * unit);
        EXPECT_EQ(slow.residual, plain.residual);
        auto const long_ones = fit(longer);
        EXPECT_EQ(long_ones.quadratic, plain.quadratic);
        EXPECT_EQ(long_ones.linear, plain.linear / unit);
        EXPECT_EQ(long_ones.residual, plain.residual);
    }
}

TEST(fit, refuses_what_leaves_the_range_of_its_numbers) {
    auto const fitting = [](std::vector<cost_observation> observations) { return [=] { (void)fit(observations); }; };
    EXPECT_THAT(fitting({{1, 1, 1, 1e60}, {1, 1, 1, 1e-60}}),
                testing::ThrowsMessage<std::invalid_argument>(
                    "fit: observations[1].seconds = 1e-60, expected no less than 1e-100 of the longest"));
    EXPECT_THAT(fitting({{0, 1e-200, 1e-200, 1e200}}),
                testing::ThrowsMessage<std::invalid_argument>(testing::StartsWith("fit: observations = inf")));
}

TEST(quantise, makes_integers_of_a_fit) {
    auto const model = quantise({.quadratic = 2.4e-11, .linear = 6e-7, .fixed = 3e-5}, 1e12);

    EXPECT_EQ(model, (attention_cost{.linear = 600'000, .quadratic = 24, .fixed = 30'000'000}));
}

TEST(quantise, rounds_each_coefficient_once) {
    auto const model = quantise({.quadratic = 0.4, .linear = 1.5, .fixed = 2.6}, 1);

    EXPECT_EQ(model, (attention_cost{.linear = 2, .quadratic = 0, .fixed = 3}));
    EXPECT_EQ(quantise({}, 1), (attention_cost{.linear = 0, .quadratic = 0, .fixed = 0}));
}

TEST(quantise, refuses_what_would_not_be_the_cost_any_more) {
    auto const quantising = [](cost_fit fit, double resolution) { return [=] { (void)quantise(fit, resolution); }; };
    EXPECT_THAT(quantising({.linear = 1e-7}, 1), testing::Throws<std::invalid_argument>());
    EXPECT_THAT(quantising({.linear = 1}, 0), testing::Throws<std::invalid_argument>());
    EXPECT_THAT(quantising({.linear = -1}, 1), testing::Throws<std::invalid_argument>());
    EXPECT_THAT(quantising({.linear = 1e10}, 1e10),
                testing::ThrowsMessage<std::overflow_error>("quantise: fit.linear exceeds 64 bits"));
}

}  // namespace
}  // namespace evenkeel::fit_test
