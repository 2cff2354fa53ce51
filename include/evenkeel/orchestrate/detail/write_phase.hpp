// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/orchestrate/detail/group_view.hpp>
#include <evenkeel/orchestrate/detail/step_problem.hpp>
#include <evenkeel/orchestrate/phase.hpp>
#include <evenkeel/orchestrate/step.hpp>

namespace evenkeel::detail {

/// Writes down plan and layout of a phase from the rank and the micro-batch of each item: within a list, items ascend.
class phase_writer {
  public:
    /// @param slots  How many micro-batches there are, and
    /// @param slot_of  the one of each sample.
    void operator()(step_problem const& problem, std::size_t number, group_view const& view, std::size_t slots,
                    std::span<micro_batch_id const> slot_of, phase_ranks const& chosen, planned_phase& result) {
        auto const& phase = problem.phases[number];
        world_size const world = problem.cluster.size();
        result.quality.assign(chosen.qualities.begin(), chosen.qualities.end());
        result.from_scratch = chosen.from_scratch;
        if (phase.given) {
            // As the caller has it, the order in each list included.
            result.plan = *phase.given;
            result.layout = layout_of(result.plan, phase.group, world);
            return;
        }
        result.plan.micro_batches = slots;
        result.plan.items.resize(chosen.rank_of.size());
        result.plan.offsets.resize(view.ranks() * slots + 1);
        result.layout.ranks = world;
        result.layout.places.resize(chosen.rank_of.size());
        used_.assign(view.ranks() * slots, 0);
        if (slots == 1) {
            write_one(problem, number, view, chosen.rank_of, result);
        } else {
            write_several(view, slots, slots_of_items(problem, number, slot_of), chosen.rank_of, result);
        }
    }

  private:
    [[nodiscard]] std::span<micro_batch_id const> slots_of_items(step_problem const& problem, std::size_t number,
                                                                 std::span<micro_batch_id const> slot_of) {
        if (number == problem.encoders()) {
            return slot_of;
        }
        auto const& owners = problem.amounts.phases[number].owners;
        slots_.resize(owners.size());
        for (std::size_t unit = 0; unit < owners.size(); ++unit) {
            slots_[unit] = slot_of[to_index(owners[unit])];
        }
        return slots_;
    }

    /// What stays with the rank that drew it takes one place after the other, without waiting for memory to say which
    /// is next; what is moved is collected first, as no processor foresees which it is.
    void write_one(step_problem const& problem, std::size_t number, group_view const& view,
                   std::span<std::uint32_t const> rank_of, planned_phase& result) {
        auto const places = std::span{result.layout.places};
        moved_.resize(std::max(moved_.size(), rank_of.size() + 1));
        problem.for_each_drawn(number, [&](world_rank drawn_on, std::size_t first, std::size_t last) {
            std::uint32_t const home = view.nearest(drawn_on, 0);
            world_rank const leader = view.leader(home);
            std::uint32_t next = used_[home];
            std::size_t moved = 0;
            for (std::size_t item = first; item < last; ++item) {
                std::uint32_t const stays = rank_of[item] == home ? 1 : 0;
                places[item] = {leader, {}, next};
                moved_[moved] = static_cast<std::uint32_t>(item);
                next += stays;
                moved += 1 - stays;
            }
            used_[home] = next;
            for (auto const item : std::span{moved_}.first(moved)) {
                places[item] = {view.leader(rank_of[item]), {}, used_[rank_of[item]]++};
            }
        });
        add_up_used(result.plan.offsets);
        auto const offsets = std::span{result.plan.offsets};
        auto const items = std::span{result.plan.items};
        for (std::size_t item = 0; item < rank_of.size(); ++item) {
            items[offsets[rank_of[item]] + places[item].position] = to_id<item_id>(item);
        }
    }

    void write_several(group_view const& view, std::size_t slots, std::span<micro_batch_id const> slot_of,
                       std::span<std::uint32_t const> rank_of, planned_phase& result) {
        auto const list = [&](std::size_t item) { return rank_of[item] * slots + to_index(slot_of[item]); };
        for (std::size_t item = 0; item < rank_of.size(); ++item) {
            result.layout.places[item] = {view.leader(rank_of[item]), slot_of[item], used_[list(item)]++};
        }
        add_up_used(result.plan.offsets);
        for (std::size_t item = 0; item < rank_of.size(); ++item) {
            std::size_t const place = result.plan.offsets[list(item)] + result.layout.places[item].position;
            result.plan.items[place] = to_id<item_id>(item);
        }
    }

    /// Where each list begins, once all are counted.
    void add_up_used(std::span<std::size_t> offsets) const noexcept {
        offsets.front() = 0;
        for (std::size_t list = 0; list < used_.size(); ++list) {
            offsets[list + 1] = offsets[list] + used_[list];
        }
    }

    std::vector<micro_batch_id> slots_;  ///< of each unit
    std::vector<std::uint32_t> used_;    ///< of each list
    std::vector<std::uint32_t> moved_;   ///< of what a world rank has drawn
};

}  // namespace evenkeel::detail
