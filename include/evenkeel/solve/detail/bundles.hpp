// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/infeasible.hpp>
#include <evenkeel/solve/detail/named_sum.hpp>
#include <evenkeel/solve/detail/wish_problem.hpp>
#include <evenkeel/solve/wishes.hpp>

namespace evenkeel::detail {

/// The items of a batch, those of a group bundled together. Bundles are numbered by their first items.
class bundles {
  public:
    struct bundle {
        holding what;
        std::uint32_t first = 0;  ///< item
        rank_id pin = unpinned;
    };

    void reserve(std::size_t items) {
        keys_.reserve(items);
        bundle_of_.reserve(items);
        bundles_.reserve(items);
    }

    /// @throws infeasible           if two items of a group are pinned to different ranks.
    /// @throws std::overflow_error  if the weight of a group exceeds 64 bits.
    void read(std::span<std::uint64_t const> weights, wishes const& asked, std::string_view function = "balance") {
        number(weights.size(), asked.groups);
        for (std::size_t item = 0; item < weights.size(); ++item) {
            if (bundle_of_[item] == bundles_.size()) {
                bundles_.push_back({.what = {}, .first = static_cast<std::uint32_t>(item), .pin = unpinned});
            }
            auto& own = bundles_[bundle_of_[item]];
            own.what.load = named_sum(own.what.load, weights[item], function, "the load of a group");
            own.what.quantity += asked.quantities.empty() ? 0 : asked.quantities[item];
            ++own.what.count;
            if (!asked.pinned.empty() && asked.pinned[item] != unpinned) {
                if (own.pin != unpinned && own.pin != asked.pinned[item]) {
                    // One of the two would have to leave its rank.
                    throw infeasible{std::string{function}.append(": options.wishes.groups with options.wishes.pinned"),
                                     item, 1};
                }
                own.pin = asked.pinned[item];
            }
        }
    }

    [[nodiscard]] std::span<bundle const> all() const noexcept { return bundles_; }
    [[nodiscard]] std::span<std::uint32_t const> of_items() const noexcept { return bundle_of_; }

  private:
    void number(std::size_t items, std::span<std::uint32_t const> groups) {
        bundles_.clear();
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
        std::uint32_t numbered = 0;
        for (std::size_t item = 0; item < items; ++item) {
            bundle_of_[item] = bundle_of_[item] == item ? numbered++ : bundle_of_[bundle_of_[item]];
        }
    }

    std::vector<std::uint64_t> keys_;
    std::vector<std::uint32_t> bundle_of_;
    std::vector<bundle> bundles_;
};

}  // namespace evenkeel::detail
