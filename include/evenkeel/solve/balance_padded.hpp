// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <ranges>
#include <utility>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/cost/padded_model.hpp>
#include <evenkeel/solve/balance.hpp>
#include <evenkeel/solve/detail/read_lengths.hpp>
#include <evenkeel/solve/detail/solve_padded.hpp>
#include <evenkeel/solve/options.hpp>
#include <evenkeel/solve/workspace.hpp>

namespace evenkeel {

/// Splits a batch whose samples are padded to the longest of their rank, so that the costliest rank costs as little as
/// possible: always the optimum.
///
///     auto const lengths = std::vector{900, 100, 500, 400};
///     auto const even = evenkeel::balance(lengths, evenkeel::rank_count{2}, evenkeel::padded_cost{});
///     // rank 0: sample 0    rank 1: samples 2, 3 and 1, padded to 500    even.quality.max_load == 1500
///
/// Some optimal plan cuts the samples, in falling order, into one run per rank: exchanging samples until it does makes
/// no rank's longest longer. For a given bound on the load, taking as many of the next samples as fit needs the fewest
/// ranks, and as each rank begins with its longest sample, that number is one division. The least bound for which the
/// ranks suffice is found by a search that checks four bounds at once. OrchMLLM (arXiv 2503.23830) publishes the same
/// in rising order, where each sample has to be looked at.
///
/// Loads are padded, and so are `quality.total_load`, the sum over the ranks of this plan, and the mean: `imbalance()`
/// compares ranks and does not count padding as waste. The gap is 0 unless `options` ask to stop earlier: the default
/// effort is more than a search can need, where a step is one rank's batch under four bounds.
///
/// Ties fall by position. A rank runs its samples longest first; those that weigh nothing, which are not padded either,
/// come last and stay where they were drawn, if all ranks drew the same number. Ranks may stay idle where a single
/// sample decides.
///
/// @throws std::invalid_argument  if `ranks` is zero, a length is negative or not a number, an option makes no sense,
///                                or there are `options.wishes`.
/// @throws std::overflow_error    if a weight, the load of a rank or their sum does not fit into 64 bits.
/// @complexity O(n) to sort; then O(ranks) for each of about 16 bounds; n calls of `length`.
template <std::ranges::input_range Samples, padded_model Model, length_of<Samples> Length = std::identity>
[[nodiscard]] balanced balance(Samples&& samples, rank_count ranks, Model const& model, balance_options options = {},
                               Length length = {});

/// The same in memory that is kept: from the second batch of the same shape on, nothing is allocated.
///
/// @return  A reference into `workspace`, valid until its next use.
template <std::ranges::input_range Samples, padded_model Model, length_of<Samples> Length = std::identity>
balanced const& balance(workspace& workspace, Samples&& samples, rank_count ranks, Model const& model,
                        balance_options options = {}, Length length = {}) {
    detail::refuse_wishes(options, "a padded_model");
    auto& weights = workspace.buffers().weights;
    weights.clear();
    weights.reserve(detail::expected_count(samples));
    detail::read_lengths(std::forward<Samples>(samples), ranks, options, length,
                         [&](std::uint64_t whole) { weights.push_back(model.padded_weight(whole)); });
    detail::solve_padded(workspace.buffers(), ranks, options);
    return workspace.buffers().result;
}

template <std::ranges::input_range Samples, padded_model Model, length_of<Samples> Length>
balanced balance(Samples&& samples, rank_count ranks, Model const& model, balance_options options, Length length) {
    auto const own = std::make_unique<workspace>();
    balance(*own, std::forward<Samples>(samples), ranks, model, options, std::move(length));
    return std::move(own->buffers().result);
}

}  // namespace evenkeel
