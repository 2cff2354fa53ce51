// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/group.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/core/plan.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/place/detail/arguments.hpp>
#include <evenkeel/place/detail/relabel.hpp>
#include <evenkeel/place/options.hpp>
#include <evenkeel/place/relabelled.hpp>
#include <evenkeel/place/workspace.hpp>

namespace evenkeel {

/// Chooses the rank that each finished batch runs on, so that as few bytes as possible leave their node.
///
///     // Two nodes of one rank each. Rank 0 is to run items 2 and 3, which rank 1 has drawn, and the other way round.
///     auto const home = evenkeel::home_layout(std::vector<std::size_t>{2, 2});
///     auto const cluster = evenkeel::uniform_topology({2}, {1});
///     auto const close = evenkeel::relabel(plan, home, cluster, std::vector<std::uint64_t>{10, 20, 30, 40});
///     close.plan;              // the same batches, on the other ranks
///     close.between_nodes;     // 0 bytes, instead of 100
///     close.certificate();     // 1: proves that no choice of ranks is better
///
/// Which rank runs which batch does not change any batch, so the loads stay as they are; a plan made without regard to
/// homes costs fewer bytes for nothing. Which batch goes to which node is an assignment problem: it is solved by an
/// auction (Bertsekas and Castanon 1989) to some 3e-4 of the optimum, and the final prices prove how far it can be
/// off; on request, to the optimum by shortest paths. For the busiest node, batches of the busiest node are exchanged
/// afterwards for as long as that helps; nearly always this ends at the lower bound. Inside a node the rank that keeps
/// most bytes takes the batch, exactly up to 64 ranks per node, and what nobody keeps is dealt out so that the ranks'
/// own traffic with other nodes is level.
///
/// Never more bytes between nodes than in `plan`, and the same plan where nothing is gained. The result depends on the
/// arguments alone. Ranks exchange whole batches, micro-batches with them, so they should be alike: same speed, same
/// memory.
///
/// This overload keeps its memory: from the second plan of the same shape on, nothing is allocated.
///
/// @param plan      A partition of the items over the ranks of `group`.
/// @param home      Where the items are before they move.
/// @param group     The instances of the phase. A batch goes to the node of its instance's leader.
/// @param topology  Which world ranks share a node: in any order, nodes of any size.
/// @param bytes     Of each item; they need not have to do with its weight, and may be 0.
/// @return          A reference into `workspace`, valid until its next use.
/// @throws std::invalid_argument  if the arguments do not belong together.
/// @throws std::overflow_error    if all items together have 2^62 bytes or more.
/// @complexity O(items + ranks) and about two bids per rank, each over the nodes that a batch draws from; with
///             `relabel_objective::busiest` a pass over these per exchange.
inline relabelled const& relabel(relabel_workspace& workspace, plan const& plan, layout const& home, group const& group,
                                 topology const& topology, std::span<std::uint64_t const> bytes,
                                 relabel_options const& options = {}) {
    auto& room = workspace.room();
    detail::require_arguments(plan, home, topology, bytes, options);
    detail::require_leaders(plan, group, topology, room.slots);
    detail::relabel(plan, home, topology, bytes, options, room);
    return room.result;
}

/// The same for a plan over all world ranks.
inline relabelled const& relabel(relabel_workspace& workspace, plan const& plan, layout const& home,
                                 topology const& topology, std::span<std::uint64_t const> bytes,
                                 relabel_options const& options = {}) {
    auto& room = workspace.room();
    detail::require_arguments(plan, home, topology, bytes, options);
    if (plan.ranks().value != topology.size().value) {
        throw_invalid("relabel", "plan.ranks()", plan.ranks().value,
                      "the " + std::to_string(topology.size().value) + " ranks of the world");
    }
    room.slots.leaders.resize(plan.ranks().value);
    std::iota(room.slots.leaders.begin(), room.slots.leaders.end(), 0U);
    detail::relabel(plan, home, topology, bytes, options, room);
    return room.result;
}

/// The same for once, with memory of its own.
[[nodiscard]] inline relabelled relabel(plan const& plan, layout const& home, group const& group,
                                        topology const& topology, std::span<std::uint64_t const> bytes,
                                        relabel_options const& options = {}) {
    relabel_workspace own;
    relabel(own, plan, home, group, topology, bytes, options);
    return std::move(own.room().result);
}

/// The same for once and for a plan over all world ranks.
[[nodiscard]] inline relabelled relabel(plan const& plan, layout const& home, topology const& topology,
                                        std::span<std::uint64_t const> bytes, relabel_options const& options = {}) {
    relabel_workspace own;
    relabel(own, plan, home, topology, bytes, options);
    return std::move(own.room().result);
}

}  // namespace evenkeel
