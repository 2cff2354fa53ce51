// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

namespace evenkeel::detail {

using three_coefficients = std::array<double, 3>;

/// factors[0] * x[0] + factors[1] * x[1] + factors[2] * x[2] = value, more or less.
struct equation {
    three_coefficients factors;
    double value;
};

/// Any number of equations in three unknowns, reduced to four that have the same least squares.
///
/// Each equation is rotated into the triangle (W. Givens 1958), which keeps all digits: the squares of the factors,
/// which normal equations would be made of, lose half of them when the columns are nearly alike, as sums of lengths
/// are.
class triangle {
  public:
    void add(equation const& one) noexcept {
        std::array<double, 4> row{one.factors[0], one.factors[1], one.factors[2], one.value};
        for (std::size_t pivot = 0; pivot < 4; ++pivot) {
            auto& own = rows_[pivot];
            double const length = std::hypot(own[pivot], row[pivot]);
            if (length == 0) {
                continue;
            }
            double const cosine = own[pivot] / length;
            double const sine = row[pivot] / length;
            for (std::size_t column = pivot; column < 4; ++column) {
                double const before = own[column];
                own[column] = cosine * before + sine * row[column];
                row[column] = cosine * row[column] - sine * before;
            }
        }
    }

    /// Row and column; column 3 holds the values.
    [[nodiscard]] double at(std::size_t row, std::size_t column) const noexcept { return rows_[row][column]; }

  private:
    std::array<std::array<double, 4>, 4> rows_{};
};

/// Least squares with some of the unknowns, the others being zero.
struct partial_solution {
    three_coefficients coefficients{};
    double squared_error = 0;
};

/// @param unknowns  Which, in rising order.
/// @return          Nothing where they are dependent, to ten digits.
[[nodiscard]] inline std::optional<partial_solution> solve_some(triangle const& equations,
                                                                std::span<std::size_t const> unknowns) {
    // Projections of the columns on one another, one after the other (modified Gram-Schmidt).
    std::array<std::array<double, 4>, 3> columns{};
    std::array<double, 4> value{};
    for (std::size_t row = 0; row < 4; ++row) {
        value[row] = equations.at(row, 3);
        for (std::size_t index = 0; index < unknowns.size(); ++index) {
            columns[index][row] = equations.at(row, unknowns[index]);
        }
    }
    auto const dot = [](std::array<double, 4> const& a, std::array<double, 4> const& b) {
        return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
    };
    std::array<std::array<double, 4>, 3> upper{};
    for (std::size_t index = 0; index < unknowns.size(); ++index) {
        double const before = dot(columns[index], columns[index]);
        for (std::size_t other = 0; other < index; ++other) {
            upper[other][index] = dot(columns[other], columns[index]) / dot(columns[other], columns[other]);
            for (std::size_t row = 0; row < 4; ++row) {
                columns[index][row] -= upper[other][index] * columns[other][row];
            }
        }
        double const after = dot(columns[index], columns[index]);
        constexpr double dependent = 1e-20;
        if (!(after > dependent * before)) {
            return std::nullopt;
        }
        upper[index][3] = dot(columns[index], value) / after;
        for (std::size_t row = 0; row < 4; ++row) {
            value[row] -= upper[index][3] * columns[index][row];
        }
    }
    partial_solution result{.coefficients = {}, .squared_error = dot(value, value)};
    for (std::size_t index = unknowns.size(); index-- > 0;) {
        double coefficient = upper[index][3];
        for (std::size_t later = index + 1; later < unknowns.size(); ++later) {
            coefficient -= upper[index][later] * result.coefficients[unknowns[later]];
        }
        result.coefficients[unknowns[index]] = coefficient;
    }
    return result;
}

/// The non-negative coefficients with the least squared error; of equally good ones, the fewest and the first.
[[nodiscard]] inline three_coefficients non_negative_least_squares(triangle const& equations) {
    constexpr std::array<std::pair<std::size_t, std::array<std::size_t, 3>>, 7> sets{{
        {1, {0, 0, 0}},
        {1, {1, 0, 0}},
        {1, {2, 0, 0}},
        {2, {0, 1, 0}},
        {2, {0, 2, 0}},
        {2, {1, 2, 0}},
        {3, {0, 1, 2}},
    }};
    double everything = 0;
    for (std::size_t row = 0; row < 4; ++row) {
        everything += equations.at(row, 3) * equations.at(row, 3);
    }
    partial_solution best{.coefficients = {}, .squared_error = everything};
    for (auto const& [size, unknowns] : sets) {
        auto const found = solve_some(equations, std::span{unknowns}.first(size));
        if (!found || *std::ranges::min_element(found->coefficients) < 0) {
            continue;
        }
        // What is better by rounding alone is not better.
        if (found->squared_error < best.squared_error * (1 - 1e-9) - 1e-28 * everything) {
            best = *found;
        }
    }
    return best.coefficients;
}

}  // namespace evenkeel::detail
