// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/infeasible.hpp>
#include <evenkeel/solve/detail/sorted_items.hpp>
#include <evenkeel/solve/detail/wish_problem.hpp>
#include <evenkeel/solve/wishes.hpp>

namespace evenkeel::detail {

/// Refuses wishes that say nothing clear about a batch.
inline void require_wishes(wishes const& asked, std::size_t items, std::size_t ranks) {
    auto const require_size = [](char const* name, std::size_t size, std::size_t expected, char const* of) {
        if (size != 0 && size != expected) {
            throw_invalid("balance", std::string{"options.wishes."}.append(name).append(".size()"), size,
                          "one for each of the " + std::to_string(expected) + of);
        }
    };
    require_size("quantities", asked.quantities.size(), items, " samples");
    require_size("groups", asked.groups.size(), items, " samples");
    require_size("pinned", asked.pinned.size(), items, " samples");
    require_size("speeds", asked.speeds.size(), ranks, " ranks");
    if (!asked.quantities.empty() && !asked.cap) {
        throw_invalid("balance", "options.wishes.cap", "none", "a cap, as options.wishes.quantities are given");
    }
    if (asked.quantities.empty() && asked.cap && items > 0) {
        throw_invalid("balance", "options.wishes.quantities.size()", 0,
                      "one for each sample, as options.wishes.cap is given");
    }
    for (std::size_t item = 0; item < asked.pinned.size(); ++item) {
        if (asked.pinned[item] != unpinned && to_index(asked.pinned[item]) >= ranks) {
            throw_invalid("balance", element("options.wishes.pinned", item), to_index(asked.pinned[item]),
                          "a rank below " + std::to_string(ranks) + ", or unpinned");
        }
    }
    auto const idle = std::ranges::find(asked.speeds, 0U);
    if (idle != asked.speeds.end()) {
        throw_invalid("balance",
                      element("options.wishes.speeds", static_cast<std::size_t>(idle - asked.speeds.begin())), 0,
                      "at least 1");
    }
}

/// Where an item of the batch goes, once it is known where bundles go.
struct item_way {
    enum class kind : std::uint8_t { bundle, pinned, at_home };
    kind way = kind::bundle;
    std::uint32_t number = 0;  ///< the bundle, the rank, or the item whose home it is
};

/// Turns a batch with wishes into bundles that are to be placed.
class wish_input {
  public:
    void reserve(std::size_t items, std::size_t ranks) {
        problem.reserve(items, ranks);
        ways.reserve(items);
        keys_.reserve(items);
        bundle_of_.reserve(items);
        raw_.reserve(items);
        movable_.reserve(items);
        number_of_.reserve(items);
        firsts.reserve(items);
    }

    /// @param sorting  Memory.
    void read(std::span<std::uint64_t const> weights, std::size_t ranks, wishes const& asked, sorted_items& sorting) {
        problem.clear(ranks);
        set_limits(weights.size(), ranks, asked);
        bundle_items(weights, asked);
        set_base(asked);
        sort_bundles(asked, sorting);
        set_ways(asked);
        set_idle();
    }

    /// Exchanges `weights` with the loads of all bundles, by their first items.
    void swap_bundle_loads(std::vector<std::uint64_t>& weights) noexcept { weights.swap(movable_); }

    /// Visits the bundles of the problem with their numbers among all.
    template <class Visit>
    void for_each_bundle(Visit visit) const {
        for (std::size_t raw = 0; raw < number_of_.size(); ++raw) {
            if (number_of_[raw] < problem.size()) {
                visit(raw, std::size_t{number_of_[raw]});
            }
        }
    }

    wish_problem problem;
    std::vector<item_way> ways;         ///< of each item
    std::uint64_t unit = 1;             ///< of the problem's weights
    std::vector<std::uint32_t> firsts;  ///< the first item of each bundle of the problem

  private:
    struct raw_bundle {
        holding what;
        std::uint32_t first = 0;
        rank_id pin = unpinned;
    };

    void set_limits(std::size_t items, std::size_t ranks, wishes const& asked) {
        auto& limits = problem.limits;
        problem.items = items;
        limits.quantity = asked.cap.value_or(rank_limits::none);
        limits.most_items = asked.count_cap.value_or(rank_limits::none);
        if (asked.equal_counts) {
            limits.least_items = items / ranks;
            limits.most_items =
                std::min<std::uint64_t>(limits.most_items, items / ranks + (items % ranks != 0 ? 1U : 0U));
        }
        limits.nobody_idle = asked.no_empty_rank;
        problem.speeds.assign(asked.speeds.begin(), asked.speeds.end());
        problem.fastest = asked.speeds.empty() ? 1 : *std::ranges::max_element(asked.speeds);
    }

