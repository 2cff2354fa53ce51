// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <ranges>
#include <utility>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/length.hpp>
#include <evenkeel/cost/cost_model.hpp>
#include <evenkeel/solve/balance.hpp>
#include <evenkeel/solve/detail/solve_micro_batches.hpp>
#include <evenkeel/solve/micro_batch_options.hpp>
#include <evenkeel/solve/micro_batched.hpp>

namespace evenkeel {

namespace detail {

/// Reads lengths, weights and tokens. A model that rounds lengths says how many tokens are run.
template <class Samples, class Model, class Length>
void read_tokens(micro_batch_solver& solver, Samples&& samples, rank_count ranks, Model const& model,
                 micro_batch_options const& options, Length& length) {
    require_counts("micro_batches", 0, ranks);
    if (options.resolution == 0) {
        throw_invalid("micro_batches", "options.resolution", 0, "at least 1");
    }
    solver.weights.clear();
    solver.tokens.clear();
    for (auto&& sample : samples) {
        auto const whole = whole_length(std::invoke(length, std::forward<decltype(sample)>(sample)), options.resolution,
                                        "micro_batches", solver.weights.size());
        solver.weights.push_back(model.weight(whole));
        if constexpr (requires { model.run_length(whole); }) {
            solver.tokens.push_back(model.run_length(whole));
        } else {
            solver.tokens.push_back(whole);
        }
    }
    require_counts("micro_batches", solver.weights.size(), ranks);
}

}  // namespace detail

/// The memory that `micro_batches` works in. From the second batch of the same shape on, planning allocates nothing.
///
///     evenkeel::micro_batch_workspace space;                                       // lives as long as training
///     auto const& step = evenkeel::micro_batches(space, lengths, ranks, model);    // valid until the next use
///
/// Results do not depend on what a workspace was used for before. It belongs to one thread at a time.
class micro_batch_workspace {
  public:
    /// For the solvers.
    [[nodiscard]] detail::micro_batch_solver& solver() noexcept { return solver_; }

  private:
    detail::micro_batch_solver solver_;
};

/// How many micro-batches each rank needs so that none exceeds the cap on tokens.
///
///     // Ten samples of 7 tokens on two ranks, at most 8 tokens at a time: five micro-batches.
///     count_micro_batches(std::vector(10, 7), rank_count{2}, linear_cost{}, {.cap = 8}).count;   // 5
///
/// The first of two calls, for a caller who still has to take the maximum over something else: pass that to
/// `micro_batches` as `options.count`. Ranks that hold the same lengths get the same number without a message.
///
/// First fit, largest first, over the bins of all ranks and micro-batches; where that takes more than `lower_bound`,
/// the search of `micro_batches` with fewer, first as few as the bound. `lower_bound` counts the sum, items that do not
/// go in pairs, what does not fit beside them (Martello and Toth 1990), and items of which two, three, ... fill a
/// micro-batch (Fekete and Schepers 2001).
///
/// @throws infeasible             if a sample is longer than the cap, or `options.count` is below the bound.
/// @throws std::invalid_argument  as `micro_batches`.
/// @complexity O(n log n), and where first fit takes more than the bound, a few times what `micro_batches` takes
template <std::ranges::input_range Samples, cost_model Model, length_of<Samples> Length = std::identity>
[[nodiscard]] micro_batch_number count_micro_batches(Samples&& samples, rank_count ranks, Model const& model,
                                                     micro_batch_options const& options, Length length = {}) {
    auto const solver = std::make_unique<detail::micro_batch_solver>();
    detail::read_tokens(*solver, std::forward<Samples>(samples), ranks, model, options, length);
    return solver->count(ranks.value, options);
}

/// Splits a batch over ranks and micro-batches so that the step, in which ranks wait for each other after every
/// micro-batch, takes as little time as possible.
///
///     auto const costs = std::vector{9, 1, 9, 1};
///     auto const two = evenkeel::rank_count{2};
///     auto const step = evenkeel::micro_batches(costs, two, evenkeel::linear_cost{}, {.count = 2});
///     // micro-batch 0: 9 on both ranks; micro-batch 1: 1 on both: step.quality.sum_of_slowest == 10
///     step.plan.batch(evenkeel::rank_id{1}, evenkeel::micro_batch_id{0});   // sample 2
///
/// As few micro-batches as the cap allows, the same number on every rank; some may be empty. What decides is the sum
/// over micro-batches of the slowest rank. A heavy sample in each micro-batch would make all of them slow, so heavy
/// samples go together; where none is heavier than the mean, all micro-batches are alike. Longest first, then exchanges
/// that keep the cap. `quality` bounds both the number and the sum from below.
///
/// Tokens count as they are passed, or as the model rounds them (`rounded_cost`): whether real or padded lengths are
/// under the cap is the caller's choice.
///
/// @param samples  The batch. Read once; indexed by `item_id` in the plan.
/// @param length   Projects a sample to its length. Default: the sample is its length.
/// @throws infeasible             if a sample is longer than the cap, or `options.count` is below the bound; nothing is
///                                ever put over the cap.
/// @throws not_found              if the search finds no plan of `options.count` micro-batches. The number that
///                                `count_micro_batches` gives with the same options, and any larger, always works.
/// @throws std::invalid_argument  if `ranks` is zero, a length is negative or not a number, or an option makes no sense
///                                or contradicts another.
/// @throws std::overflow_error    if a weight, the sum of weights or of tokens does not fit into 64 bits.
/// @complexity O(n log n), and at most about `options.effort` steps per sample; where first fit takes more
///             micro-batches than the bound, a few times as many.
template <std::ranges::input_range Samples, cost_model Model, length_of<Samples> Length = std::identity>
[[nodiscard]] micro_batched micro_batches(Samples&& samples, rank_count ranks, Model const& model,
                                          micro_batch_options const& options = {}, Length length = {});

/// The same in memory that is kept.
///
/// @return  A reference into `workspace`, valid until its next use.
template <std::ranges::input_range Samples, cost_model Model, length_of<Samples> Length = std::identity>
micro_batched const& micro_batches(micro_batch_workspace& workspace, Samples&& samples, rank_count ranks,
                                   Model const& model, micro_batch_options const& options = {}, Length length = {}) {
    auto& solver = workspace.solver();
    detail::read_tokens(solver, std::forward<Samples>(samples), ranks, model, options, length);
    solver.plan(ranks.value, options);
    return solver.result;
}

template <std::ranges::input_range Samples, cost_model Model, length_of<Samples> Length>
micro_batched micro_batches(Samples&& samples, rank_count ranks, Model const& model, micro_batch_options const& options,
                            Length length) {
    auto const own = std::make_unique<micro_batch_workspace>();
    micro_batches(*own, std::forward<Samples>(samples), ranks, model, options, std::move(length));
    return std::move(own->solver().result);
}

}  // namespace evenkeel
