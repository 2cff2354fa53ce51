// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/stay_items.hpp>

namespace evenkeel::detail {

/// What must leave its home, in bytes, if batches are padded and no rank may have more than some load.
///
/// A home is one rank, or a node of several. Of its own items in falling order it keeps runs: a batch that begins with
/// an item holds load / weight items, and of those that it might hold the heaviest have most bytes. Which items begin a
/// batch is a shortest way, found exactly; others that come in only take room. Different homes lose different items, so
/// their losses add up.
class padded_bounds {
  public:
    void reserve(std::size_t items, std::size_t homes) {
        sorted_.reserve(items);
        offsets_.reserve(homes + 1);
        bytes_.reserve(items);
        ends_.reserve(items);
        least_.reserve(items + 1);
    }

    /// @param home_of   Gives the home of an item, below `homes`.
    /// @param ranks_of  How many ranks a home has.
    /// @complexity O(items), and for a home that cannot keep all its items, its items times its ranks
    template <class HomeOf, class RanksOf>
    [[nodiscard]] std::uint64_t operator()(stay_items const& items, HomeOf home_of, std::size_t homes, RanksOf ranks_of,
                                           std::uint64_t load) {
        sort_by_home(items.order(), home_of, homes);
        std::uint64_t sum = 0;
        for (std::size_t home = 0; home < homes; ++home) {
            auto const own = std::span{sorted_}.subspan(offsets_[home], offsets_[home + 1] - offsets_[home]);
            sum += least_leaving(items, own, ranks_of(home), load);
        }
        return sum;
    }

  private:
    template <class HomeOf>
    void sort_by_home(std::span<std::uint32_t const> order, HomeOf home_of, std::size_t homes) {
        offsets_.assign(homes + 1, 0);
        for (auto const item : order) {
            ++offsets_[home_of(item) + 1];
        }
        for (std::size_t home = 0; home < homes; ++home) {
            offsets_[home + 1] += offsets_[home];
        }
        sorted_.resize(order.size());
        for (std::size_t place = order.size(); place-- > 0;) {
            sorted_[--offsets_[home_of(order[place]) + 1]] = order[place];
        }
        // Each offset has come down to where its home begins, one place too late.
        std::rotate(offsets_.begin(), offsets_.begin() + 1, offsets_.end());
        offsets_.back() = order.size();
    }

    std::uint64_t least_leaving(stay_items const& items, std::span<std::uint32_t const> own, std::size_t ranks,
                                std::uint64_t load) {
        std::size_t const count = own.size();
        ends_.resize(count);
        for (std::size_t first = 0; first < count; ++first) {
            std::uint64_t const most = load / items.weight(own[first]);
            ends_[first] = first + static_cast<std::size_t>(std::min<std::uint64_t>(most, count - first));
        }
        std::size_t fitting = 0;
        for (std::size_t rank = 0; rank < ranks && fitting < count; ++rank) {
            fitting = ends_[fitting];
        }
        if (fitting == count) {
            return 0;
        }
        // A lighter item with more bytes counts as if it had those of the heavier ones, which can only lower the bound.
        bytes_.resize(count);
        least_.assign(count + 1, 0);
        for (std::size_t item = 0; item < count; ++item) {
            std::uint64_t const bytes = items.bytes_of(own[item]);
            bytes_[item] = item == 0 ? bytes : std::min(bytes, bytes_[item - 1]);
        }
        for (std::size_t item = count; item-- > 0;) {
            least_[item] = least_[item + 1] + bytes_[item];
        }
        // least_[i]: of the items from i on, with as many ranks as rounds have passed. An end lies behind its item, and
        // in rising order what stands there is still that of the round before; what follows an item of this round is
        // summed up afterwards.
        for (std::size_t rank = 0; rank < ranks && least_[0] > 0; ++rank) {
            for (std::size_t first = 0; first < count; ++first) {
                least_[first] = least_[ends_[first]];
            }
            for (std::size_t first = count; first-- > 0;) {
                least_[first] = std::min(least_[first], least_[first + 1] + bytes_[first]);
            }
        }
        return least_[0];
    }

    std::vector<std::uint32_t> sorted_;  ///< items by home, heaviest first
    std::vector<std::size_t> offsets_;   ///< by home
    std::vector<std::size_t> ends_;      ///< where a batch ends that begins with an item
    std::vector<std::uint64_t> bytes_;
    std::vector<std::uint64_t> least_;
};

}  // namespace evenkeel::detail
