// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <utility>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/core/length.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/cost/cost_model.hpp>
#include <evenkeel/solve/detail/rebalance.hpp>
#include <evenkeel/solve/detail/rebalance_wishes.hpp>
#include <evenkeel/solve/detail/stay_arguments.hpp>
#include <evenkeel/solve/rebalanced.hpp>

namespace evenkeel {

/// The memory that `rebalance` works in. From the second batch of the same shape on, it allocates nothing.
///
///     evenkeel::rebalance_workspace space;                                             // lives as long as training
///     auto const& kept = evenkeel::rebalance(space, lengths, home, cluster, model);    // valid until the next use
///
/// Results do not depend on what a workspace was used for before. It belongs to one thread at a time.
class rebalance_workspace {
  public:
    /// For `rebalance`.
    [[nodiscard]] detail::stay_room& room() noexcept { return room_; }
    [[nodiscard]] detail::wish_stay_room& wishes() noexcept { return wishes_; }

  private:
    detail::stay_room room_;
    detail::wish_stay_room wishes_;
};

/// Evens a batch out by moving as little of it as possible: between nodes first of all, then inside them.
///
///     // Two nodes of two ranks each; each rank has drawn two samples.
///     auto const lengths = std::vector{9, 3, 2, 2, 4, 2, 3, 2};
///     auto const home = evenkeel::home_layout(std::vector<std::size_t>{2, 2, 2, 2});
///     auto const cluster = evenkeel::uniform_topology({4}, {2});
///     auto const kept = evenkeel::rebalance(lengths, home, cluster, evenkeel::linear_cost{});
///     // the busiest rank has 9, which no plan beats; 3 tokens went to the next rank, none to another node
///
/// A batch that is balanced without regard to homes and then relabelled still sends most of its bytes to other nodes,
/// because nearly every rank's batch comes from everywhere. Here everything stays, but for what has to go: nodes with
/// more than their ranks may have give away a choice of samples that hits the excess, then the ranks of each node even
/// out among themselves. That is load rebalancing (Aggarwal, Motwani, Zhu 2006) on a network of two levels. With many
/// samples per rank the bytes between nodes are within some percent of the least possible, a small share of all; with a
/// handful of samples per rank that all weigh about the same, they can be a few times as many, and a larger tolerance
/// helps.
///
/// The busiest rank ends at no more than (1 + tolerance) times the larger of the lower bound and what `balance`
/// reaches with its own default effort, whatever the batch: if staying at home does not get there, the plan is made
/// from scratch, and `from_scratch` says so. Samples that are balanced already do not move, nor do those that cost
/// nothing. The plan depends on the arguments alone, ties broken by position.
///
/// @param samples   The batch. Read once; indexed by `item_id` in the plan.
/// @param home      Where each sample is before anything moves.
/// @param topology  Which world ranks share a node: in any order, nodes of any size. The plan is over all world ranks.
/// @param model     What a sample costs; see `cost_model`.
/// @param length    Projects a sample to its length. Default: the sample is its length.
/// @throws std::invalid_argument  if arguments do not belong together, a length is negative or not a number, or an
///                                option makes no sense.
/// @throws std::overflow_error    if a weight, the sum of weights or that of bytes does not fit into 64 bits.
/// @throws infeasible, not_found  if `options.wishes` cannot be, or were not, met; see `wishes`.
/// @complexity O(n), and at most `options.effort` steps per sample, four times as many where that does not get there,
///             and those from scratch; n calls of `length`.
template <std::ranges::input_range Samples, cost_model Model, length_of<Samples> Length = std::identity>
[[nodiscard]] rebalanced rebalance(Samples&& samples, layout const& home, topology const& topology, Model const& model,
                                   rebalance_options const& options = {}, Length length = {});

/// The same in memory that is kept: from the second batch of the same shape on, nothing is allocated.
///
/// @return  A reference into `workspace`, valid until its next use.
template <std::ranges::input_range Samples, cost_model Model, length_of<Samples> Length = std::identity>
rebalanced const& rebalance(rebalance_workspace& workspace, Samples&& samples, layout const& home,
                            topology const& topology, Model const& model, rebalance_options const& options = {},
                            Length length = {}) {
    if (options.resolution == 0) {
        throw_invalid("rebalance", "options.resolution", options.resolution, "at least 1");
    }
    auto& room = workspace.room();
    // A copy, which no call in the loop can change: the loop becomes one of plain arithmetic.
    std::uint64_t const resolution = options.resolution;
    room.bytes.clear();
    if constexpr (std::ranges::sized_range<Samples>) {
        room.weights.resize(static_cast<std::size_t>(std::ranges::size(samples)));
        room.bytes.reserve(room.weights.size());
    } else {
        room.weights.clear();
    }
    bool const given = !options.bytes.empty();
    // Bytes that are the weights, as they mostly are, are not written down a second time.
    bool apart = false;
    std::uint64_t total = 0;
    bool too_much = false;
    std::size_t position = 0;
    for (auto&& sample : samples) {
        auto const whole = whole_length(std::invoke(length, std::forward<decltype(sample)>(sample)), resolution,
                                        "rebalance", position);
        std::uint64_t const weight = model.weight(whole);
        if (weight != whole && !apart && !given) {
            room.bytes.assign(room.weights.data(), room.weights.data() + position);
            apart = true;
        }
        if constexpr (std::ranges::sized_range<Samples>) {
            room.weights[position] = weight;
        } else {
            room.weights.push_back(weight);
        }
        if (apart) {
            room.bytes.push_back(whole);
        }
        too_much = __builtin_add_overflow(total, given ? 0 : whole, &total) || too_much;
        ++position;
    }
    auto const task = detail::read_stay_task(room, home, topology, options);
    for (auto const size : options.bytes) {
        too_much = __builtin_add_overflow(total, size, &total) || too_much;
    }
    if (too_much) {
        throw std::overflow_error{"rebalance: the total of all bytes exceeds 64 bits"};
    }
    if (options.wishes.any()) {
        detail::wished_stay{room, workspace.wishes(), task, options.wishes}();
    } else {
        detail::rebalance(room, task);
    }
    return room.result;
}

template <std::ranges::input_range Samples, cost_model Model, length_of<Samples> Length>
rebalanced rebalance(Samples&& samples, layout const& home, topology const& topology, Model const& model,
                     rebalance_options const& options, Length length) {
    // Too large for some threads' stacks.
    auto const own = std::make_unique<rebalance_workspace>();
    rebalance(*own, std::forward<Samples>(samples), home, topology, model, options, std::move(length));
    return std::move(own->room().result);
}

}  // namespace evenkeel