    void bundle_items(std::span<std::uint64_t const> weights, wishes const& asked) {
        number_bundles(weights.size(), asked.groups);
        for (std::size_t item = 0; item < weights.size(); ++item) {
            if (bundle_of_[item] == raw_.size()) {
                raw_.push_back({.what = {}, .first = static_cast<std::uint32_t>(item), .pin = unpinned});
            }
            auto& own = raw_[bundle_of_[item]];
            own.what.load = checked_add(own.what.load, weights[item], "balance: the load of a group");
            if (!asked.quantities.empty()) {
                own.what.quantity += asked.quantities[item];
                problem.total_quantity = checked_add(problem.total_quantity, asked.quantities[item],
                                                     "balance: the sum of options.wishes.quantities");
            }
            ++own.what.count;
            if (!asked.pinned.empty() && asked.pinned[item] != unpinned) {
                if (own.pin != unpinned && own.pin != asked.pinned[item]) {
                    // One of the two would have to leave its rank.
                    throw infeasible{"balance: options.wishes.groups with options.wishes.pinned", item, 1};
                }
                own.pin = asked.pinned[item];
            }
        }
        problem.single = raw_.size() == weights.size();
    }

    /// Bundles are numbered by their first items.
    void number_bundles(std::size_t items, std::span<std::uint32_t const> groups) {
        raw_.clear();
        bundle_of_.resize(items);
        if (groups.empty()) {
            for (std::size_t item = 0; item < items; ++item) {
                bundle_of_[item] = static_cast<std::uint32_t>(item);
            }
            return;
        }
        keys_.clear();
        for (std::size_t item = 0; item < items; ++item) {
            keys_.push_back(std::uint64_t{groups[item]} << 32 | item);
        }
        std::ranges::sort(keys_);
        // First to the first item of its group, then to the number of bundles before that.
        std::uint32_t first = 0;
        for (std::size_t place = 0; place < items; ++place) {
            auto const item = static_cast<std::uint32_t>(keys_[place]);
            auto const group = keys_[place] >> 32;
            if (place == 0 || group == ungrouped || group != keys_[place - 1] >> 32) {
                first = item;
            }
            bundle_of_[item] = first;
        }
        std::uint32_t bundles = 0;
        for (std::size_t item = 0; item < items; ++item) {
            bundle_of_[item] = bundle_of_[item] == item ? bundles++ : bundle_of_[bundle_of_[item]];
        }
    }

    void set_base(wishes const& asked) {
        if (asked.pinned.empty()) {
            return;
        }
        for (auto const& raw : raw_) {
            if (raw.pin != unpinned) {
                auto& base = problem.base[to_index(raw.pin)];
                base.load = checked_add(base.load, raw.what.load, "balance: the total load");
                base.quantity += raw.what.quantity;
                base.count += raw.what.count;
                base.working += raw.what.load > 0 ? 1U : 0U;
            }
        }
    }

    void sort_bundles(wishes const& asked, sorted_items& sorting) {
        movable_.clear();
        for (auto const& raw : raw_) {
            movable_.push_back(raw.pin == unpinned ? raw.what.load : 0);
        }
        sort_items("balance", movable_, sorting);
        // Pinned loads and times in units of the fastest rank need not be multiples of the unit.
        bool const in_units = asked.pinned.empty() && asked.speeds.empty();
        unit = in_units ? sorting.unit : 1;
        std::uint64_t const factor = in_units ? 1 : sorting.unit;
        problem.total = sorting.total * factor;
        problem.grain = factor;
        constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();
        number_of_.assign(raw_.size(), nowhere);
        firsts.clear();
        auto const take = [&](std::size_t raw, std::uint64_t weight) {
            number_of_[raw] = static_cast<std::uint32_t>(problem.size());
            problem.weights.push_back(weight);
            problem.quantities.push_back(raw_[raw].what.quantity);
            problem.counts.push_back(static_cast<std::uint32_t>(raw_[raw].what.count));
            firsts.push_back(raw_[raw].first);
        };
        for (std::size_t place = 0; place < sorting.size(); ++place) {
            take(sorting.positions[place], sorting.weights[place] * factor);
        }
        // What weighs nothing and is in no limit's way stays at home.
        for (std::size_t raw = 0; raw < raw_.size(); ++raw) {
            auto const& [what, first, pin] = raw_[raw];
            if (pin == unpinned && what.load == 0 && (what.quantity > 0 || problem.limits.counts())) {
                take(raw, 0);
            }
        }
    }

    void set_ways(wishes const& asked) {
        ways.resize(bundle_of_.size());
        for (std::size_t item = 0; item < ways.size(); ++item) {
            auto const raw = bundle_of_[item];
            if (!asked.pinned.empty() && raw_[raw].pin != unpinned) {
                ways[item] = {item_way::kind::pinned, static_cast<std::uint32_t>(raw_[raw].pin)};
            } else if (number_of_[raw] < problem.size()) {
                ways[item] = {item_way::kind::bundle, number_of_[raw]};
            } else {
                ways[item] = {item_way::kind::at_home, raw_[raw].first};
            }
        }
    }

    /// Each rank with something pinned works, and one more for each bundle that can go anywhere.
    void set_idle() {
        std::uint64_t idle = 0;
        for (auto const& base : problem.base) {
            idle += base.working == 0 ? 1U : 0U;
        }
        std::uint64_t working = 0;
        for (auto const weight : problem.weights) {
            working += weight > 0 ? 1U : 0U;
        }
        problem.limits.idle_allowed = idle - std::min(idle, working);
    }

    std::vector<std::uint64_t> keys_;
    std::vector<std::uint32_t> bundle_of_;
    std::vector<raw_bundle> raw_;
    std::vector<std::uint64_t> movable_;
    std::vector<std::uint32_t> number_of_;
};

}  // namespace evenkeel::detail
