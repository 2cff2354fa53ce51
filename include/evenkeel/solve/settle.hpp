// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/solve/detail/arguments.hpp>
#include <evenkeel/solve/detail/export_choice.hpp>
#include <evenkeel/solve/detail/node_packing.hpp>
#include <evenkeel/solve/detail/stay_items.hpp>
#include <evenkeel/solve/detail/stay_state.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>
#include <evenkeel/solve/flows.hpp>
#include <evenkeel/solve/lower_bound.hpp>

namespace evenkeel {

/// Which items of a node go to which other node.
struct node_exports {
    std::vector<std::uint32_t> items;  ///< by their positions in what the node holds, receiver after receiver
    std::vector<node_id> receivers;
    std::vector<std::size_t> offsets = {0};  ///< receiver i gets items[offsets[i]] .. items[offsets[i + 1])

    friend bool operator==(node_exports const&, node_exports const&) = default;
};

/// Chooses what one node gives away, so that it loses what its flows say, or as little more as possible.
///
///     // Node 0 gives 10 to node 1.
///     std::vector<std::uint64_t> const weights{9, 3, 7, 0, 5};
///     evenkeel::settle_exports(weights, flows.from(evenkeel::node_id{0})).items;   // 2 and 1, of 7 and 3
///
/// All ranks of the node call it with the items of the node and choose the same.
///
/// @param weights  Of all items that the ranks of the node hold.
/// @param flows    What the node gives, and to whom; `node_flows::from`.
/// @throws std::invalid_argument  if the flows are more than the items weigh.
/// @throws std::overflow_error    if the sum of the weights does not fit into 64 bits.
/// @complexity O(items log(items)) and a pass over the items per flow
[[nodiscard]] inline node_exports settle_exports(std::span<std::uint64_t const> weights,
                                                 std::span<node_flow const> flows) {
    std::vector<detail::export_item> list(weights.size());
    for (std::size_t item = 0; item < weights.size(); ++item) {
        list[item] = {weights[item], weights[item], static_cast<std::uint32_t>(item)};
    }
    std::ranges::sort(list, [](detail::export_item const& a, detail::export_item const& b) {
        return a.weight > b.weight || (a.weight == b.weight && a.item < b.item);
    });
    std::erase_if(list, [](detail::export_item const& item) { return item.weight == 0; });

    node_exports result;
    detail::export_choice choice;
    detail::step_budget steps{16 * weights.size() + 4096};
    std::uint64_t surplus = 0;
    std::uint64_t left = 0;
    for (auto const weight : weights) {
        left = checked_add(left, weight, "settle_exports: the sum of the weights");
    }
    for (auto const& flow : flows) {
        // What went too much before need not go now.
        std::uint64_t const wanted = flow.weight - std::min(flow.weight, surplus);
        surplus -= flow.weight - wanted;
        if (wanted > left) {
            throw_invalid("settle_exports", "flows", flow.weight,
                          "at most the " + std::to_string(left + (flow.weight - wanted)) + " that are left");
        }
        if (wanted > 0) {
            choice(list, true, wanted, steps);
            surplus += choice.weight() - wanted;
            left -= choice.weight();
            for (auto const position : choice.positions()) {
                result.items.push_back(list[position].item);
                list[position].weight = 0;
            }
        }
        std::erase_if(list, [](detail::export_item const& item) { return item.weight == 0; });
        result.receivers.push_back(flow.to);
        result.offsets.push_back(result.items.size());
    }
    return result;
}

namespace detail {

/// What `settle_ranks` remembers from call to call: memory alone, no state.
struct settle_room {
    stay_items items;
    node_ranks ranks;
    stay_state state;
    node_packing packing;
    std::vector<std::uint32_t> home_ranks;
    std::vector<std::uint32_t> home_nodes;
    std::vector<std::uint32_t> nodes_of_ranks;
    std::vector<std::uint32_t> rank_of;
};

}  // namespace detail

/// The memory that `settle_ranks` works in, so that it allocates little from the second call on. It belongs to one
/// thread.
class settle_workspace {
  public:
    /// For `settle_ranks`.
    [[nodiscard]] detail::settle_room& room() noexcept { return room_; }

  private:
    detail::settle_room room_;
};

/// Chooses the rank of everything that a node has once it has given and received, moving little, so that no rank
/// exceeds the target, or what no plan of the node stays below. Where that is not found, ranks may have an 8192nd
/// more, and so on with twice the step.
///
///     // A node of two ranks: 0 has kept items of 5 and 4, 1 one of 3, and one of 2 has arrived, whose home is none.
///     std::vector<std::uint64_t> const weights{5, 4, 3, 2};
///     std::vector<std::uint32_t> const homes{0, 0, 1, 2};
///     evenkeel::settle_ranks(space, weights, homes, evenkeel::rank_count{2}, 7);   // 0, 1, 1, 0: 7 on either rank
///
/// All ranks of the node call it with the same items, in the same order, and choose the same.
///
/// @param weights  Of what stayed and of what was received.
/// @param homes    The rank of the node, from 0, that has each item now; `ranks.value` for what was received.
/// @return         The rank of the node for each item; valid until the next use of `workspace`.
/// @throws std::invalid_argument  if there is no rank, not one home per item, or a home that is no rank of the node.
/// @throws std::overflow_error    if the sum of the weights does not fit into 64 bits.
/// @complexity That of `rebalance` for as many items.
inline std::vector<std::uint32_t> const& settle_ranks(settle_workspace& workspace,
                                                      std::span<std::uint64_t const> weights,
                                                      std::span<std::uint32_t const> homes, rank_count ranks,
                                                      std::uint64_t target) {
    detail::require_counts("settle_ranks", weights.size(), ranks);
    if (homes.size() != weights.size()) {
        throw_invalid("settle_ranks", "homes.size()", homes.size(),
                      "one for each of " + std::to_string(weights.size()) + " items");
    }
    auto& room = workspace.room();
    room.home_ranks.assign(homes.begin(), homes.end());
    room.home_nodes.assign(homes.size(), 0);
    room.nodes_of_ranks.assign(ranks.value, 0);
    room.rank_of.assign(homes.begin(), homes.end());
    for (std::size_t item = 0; item < homes.size(); ++item) {
        if (homes[item] > ranks.value) {
            throw_invalid("settle_ranks", element("homes", item), homes[item],
                          "at most the " + std::to_string(ranks.value) + " ranks of the node");
        }
        if (homes[item] == ranks.value) {
            room.home_ranks[item] = detail::no_rank;
            room.rank_of[item] = 0;
        }
    }
    room.ranks.assign(room.nodes_of_ranks, 1);
    auto& items = room.items;
    items.assign("settle_ranks", {.weights = weights,
                                  .bytes = weights,
                                  .home_ranks = room.home_ranks,
                                  .home_nodes = room.home_nodes,
                                  .classes = {},
                                  .nodes_of_ranks = room.nodes_of_ranks,
                                  .nodes = 1});
    if (items.size() == 0) {
        return room.rank_of;
    }
    std::uint64_t limit = std::max(target / items.unit(), detail::lower_bound(items.sorted(), ranks.value));
    detail::step_budget steps{1024 * std::max<std::uint64_t>(1024, weights.size())};
    room.state.go_home(items, room.ranks);
    std::uint64_t step = limit / 8192 + 1;
    while (!room.packing(room.state, 0, limit, 4, steps)) {
        limit += std::min(step, room.state.busiest_load() - limit);
        step *= 2;
    }
    for (auto const item : items.order()) {
        room.rank_of[item] = room.state.rank_of(item);
    }
    return room.rank_of;
}

}  // namespace evenkeel
