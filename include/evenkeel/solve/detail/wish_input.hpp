// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/solve/detail/bundles.hpp>
#include <evenkeel/solve/detail/named_sum.hpp>
#include <evenkeel/solve/detail/sorted_items.hpp>
#include <evenkeel/solve/detail/wish_arguments.hpp>
#include <evenkeel/solve/detail/wish_problem.hpp>
#include <evenkeel/solve/wishes.hpp>

namespace evenkeel::detail {

/// Turns a batch with wishes into a problem, and the problem's solution back into ranks of items.
class wish_input {
  public:
    void reserve(std::size_t items, std::size_t ranks) {
        problem.reserve(items, ranks);
        firsts.reserve(items);
    }

    /// For batches whose items are bundled.
    void reserve_bundles(std::size_t items) {
        bundles_.reserve(items);
        loads_.reserve(items);
        raw_.reserve(items);
        number_of_.reserve(items);
    }

    /// @param sorting  Memory.
    void read(std::span<std::uint64_t const> weights, std::size_t ranks, wishes const& asked, sorted_items& sorting,
              std::string_view function = "balance") {
        problem.clear(ranks);
        problem.limits = limits_of(asked, weights.size(), ranks);
        problem.items = weights.size();
        problem.speeds.assign(asked.speeds.begin(), asked.speeds.end());
        // Only ratios matter, and smaller numbers leave more room for times.
        std::uint64_t const common = std::accumulate(problem.speeds.begin(), problem.speeds.end(), std::uint64_t{0},
                                                     std::gcd<std::uint64_t, std::uint64_t>);
        for (auto& speed : problem.speeds) {
            speed /= common;
        }
        problem.fastest = problem.speeds.empty() ? 1 : *std::ranges::max_element(problem.speeds);
        for (auto const quantity : asked.quantities) {
            problem.total_quantity =
                named_sum(problem.total_quantity, quantity, function, "the sum of options.wishes.quantities");
        }
        firsts.clear();
        bundled_ = !asked.groups.empty() || !asked.pinned.empty();
        if (bundled_) {
            read_bundles(weights, asked, sorting, function);
        } else {
            read_items(weights, asked, sorting, function);
        }
        set_idle();
    }

    /// The loads of all bundles, if items are bundled. May be exchanged with others while that is undone in the end.
    [[nodiscard]] std::vector<std::uint64_t>& loads() noexcept { return loads_; }

    /// Takes ranks over from a solution for all items, or for all bundles if items are bundled.
    void take_over(std::span<std::uint32_t const> from, std::vector<std::uint32_t>& rank_of) const {
        rank_of.resize(problem.size());
        for (std::size_t bundle = 0; bundle < rank_of.size(); ++bundle) {
            rank_of[bundle] = from[bundled_ ? raw_[bundle] : firsts[bundle]];
        }
    }

    /// The bundle of the problem to which each item belongs, or `nowhere`: it is pinned, or does not matter.
    void number_items(std::size_t items, std::vector<std::uint32_t>& of_item) const {
        of_item.assign(items, nowhere);
        for (std::uint32_t bundle = 0; bundle < firsts.size() && !bundled_; ++bundle) {
            of_item[firsts[bundle]] = bundle;
        }
        for (std::size_t item = 0; item < items && bundled_; ++item) {
            of_item[item] = number_of_[bundles_.of_items()[item]];
        }
    }

    /// Sends the items where their bundles go.
    ///
    /// @param rank_of_item  Starts as the homes of the items.
    void place_items(std::span<std::uint32_t const> rank_of, std::span<std::uint32_t> rank_of_item) const {
        if (!bundled_) {
            for (std::size_t bundle = 0; bundle < rank_of.size(); ++bundle) {
                rank_of_item[firsts[bundle]] = rank_of[bundle];
            }
            return;
        }
        for (std::size_t item = 0; item < rank_of_item.size(); ++item) {
            auto const raw = bundles_.of_items()[item];
            auto const& own = bundles_.all()[raw];
            rank_of_item[item] = own.pin != unpinned          ? static_cast<std::uint32_t>(own.pin)
                                 : number_of_[raw] != nowhere ? rank_of[number_of_[raw]]
                                                              : rank_of_item[own.first];
        }
    }

    wish_problem problem;
    std::uint64_t unit = 1;             ///< of the problem's weights
    std::vector<std::uint32_t> firsts;  ///< the first item of each bundle of the problem

