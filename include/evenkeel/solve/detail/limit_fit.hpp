// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/wish_problem.hpp>
#include <evenkeel/solve/wishes.hpp>

namespace evenkeel::detail {

/// Finds out whether a plan that was made without limits can be had within them.
///
/// Only what neither weighs anything nor counts for the cap may go elsewhere: there it stands in for counts, and stays
/// at home as far as they allow.
class limit_fit {
  public:
    void reserve(std::size_t ranks) {
        held_.reserve(ranks);
        rooms_.reserve(ranks);
    }

    /// @param rank_of_item  Changed only if the answer is yes.
    [[nodiscard]] bool operator()(wishes const& asked, rank_limits const& limits,
                                  std::span<std::uint64_t const> weights, std::size_t ranks,
                                  std::span<std::uint32_t> rank_of_item) {
        moved_ = false;
        held_.assign(ranks, {});
        std::uint64_t working = 0;
        std::uint64_t loose = 0;
        for (std::size_t item = 0; item < weights.size(); ++item) {
            auto& held = held_[rank_of_item[item]];
            std::uint64_t const quantity = asked.quantities.empty() ? 0 : asked.quantities[item];
            if (__builtin_add_overflow(held.quantity, quantity, &held.quantity)) {
                return false;
            }
            bool const weighs = weights[item] > 0;
            held.working += weighs ? 1U : 0U;
            working += weighs ? 1U : 0U;
            held.count += weighs || quantity > 0 ? 1U : 0U;
            loose += weighs || quantity > 0 ? 0U : 1U;
        }
        std::uint64_t const idle_allowed = ranks - std::min<std::uint64_t>(ranks, working);
        std::uint64_t idle = 0;
        for (auto const& held : held_) {
            idle += held.working == 0 ? 1U : 0U;
            if (held.quantity > limits.quantity || held.count > limits.most_items) {
                return false;
            }
        }
        if (limits.nobody_idle && idle > idle_allowed) {
            return false;
        }
        if (!limits.counts()) {
            return true;
        }
        if (!make_rooms(asked, limits, weights.size(), loose)) {
            return false;
        }
        send_loose(asked, weights, rank_of_item);
        return true;
    }

    /// Whether the last plan was changed.
    [[nodiscard]] bool moved() const noexcept { return moved_; }

  private:
    /// Says of each rank how many more it may have, or, of equal counts, has to have.
    bool make_rooms(wishes const& asked, rank_limits const& limits, std::size_t items, std::uint64_t loose) {
        std::size_t const ranks = held_.size();
        rooms_.clear();
        // Of equal counts, the remainder's ranks have one more: those that have it anyway, then the first.
        std::uint64_t longer = 0;
        for (auto const& held : held_) {
            longer += held.count > limits.least_items ? 1U : 0U;
        }
        std::uint64_t more = items % ranks - std::min<std::uint64_t>(longer, items % ranks);
        if (asked.equal_counts && (longer > items % ranks || limits.most_items < limits.least_items ||
                                   (more > 0 && limits.most_items == limits.least_items))) {
            return false;
        }
        std::uint64_t all = 0;
        for (auto const& held : held_) {
            std::uint64_t most = limits.most_items;
            if (asked.equal_counts && held.count <= limits.least_items) {
                most = limits.least_items + (more > 0 ? 1U : 0U);
                more -= more > 0 ? 1U : 0U;
            }
            rooms_.push_back(std::min(most - held.count, loose));
            all += rooms_.back();
        }
        return all >= loose;
    }

    void send_loose(wishes const& asked, std::span<std::uint64_t const> weights,
                    std::span<std::uint32_t> rank_of_item) {
        constexpr auto nowhere = std::numeric_limits<std::uint32_t>::max();
        auto const loose = [&](std::size_t item) {
            return weights[item] == 0 && (asked.quantities.empty() || asked.quantities[item] == 0);
        };
        for (std::size_t item = 0; item < weights.size(); ++item) {
            if (!loose(item)) {
                continue;
            }
            if (auto& room = rooms_[rank_of_item[item]]; room > 0) {
                --room;
            } else {
                rank_of_item[item] = nowhere;
                moved_ = true;
            }
        }
        std::uint32_t rank = 0;
        for (std::size_t item = 0; item < weights.size() && moved_; ++item) {
            if (rank_of_item[item] == nowhere) {
                while (rooms_[rank] == 0) {
                    ++rank;
                }
                --rooms_[rank];
                rank_of_item[item] = rank;
            }
        }
    }

    std::vector<holding> held_;
    std::vector<std::uint64_t> rooms_;
    bool moved_ = false;
};

}  // namespace evenkeel::detail
