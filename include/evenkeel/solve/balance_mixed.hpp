// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <ranges>
#include <utility>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/cost/padded_model.hpp>
#include <evenkeel/solve/balance.hpp>
#include <evenkeel/solve/detail/read_lengths.hpp>
#include <evenkeel/solve/detail/solve_mixed.hpp>
#include <evenkeel/solve/options.hpp>
#include <evenkeel/solve/workspace.hpp>

namespace evenkeel {

/// Splits a batch that is padded in one part of a phase and packed in another, so that the costliest rank costs as
/// little as possible.
///
///     auto const lengths = std::vector{6, 6, 5, 5};
///     auto const even = evenkeel::balance(lengths, evenkeel::rank_count{2}, evenkeel::conv_attention_cost{});
///     // rank 0: samples 0 and 2    rank 1: samples 1 and 3    even.quality.max_load == 23 = 2 * 6 + 6 + 5
///
/// Neither sorting into runs, which is optimal for padding alone (24 here), nor longest first, which ignores padding,
/// comes near the optimum; it is NP-hard, as balancing is its special case. For a bound on the load, ranks are filled
/// one after the other around the longest sample that is left: with as many samples as suit it, the largest and the
/// smallest that go together without much padding, and what then fits best. A search looks for the least bound for
/// which the ranks suffice; exchanges between the busiest ranks and others follow. Of a handful of samples every
/// partition is tried.
///
/// `quality.lower_bound` counts padding only where it is provable. Of up to eight sizes, such as tiles, it knows what
/// ranks can hold, and most plans turn out to be the optimum; of many it is mostly the mean without padding, so a gap
/// of some thousandths may well be the optimum. Loads and mean are as for a `padded_model`; ties, order and samples
/// that weigh nothing as for a `cost_model`.
///
/// @throws std::invalid_argument  if `ranks` is zero, a length is negative or not a number, an option makes no sense,
///                                or `options.wishes` has a wish.
/// @throws std::overflow_error    if a weight, the load of a rank or their sum does not fit into 64 bits.
/// @complexity O(n) to sort; at most `options.effort` steps per sample to search; n calls of `length`.
template <std::ranges::input_range Samples, mixed_model Model, length_of<Samples> Length = std::identity>
[[nodiscard]] balanced balance(Samples&& samples, rank_count ranks, Model const& model, balance_options options = {},
                               Length length = {});

/// The same in memory that is kept: from the second batch of the same shape on, nothing is allocated.
///
/// @return  A reference into `workspace`, valid until its next use.
template <std::ranges::input_range Samples, mixed_model Model, length_of<Samples> Length = std::identity>
balanced const& balance(workspace& workspace, Samples&& samples, rank_count ranks, Model const& model,
                        balance_options options = {}, Length length = {}) {
    detail::refuse_wishes(options, "a mixed_model");
    auto& whole = workspace.buffers().weights;
    auto& padded = workspace.buffers().mixed.padded;
    whole.clear();
    padded.clear();
    whole.reserve(detail::expected_count(samples));
    padded.reserve(detail::expected_count(samples));
    detail::read_lengths(std::forward<Samples>(samples), ranks, options, length, [&](std::uint64_t one) {
        padded.push_back(model.padded_weight(one));
        whole.push_back(checked_add(padded.back(), model.packed_weight(one), "balance: the weight of a sample"));
    });
    detail::solve_mixed(workspace.buffers(), ranks, options);
    return workspace.buffers().result;
}

template <std::ranges::input_range Samples, mixed_model Model, length_of<Samples> Length>
balanced balance(Samples&& samples, rank_count ranks, Model const& model, balance_options options, Length length) {
    auto const own = std::make_unique<workspace>();
    balance(*own, std::forward<Samples>(samples), ranks, model, options, std::move(length));
    return std::move(own->buffers().result);
}

}  // namespace evenkeel