    static constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

  private:
    void read_items(std::span<std::uint64_t const> weights, wishes const& asked, sorted_items& sorting,
                    std::string_view function) {
        sort_items(function, weights, sorting);
        take_weights(asked, sorting);
        firsts.assign(sorting.positions.begin(), sorting.positions.end());
        if (problem.limits.quantity != rank_limits::none || problem.limits.counts()) {
            for (std::size_t item = 0; item < weights.size(); ++item) {
                if (weights[item] == 0 && may_matter(asked.quantities.empty() ? 0 : asked.quantities[item])) {
                    firsts.push_back(static_cast<std::uint32_t>(item));
                    problem.weights.push_back(0);
                }
            }
        }
        problem.counts.assign(problem.size(), 1);
        problem.quantities.assign(problem.size(), 0);
        if (!asked.quantities.empty()) {
            for (std::size_t bundle = 0; bundle < problem.size(); ++bundle) {
                problem.quantities[bundle] = asked.quantities[firsts[bundle]];
            }
        }
        problem.single = true;
    }

    void read_bundles(std::span<std::uint64_t const> weights, wishes const& asked, sorted_items& sorting,
                      std::string_view function) {
        reserve_bundles(weights.size());
        bundles_.read(weights, asked, function);
        auto const all = bundles_.all();
        problem.single = all.size() == weights.size();
        loads_.clear();
        for (auto const& own : all) {
            loads_.push_back(own.pin == unpinned ? own.what.load : 0);
            if (own.pin != unpinned) {
                auto& base = problem.base[to_index(own.pin)];
                base.load = named_sum(base.load, own.what.load, function, "the total load");
                base.quantity += own.what.quantity;
                base.count += own.what.count;
                base.working += own.what.load > 0 ? 1U : 0U;
            }
        }
        sort_items(function, loads_, sorting);
        take_weights(asked, sorting);
        raw_.assign(sorting.positions.begin(), sorting.positions.end());
        for (std::uint32_t raw = 0; raw < all.size(); ++raw) {
            if (all[raw].pin == unpinned && all[raw].what.load == 0 && may_matter(all[raw].what.quantity)) {
                raw_.push_back(raw);
                problem.weights.push_back(0);
            }
        }
        number_of_.assign(all.size(), nowhere);
        for (std::uint32_t bundle = 0; bundle < raw_.size(); ++bundle) {
            auto const& own = all[raw_[bundle]];
            number_of_[raw_[bundle]] = bundle;
            firsts.push_back(own.first);
            problem.quantities.push_back(own.what.quantity);
            problem.counts.push_back(static_cast<std::uint32_t>(own.what.count));
        }
    }

    /// Whether it matters where something goes that weighs nothing. What does not matter stays at home.
    [[nodiscard]] bool may_matter(std::uint64_t quantity) const noexcept {
        return quantity > 0 || problem.limits.counts();
    }

    void take_weights(wishes const& asked, sorted_items const& sorting) {
        // Pinned loads and times in units of the fastest rank need not be multiples of the unit.
        bool const in_units = asked.pinned.empty() && asked.speeds.empty();
        unit = in_units ? sorting.unit : 1;
        problem.grain = in_units ? 1 : sorting.unit;
        problem.total = sorting.total * problem.grain;
        problem.weights.assign(sorting.weights.begin(), sorting.weights.end());
        if (problem.grain > 1) {
            for (auto& weight : problem.weights) {
                weight *= problem.grain;
            }
        }
    }

    /// Each rank with something pinned works, and one more for each bundle that can go anywhere.
    void set_idle() {
        std::uint64_t idle = 0;
        for (auto const& base : problem.base) {
            idle += base.working == 0 ? 1U : 0U;
        }
        auto const first_idle = std::ranges::lower_bound(problem.weights, 0U, std::greater{});
        auto const working = static_cast<std::uint64_t>(first_idle - problem.weights.begin());
        problem.limits.idle_allowed = idle - std::min(idle, working);
    }

    bundles bundles_;
    bool bundled_ = false;
    std::vector<std::uint64_t> loads_;
    std::vector<std::uint32_t> raw_;        ///< the number among all bundles of each of the problem
    std::vector<std::uint32_t> number_of_;  ///< the reverse
};

}  // namespace evenkeel::detail
