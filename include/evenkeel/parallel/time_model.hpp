// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/parallel/detail/amounts.hpp>

namespace evenkeel {

/// One replica needs so long per sample, whatever its micro-batch: the ramps of its pipeline and everything that its
/// GPUs tell each other are in the figure.
struct seconds_per_sample {
    double seconds = 0;
    /// The same where the submodules share every GPU, so that a GPU sees fewer samples of each; 0: no different.
    double colocated = 0;

    friend bool operator==(seconds_per_sample const&, seconds_per_sample const&) = default;
};

/// Forward and backward of the whole submodule for one micro-batch over `tp` GPUs, their all-reduces included.
struct measured_time {
    std::uint64_t micro_batch = 1;
    std::size_t tp = 1;
    double seconds = 0;

    friend bool operator==(measured_time const&, measured_time const&) = default;
};

/// Times that were measured: for each tensor-parallel degree in use, one or more sizes of micro-batch, rising.
///
/// Between two sizes the time lies on the line through both. Below the smallest it stays: kernels do not get faster
/// than that. Above the largest the last line goes on. A degree without a row is not used.
struct time_table {
    std::vector<measured_time> rows = {};

    friend bool operator==(time_table const&, time_table const&) = default;
};

/// FLOPs over what a GPU achieves: best_efficiency * x / (x + half_efficiency) of its peak, where x is the work that a
/// kernel finds, micro-batch * tokens * hidden / tp.
///
/// The form is inferred: the paper shows that efficiency rises with the batch and the hidden size and gives no formula.
struct flops_time {
    /// Forward and backward; 0: 6 * parameters * tokens.
    double flops_per_sample = 0;
    /// The peak of one GPU.
    double flops_per_second = 0;
    double best_efficiency = 1;
    /// The x at which efficiency is half of the best; 0: always the best.
    double half_efficiency = 0;

    friend bool operator==(flops_time const&, flops_time const&) = default;
};

/// How long a submodule takes.
using time_model = std::variant<seconds_per_sample, time_table, flops_time>;

/// What `table` says of a micro-batch.
///
///     measured_seconds({{{.micro_batch = 1, .seconds = 2}, {.micro_batch = 3, .seconds = 4}}}, 2, 1);   // 3
///
/// @return  Nothing where `tp` was not measured.
[[nodiscard]] inline std::optional<double> measured_seconds(time_table const& table, std::uint64_t micro_batch,
                                                            std::size_t tp) {
    measured_time const* below = nullptr;
    measured_time const* above = nullptr;
    measured_time const* second_last = nullptr;
    for (auto const& row : table.rows) {
        if (row.tp != tp) {
            continue;
        }
        if (row.micro_batch <= micro_batch) {
            second_last = below;
            below = &row;
        } else if (above == nullptr) {
            above = &row;
        }
    }
    if (below == nullptr) {
        return above == nullptr ? std::nullopt : std::optional{above->seconds};
    }
    auto const through = [&](measured_time const& a, measured_time const& b) {
        double const slope = (b.seconds - a.seconds) / static_cast<double>(b.micro_batch - a.micro_batch);
        return a.seconds + slope * static_cast<double>(micro_batch - a.micro_batch);
    };
    if (below->micro_batch == micro_batch) {
        return below->seconds;
    }
    if (above != nullptr) {
        return through(*below, *above);
    }
    double const size = static_cast<double>(micro_batch) / static_cast<double>(below->micro_batch);
    if (second_last == nullptr || second_last->seconds >= below->seconds) {
        return below->seconds * size;
    }
    return through(*second_last, *below);
}

namespace detail {

inline void require_time_model(std::string_view function, std::string const& owner, time_model const& time) {
    if (auto const* const rate = std::get_if<seconds_per_sample>(&time)) {
        require_positive(function, owner + ".seconds_per_sample", rate->seconds);
        require_amount(function, owner + ".colocated_seconds_per_sample", rate->colocated);
    } else if (auto const* const table = std::get_if<time_table>(&time)) {
        if (table->rows.empty()) {
            throw_invalid(function, owner + ".time_table", "[]", "at least one row");
        }
        for (std::size_t i = 0; i < table->rows.size(); ++i) {
            auto const& row = table->rows[i];
            auto const name = element(owner + ".time_table", i);
            require_positive(function, name + ".seconds", row.seconds);
            if (row.micro_batch == 0 || row.tp == 0) {
                throw_invalid(function, name + (row.tp == 0 ? ".tp" : ".micro_batch"), 0, "at least 1");
            }
            auto const sibling = std::find_if(
                table->rows.begin(), table->rows.begin() + static_cast<std::ptrdiff_t>(i),
                [&](measured_time const& other) { return other.tp == row.tp && other.micro_batch >= row.micro_batch; });
            if (sibling != table->rows.begin() + static_cast<std::ptrdiff_t>(i)) {
                throw_invalid(
                    function, name + ".micro_batch", row.micro_batch,
                    "more than the " + std::to_string(sibling->micro_batch) + " of an earlier row of this tp");
            }
        }
    } else {
        auto const& flops = *std::get_if<flops_time>(&time);
        require_amount(function, owner + ".flops.per_sample", flops.flops_per_sample);
        require_positive(function, owner + ".flops.per_second", flops.flops_per_second);
        if (!(flops.best_efficiency >= least_amount && flops.best_efficiency <= 1)) {
            throw_invalid(function, owner + ".flops.best_efficiency", flops.best_efficiency,
                          "a share above 0, up to 1");
        }
        require_amount(function, owner + ".flops.half_efficiency", flops.half_efficiency);
    }
}

}  // namespace detail

}  // namespace evenkeel
