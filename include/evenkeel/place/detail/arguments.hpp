// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/group.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/core/partition.hpp>
#include <evenkeel/core/plan.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/place/detail/node_slots.hpp>
#include <evenkeel/place/options.hpp>

namespace evenkeel::detail {

/// Refuses arguments that do not belong together, as far as that shows without a look at every item.
inline void require_arguments(plan const& plan, layout const& home, topology const& topology,
                              std::span<std::uint64_t const> bytes, relabel_options const& options) {
    require_options(options);
    // The full check allocates, so it is left for when there is something to say.
    if (plan.micro_batches == 0 || plan.offsets.empty() || (plan.offsets.size() - 1) % plan.micro_batches != 0 ||
        plan.offsets.front() != 0 || plan.offsets.back() != plan.items.size() || plan.items.size() != home.size() ||
        !std::is_sorted(plan.offsets.begin(), plan.offsets.end())) {
        require_partition("relabel", plan, home.size());
    }
    if (home.size() >= max_items) {
        throw_invalid("relabel", "home.size()", home.size(), "fewer than " + std::to_string(max_items) + " items");
    }
    if (bytes.size() != home.size()) {
        throw_invalid("relabel", "bytes.size()", bytes.size(),
                      "one size for each of " + std::to_string(home.size()) + " items");
    }
    if (topology.size() != home.ranks) {
        throw_invalid("relabel", "topology.size()", topology.size().value,
                      "the world of `home`, " + std::to_string(home.ranks.value) + " ranks");
    }
    if (topology.nodes() > topology.size().value) {
        throw_invalid("relabel", "topology.nodes()", topology.nodes(),
                      "at most one node for each of " + std::to_string(topology.size().value) + " ranks");
    }
}

/// Fills `slots.leaders`; refuses a group that is not fit for the world or not the one of the plan.
inline void require_leaders(plan const& plan, group const& group, topology const& topology, node_slots& slots) {
    std::size_t const world = topology.size().value;
    auto const& offsets = group.offsets;
    bool sound = !offsets.empty() && offsets.front() == 0 && offsets.back() == group.members.size() &&
                 std::adjacent_find(offsets.begin(), offsets.end(), std::greater_equal{}) == offsets.end();
    slots.filled.assign(world, 0);
    for (std::size_t position = 0; sound && position < group.members.size(); ++position) {
        std::size_t const member = to_index(group.members[position]);
        sound = member < world && slots.filled[member]++ == 0;
    }
    if (!sound) {
        require_group("relabel", group, {world});
    }
    if (plan.ranks() != group.ranks()) {
        throw_invalid("relabel", "plan.ranks()", plan.ranks().value,
                      "the " + std::to_string(group.ranks().value) + " ranks of the group");
    }
    slots.leaders.resize(group.ranks().value);
    for (std::size_t rank = 0; rank < slots.leaders.size(); ++rank) {
        slots.leaders[rank] = static_cast<std::uint32_t>(group.leader(to_id<rank_id>(rank)));
    }
}

}  // namespace evenkeel::detail
