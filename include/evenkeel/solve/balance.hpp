// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <ranges>
#include <utility>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/length.hpp>
#include <evenkeel/cost/cost_model.hpp>
#include <evenkeel/solve/detail/arguments.hpp>
#include <evenkeel/solve/detail/solve.hpp>
#include <evenkeel/solve/detail/solve_wishes.hpp>
#include <evenkeel/solve/options.hpp>
#include <evenkeel/solve/workspace.hpp>

namespace evenkeel {

/// Splits a batch over ranks so that the costliest rank costs as little as possible.
///
///     auto const lengths = std::vector{900, 100, 500, 400};
///     auto const even = evenkeel::balance(lengths, evenkeel::rank_count{2}, evenkeel::linear_cost{});
///     // rank 0: samples 0 and 1    rank 1: samples 2 and 3    even.quality.gap() == 0
///
/// Longest first, each to the rank that is cheapest at the time (Graham 1969). Unless that meets the lower bound, the
/// lightest samples are placed anew, so that they fill ranks exactly; then ranks above a target load near the bound
/// exchange samples with those below it, until the bound is met or `options.effort` is spent. What ranks hold of few
/// sizes, as tiles have, or with few samples per rank of a few hundred sizes, is chosen from patterns (Gilmore and
/// Gomory 1961), which also prove which sums there can be. `quality` says how far the result can be from the optimum: a
/// gap of 0 proves it, which is the rule with many samples per rank. Of a handful of samples every placement is tried,
/// and `quality.lower_bound` is then the optimum; of a few per rank, or of few sizes, it may be higher than
/// `lower_bound`. Never worse than longest first, so at most
/// 4/3 of the optimum whatever the effort; on up to 16 ranks with up to 1024 samples never worse than largest
/// differencing (Karmarkar and Karp 1982, ties by position) either, unless effort is 0 or the tolerance is met without.
///
/// The plan depends on the arguments alone, ties broken by position, so ranks that hold the same lengths may each call
/// this and agree without a message. A rank runs its samples in the order of the batch. A sample that costs nothing
/// stays where it was drawn, if all ranks drew the same number.
///
/// @param samples  The batch. Read once; indexed by `item_id` in the plan.
/// @param ranks    At least one. There may be more ranks than samples; the spare ones stay idle.
/// @param model    What a sample costs; see `cost_model`.
/// @param length   Projects a sample to its length. Default: the sample is its length.
/// @return         A partition of the batch and its quality.
/// @throws std::invalid_argument  if `ranks` is zero, a length is negative or not a number, or an option makes no
///                                sense.
/// @throws std::overflow_error    if a weight or their sum does not fit into 64 bits.
/// @throws infeasible, not_found  if `options.wishes` cannot be, or were not, met; see `wishes`.
/// @complexity O(n log(ranks)), and at most `options.effort` steps per sample as `balance_options` counts them; n calls
///             of `length`.
template <std::ranges::input_range Samples, cost_model Model, length_of<Samples> Length = std::identity>
[[nodiscard]] balanced balance(Samples&& samples, rank_count ranks, Model const& model, balance_options options = {},
                               Length length = {});

/// The same in memory that is kept: from the second batch of the same shape on, nothing is allocated.
///
/// @return  A reference into `workspace`, valid until its next use.
template <std::ranges::input_range Samples, cost_model Model, length_of<Samples> Length = std::identity>
balanced const& balance(workspace& workspace, Samples&& samples, rank_count ranks, Model const& model,
                        balance_options options = {}, Length length = {}) {
    detail::require_counts("balance", 0, ranks);
    detail::require_options(options);
    auto& weights = workspace.buffers().weights;
    // A copy, which no call in the loop can change: the loop becomes one of plain arithmetic.
    std::uint64_t const resolution = options.resolution;
    if constexpr (std::ranges::sized_range<Samples>) {
        weights.resize(static_cast<std::size_t>(std::ranges::size(samples)));
    } else {
        weights.clear();
    }
    std::size_t position = 0;
    for (auto&& sample : samples) {
        auto const whole =
            whole_length(std::invoke(length, std::forward<decltype(sample)>(sample)), resolution, "balance", position);
        if constexpr (std::ranges::sized_range<Samples>) {
            weights[position] = model.weight(whole);
        } else {
            weights.push_back(model.weight(whole));
        }
        ++position;
    }
    detail::require_counts("balance", weights.size(), ranks);
    if (options.wishes.any()) {
        detail::solve_wishes(workspace.buffers(), ranks, options);
    } else {
        detail::solve(workspace.buffers(), ranks, options);
    }
    return workspace.buffers().result;
}

template <std::ranges::input_range Samples, cost_model Model, length_of<Samples> Length>
balanced balance(Samples&& samples, rank_count ranks, Model const& model, balance_options options, Length length) {
    // Too large for some threads' stacks.
    auto const own = std::make_unique<workspace>();
    balance(*own, std::forward<Samples>(samples), ranks, model, options, std::move(length));
    return std::move(own->buffers().result);
}

}  // namespace evenkeel
