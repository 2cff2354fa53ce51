// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/cost/attention.hpp>
#include <evenkeel/cost/fit.hpp>

namespace evenkeel {

/// A fitted cost as the integers that `balance` decides by.
///
///     auto const model = evenkeel::quantise(cost, 1e12);   // a weight of 1 is a picosecond
///
/// Every coefficient is multiplied by the resolution and rounded once, so it is off by half a unit at most. Choose a
/// resolution that leaves the smallest coefficient that matters a few hundred units, and all loads together below 2^64:
/// at 1e15, that is five hours in all.
///
/// @param resolution  How many units a second has.
/// @throws std::invalid_argument  if a coefficient is negative or not a number, the resolution is not above 0, or
///                                nothing is left of a fit that was not zero.
/// @throws std::overflow_error    if a coefficient does not fit into 64 bits.
[[nodiscard]] inline attention_cost quantise(cost_fit const& fit, double resolution) {
    if (!(resolution > 0) || !std::isfinite(resolution)) {
        throw_invalid("quantise", "resolution", resolution, "a finite number above 0");
    }
    auto const whole = [&](double coefficient, char const* name) {
        if (!(coefficient >= 0)) {
            throw_invalid("quantise", name, coefficient, "at least 0");
        }
        double const scaled = std::round(coefficient * resolution);
        if (!(scaled < 18446744073709551616.0)) {
            throw std::overflow_error{std::string{"quantise: "}.append(name).append(" exceeds 64 bits")};
        }
        return static_cast<std::uint64_t>(scaled);
    };
    attention_cost const result{.linear = whole(fit.linear, "fit.linear"),
                                .quadratic = whole(fit.quadratic, "fit.quadratic"),
                                .fixed = whole(fit.fixed, "fit.fixed")};
    bool const something = fit.linear > 0 || fit.quadratic > 0 || fit.fixed > 0;
    if (something && result == attention_cost{.linear = 0, .quadratic = 0, .fixed = 0}) {
        throw_invalid("quantise", "resolution", resolution, "a resolution that leaves something of the coefficients");
    }
    return result;
}

}  // namespace evenkeel
