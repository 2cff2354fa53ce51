// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/cost/detail/least_squares.hpp>

namespace evenkeel {

/// One measured run of a phase on one batch: what the batch adds up to, and how long it took.
struct cost_observation {
    double squares = 0;  ///< sum of length^2 over the samples that were run
    double tokens = 0;   ///< sum of length
    double count = 0;    ///< how many samples
    double seconds = 0;
};

/// seconds = quadratic * squares + linear * tokens + fixed * count, none of them negative.
struct cost_fit {
    double quadratic = 0;
    double linear = 0;
    double fixed = 0;

    /// How far predictions are from the observations: root mean square of predicted / measured - 1.
    double residual = 0;

    [[nodiscard]] constexpr double seconds(double squares, double tokens, double count) const noexcept {
        return quadratic * squares + linear * tokens + fixed * count;
    }

    friend bool operator==(cost_fit const&, cost_fit const&) = default;
};

namespace detail {

/// Refuses what no batch can have taken.
inline void require_observations(std::span<cost_observation const> observations) {
    if (observations.empty()) {
        throw_invalid("fit", "observations.size()", 0, "at least 1");
    }
    for (std::size_t position = 0; position < observations.size(); ++position) {
        auto const& [squares, tokens, count, seconds] = observations[position];
        auto const require = [&](bool holds, double value, char const* member, char const* expected) {
            if (!holds || !std::isfinite(value)) {
                throw_invalid("fit", element("observations", position).append(member), value, expected);
            }
        };
        require(squares >= 0, squares, ".squares", "a finite number of at least 0");
        require(tokens >= 0, tokens, ".tokens", "a finite number of at least 0");
        require(count > 0, count, ".count", "a finite number above 0");
        require(seconds > 0, seconds, ".seconds", "a finite number above 0");
    }
}

/// Observations in powers of two of the largest of each number, which changes no digit and keeps the squares of
/// whatever unit finite.
class observation_scale {
  public:
    /// In the order in which coefficients are preferred, and last the seconds.
    using values = std::array<double, 4>;

    explicit observation_scale(std::span<cost_observation const> observations) {
        values largest{};
        for (auto const& of : observations) {
            for (std::size_t column = 0; column < largest.size(); ++column) {
                largest[column] = std::max(largest[column], values_of(of)[column]);
            }
        }
        for (std::size_t column = 0; column < largest.size(); ++column) {
            exponents_[column] = largest[column] > 0 ? std::ilogb(largest[column]) : 0;
        }
    }

    [[nodiscard]] values operator()(cost_observation const& of) const {
        auto result = values_of(of);
        for (std::size_t column = 0; column < result.size(); ++column) {
            result[column] = std::ldexp(result[column], -exponents_[column]);
        }
        return result;
    }

    /// A coefficient of scaled observations as that of the observations.
    [[nodiscard]] double undo(double coefficient, std::size_t column) const {
        return std::ldexp(coefficient, exponents_[3] - exponents_[column]);
    }

  private:
    [[nodiscard]] static values values_of(cost_observation const& of) {
        return {of.tokens, of.squares, of.count, of.seconds};
    }

    std::array<int, 4> exponents_{};
};

}  // namespace detail

/// The cost of a phase from measured step times, so that plans balance seconds instead of guesses.
///
///     auto const cost = evenkeel::fit(observations);       // one observation per batch that was timed
///     cost.residual;                                       // 0.05: predictions are about 5 % off
///     auto const model = evenkeel::quantise(cost, 1e12);   // an `attention_cost` in integers, for `balance`
///
/// Least squares of the relative error, as timings scatter in proportion to what they measure, under the condition that
/// no coefficient is negative. With three coefficients there are seven sets of those that are not zero: each is solved
/// by orthogonal projections, and of those without a negative coefficient the best is the optimum (C. L. Lawson and
/// R. J. Hanson, Solving Least Squares Problems, 1974, for the conditions).
///
/// Data that cannot tell coefficients apart, such as batches of samples of one length, are explained by as few
/// coefficients as explain them equally well, `linear` before `quadratic` before `fixed`: predictions are right for
/// batches like those observed; for others observe some of other lengths. Equal is meant to ten digits: sums that were
/// rounded to 32-bit `float`s agree to seven, so that their rounding may choose the coefficients, with predictions as
/// good for batches like those observed.
///
/// Coefficients are floating-point numbers and differ in their last bits between compilers. Fit on one rank, `quantise`
/// there, and send the integers to the others.
///
/// @throws std::invalid_argument  if there is no observation, or one has a value that is negative or not finite, no
///                                sample, or took no time or less than 1e-100 of the longest; if a coefficient is
///                                beyond what a `double` holds.
/// @complexity O(observations)
[[nodiscard]] inline cost_fit fit(std::span<cost_observation const> observations) {
    detail::require_observations(observations);
    detail::observation_scale const scaled{observations};
    constexpr double least = 1e-100;
    for (std::size_t position = 0; position < observations.size(); ++position) {
        if (scaled(observations[position])[3] < least) {
            throw_invalid("fit", element("observations", position).append(".seconds"), observations[position].seconds,
                          "no less than 1e-100 of the longest");
        }
    }

    detail::three_coefficients coefficients{};
    auto const predicted = [&](detail::observation_scale::values const& of) {
        return coefficients[0] * of[0] + coefficients[1] * of[1] + coefficients[2] * of[2];
    };
    // Errors relative to what was measured would favour what was measured too short: the later rounds take them
    // relative to what was predicted.
    constexpr int rounds = 4;
    for (int round = 0; round < rounds; ++round) {
        detail::triangle equations;
        for (auto const& observed : observations) {
            auto const of = scaled(observed);
            double const expected = round == 0 ? of[3] : predicted(of);
            double const scale = expected > least ? expected : of[3];
            equations.add({{of[0] / scale, of[1] / scale, of[2] / scale}, of[3] / scale});
        }
        coefficients = detail::non_negative_least_squares(equations);
    }

    double sum = 0;
    for (auto const& observed : observations) {
        auto const of = scaled(observed);
        double const error = predicted(of) / of[3] - 1;
        sum += error * error;
    }
    for (std::size_t column = 0; column < coefficients.size(); ++column) {
        coefficients[column] = scaled.undo(coefficients[column], column);
        if (!std::isfinite(coefficients[column])) {
            throw_invalid("fit", "observations", coefficients[column], "seconds and lengths whose ratio is finite");
        }
    }
    return {.quadratic = coefficients[1],
            .linear = coefficients[0],
            .fixed = coefficients[2],
            .residual = std::sqrt(sum / static_cast<double>(observations.size()))};
}

}  // namespace evenkeel
