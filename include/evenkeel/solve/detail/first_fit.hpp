// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace evenkeel::detail {

/// First fit, largest first: each item into the first bin that has room for it.
///
/// At most 11/9 of the fewest bins and 6/9 of one (G. Dosa 2007); with many small items, as a rule, the fewest.
class first_fit {
  public:
    void reserve(std::size_t items) { rooms_.reserve(2 * std::bit_ceil(items + 1)); }

    /// @param sizes   In falling order, none above the cap; their sum is a number.
    /// @param bin_of  Filled with the bin of each.
    /// @return        The number of bins.
    /// @complexity O(items * log(items))
    std::size_t operator()(std::span<std::uint64_t const> sizes, std::uint64_t cap, std::span<std::uint32_t> bin_of) {
        // A tree of the most room: below each node two halves of its bins.
        std::size_t const leaves = std::bit_ceil(std::max<std::size_t>(1, most_bins(sizes, cap)));
        rooms_.assign(2 * leaves, cap);
        std::size_t bins = 0;
        for (std::size_t item = 0; item < sizes.size(); ++item) {
            std::size_t node = 1;
            while (node < leaves) {
                node *= 2;
                node += rooms_[node] < sizes[item] ? 1U : 0U;
            }
            bin_of[item] = static_cast<std::uint32_t>(node - leaves);
            bins = std::max(bins, node - leaves + 1);
            rooms_[node] -= sizes[item];
            // As a rule, another bin close by has more room, and nothing changes further up.
            std::uint64_t before = sizes[item] + rooms_[node];
            while (node > 1 && rooms_[node / 2] == before) {
                before = rooms_[node /= 2];
                rooms_[node] = std::max(rooms_[2 * node], rooms_[2 * node + 1]);
            }
        }
        return bins;
    }

  private:
    /// Any two bins hold more than the cap together, so there are fewer than twice the sum over the cap, and one.
    [[nodiscard]] static std::size_t most_bins(std::span<std::uint64_t const> sizes, std::uint64_t cap) noexcept {
        std::uint64_t total = 0;
        for (auto const size : sizes) {
            total += size;
        }
        std::uint64_t const bins = total / cap + 1;
        return bins < sizes.size() / 2 ? static_cast<std::size_t>(2 * bins) : sizes.size();
    }

    std::vector<std::uint64_t> rooms_;
};

}  // namespace evenkeel::detail
