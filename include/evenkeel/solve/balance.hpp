// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <functional>
#include <ranges>
#include <type_traits>
#include <utility>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/length.hpp>
#include <evenkeel/cost/cost_model.hpp>
#include <evenkeel/solve/detail/arguments.hpp>
#include <evenkeel/solve/detail/solve.hpp>
#include <evenkeel/solve/options.hpp>
#include <evenkeel/solve/workspace.hpp>

namespace evenkeel {

/// What turns each element of `Samples` into a `sample_length`: a function, a function object, a pointer to a member.
template <class Projection, class Samples>
concept length_of =
    std::ranges::input_range<Samples> && std::invocable<Projection&, std::ranges::range_reference_t<Samples>> &&
    sample_length<std::invoke_result_t<Projection&, std::ranges::range_reference_t<Samples>>>;

/// Splits a batch over ranks so that the costliest rank costs as little as possible.
///
///     auto const lengths = std::vector{900, 100, 500, 400};
///     auto const even = evenkeel::balance(lengths, evenkeel::rank_count{2}, evenkeel::linear_cost{});
///     // rank 0: samples 0 and 1    rank 1: samples 2 and 3    even.quality.gap() == 0
///
/// As below, with memory that is kept: from the second batch of the same shape on, nothing is allocated.
///
/// @return  A reference into `workspace`, valid until its next use.
template <std::ranges::input_range Samples, cost_model Model, length_of<Samples> Length = std::identity>
balanced const& balance(workspace& workspace, Samples&& samples, rank_count ranks, Model const& model,
                        balance_options options = {}, Length length = {}) {
    auto& weights = workspace.buffers().weights;
    weights.clear();
    if constexpr (std::ranges::sized_range<Samples>) {
        weights.reserve(static_cast<std::size_t>(std::ranges::size(samples)));
    }
    detail::require_options(options);
    for (auto&& sample : samples) {
        auto const whole = whole_length(std::invoke(length, std::forward<decltype(sample)>(sample)), options.resolution,
                                        "balance", weights.size());
        weights.push_back(model.weight(whole));
    }
    detail::require_counts("balance", weights.size(), ranks);
    detail::solve(workspace.buffers(), ranks, options);
    return workspace.buffers().result;
}

template <std::ranges::input_range Samples, cost_model Model, length_of<Samples> Length = std::identity>
[[nodiscard]] balanced balance(Samples&& samples, rank_count ranks, Model const& model, balance_options options = {},
                               Length length = {}) {
    workspace own;
    balance(own, std::forward<Samples>(samples), ranks, model, options, std::move(length));
    return std::move(own.buffers().result);
}

}  // namespace evenkeel
