// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <ranges>
#include <span>
#include <utility>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/core/length.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/cost/padded_model.hpp>
#include <evenkeel/solve/detail/rebalance_padded.hpp>
#include <evenkeel/solve/detail/stay_arguments.hpp>
#include <evenkeel/solve/rebalanced.hpp>

namespace evenkeel {

/// What `rebalance` aims for where batches are padded.
///
///     evenkeel::rebalance(lengths, home, cluster, evenkeel::padded_cost{}, {.tolerance = 0.1});   // 10 %, few bytes
struct padded_rebalance_options {
    /// How much busier than the optimum the busiest rank may be: the price that may be paid for moving less. What stays
    /// in its node is padded to what else is there, so this pays for padding, and bytes fall steeply with it.
    double tolerance = 5e-2;

    /// How many steps per sample the search for exchanges may take, where a batch of fewer than 1024 samples counts as
    /// one of 1024. A step is a comparison or so. Steps are counted, so the plan does not depend on the machine.
    std::uint64_t effort = 4096;

    /// How many parts of a unit of length count: 100 reads 2.54 seconds as 254 hundredths.
    std::uint64_t resolution = 1;

    /// What moving each item costs, if not its length: one size per item, and it may be 0.
    std::span<std::uint64_t const> bytes = {};

    /// Whether to compute how few bytes any plan must move. No plan depends on it.
    bool bounds = true;
};

/// The memory that `rebalance` works in where batches are padded: see `rebalance_workspace`.
class padded_rebalance_workspace {
  public:
    /// For `rebalance`.
    [[nodiscard]] detail::padded_stay_room& room() noexcept { return room_; }

  private:
    detail::padded_stay_room room_;
};

/// Evens out a batch whose samples are padded to the longest of their rank by moving as little of it as possible:
/// between nodes first of all, then inside them.
///
///     // Two nodes of two ranks each; each rank has drawn two samples.
///     auto const lengths = std::vector{6, 1, 6, 1, 4, 2, 4, 2};
///     auto const home = evenkeel::home_layout(std::vector<std::size_t>{2, 2, 2, 2});
///     auto const cluster = evenkeel::uniform_topology({4}, {2});
///     auto const kept = evenkeel::rebalance(lengths, home, cluster, evenkeel::padded_cost{});
///     // the busiest rank has 8 instead of 12; the samples of length 1 went to the other node, where 2s are together
///
/// The optimal plan sorts the samples of the whole cluster, so nearly all of them travel. But the longest samples of a
/// node also go together well as long as some padding is allowed. The plan is made in pods, runs of neighbouring nodes:
/// a batch is cut out of a single node where what it wastes is no more than an allowance, otherwise out of a pod of two
/// nodes, of four, and so on. The allowance is the largest for which the ranks suffice when none is above
/// (1 + tolerance) times the optimum. Then whole batches are given to the nodes that have most of them, and samples
/// change places with others that leave the padding as it is, wherever this brings one home. Of 40 samples per rank on
/// 256 ranks in nodes of 8, uniform lengths, 19 % of the bytes cross nodes at a tolerance of 5 % and 3 % at 10 %, where
/// the optimal plan sends 89 %, its batches on the best nodes; of long-tailed lengths 47 % and 30 % instead of 85 %.
///
/// The busiest rank is never above (1 + tolerance) times the optimum. Samples do not move if that holds already, nor do
/// those that cost nothing. `from_scratch` says that pods did not help: the plan is the optimal one, its batches given
/// to the nodes that have most of them. The bounds of the bytes are what nodes, or ranks, have to give away each for
/// itself; that all have to at once, they do not know. The plan depends on the arguments alone, ties broken by
/// position.
///
/// @param samples   The batch. Read once; indexed by `item_id` in the plan.
/// @param home      Where each sample is before anything moves.
/// @param topology  Which world ranks share a node: in any order, nodes of any size. Neighbouring nodes are those with
///                  neighbouring ids. The plan is over all world ranks.
/// @param model     What a padded sample costs; see `padded_model`.
/// @param length    Projects a sample to its length. Default: the sample is its length.
/// @throws std::invalid_argument  if arguments do not belong together, a length is negative or not a number, or an
///                                option makes no sense.
/// @throws std::overflow_error    if a weight, the load of a rank, the sum of these or of bytes exceeds 64 bits.
/// @complexity O(n log(nodes)) for each of about 12 allowances, then at most `options.effort` steps per sample; n calls
///             of `length`.
template <std::ranges::input_range Samples, padded_model Model, length_of<Samples> Length = std::identity>
[[nodiscard]] rebalanced rebalance(Samples&& samples, layout const& home, topology const& topology, Model const& model,
                                   padded_rebalance_options const& options = {}, Length length = {});

/// The same in memory that is kept: from the second batch of the same shape on, nothing is allocated.
///
/// @return  A reference into `workspace`, valid until its next use.
template <std::ranges::input_range Samples, padded_model Model, length_of<Samples> Length = std::identity>
rebalanced const& rebalance(padded_rebalance_workspace& workspace, Samples&& samples, layout const& home,
                            topology const& topology, Model const& model, padded_rebalance_options const& options = {},
                            Length length = {}) {
    if (options.resolution == 0) {
        throw_invalid("rebalance", "options.resolution", options.resolution, "at least 1");
    }
    auto& room = workspace.room();
    room.weights.clear();
    room.bytes.clear();
    if constexpr (std::ranges::sized_range<Samples>) {
        room.weights.reserve(static_cast<std::size_t>(std::ranges::size(samples)));
        room.bytes.reserve(static_cast<std::size_t>(std::ranges::size(samples)));
    }
    for (auto&& sample : samples) {
        auto const whole = whole_length(std::invoke(length, std::forward<decltype(sample)>(sample)), options.resolution,
                                        "rebalance", room.weights.size());
        room.weights.push_back(model.padded_weight(whole));
        room.bytes.push_back(whole);
    }
    auto const task = detail::read_stay_task(
        room, home, topology,
        {.tolerance = options.tolerance, .effort = options.effort, .bytes = options.bytes, .bounds = options.bounds});
    std::uint64_t total = 0;
    for (auto const size : task.bytes) {
        total = checked_add(total, size, "rebalance: the total of all bytes");
    }
    detail::rebalance_padded(room, task);
    return room.result;
}

template <std::ranges::input_range Samples, padded_model Model, length_of<Samples> Length>
rebalanced rebalance(Samples&& samples, layout const& home, topology const& topology, Model const& model,
                     padded_rebalance_options const& options, Length length) {
    auto const own = std::make_unique<padded_rebalance_workspace>();
    rebalance(*own, std::forward<Samples>(samples), home, topology, model, options, std::move(length));
    return std::move(own->room().result);
}

}  // namespace evenkeel
