// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include <evenkeel/solve/detail/mixed_sizes.hpp>

namespace evenkeel::detail {

/// What padding provably costs ranks under a bound on their load, where items are so large that no two of them fit on
/// one.
///
/// Each such item is the longest of a rank of its own. Alone, it leaves bound - whole of that rank's bound unused; with
/// others, these weigh at most room = bound - 2 * padded - packed packed, and at most ratio * room padded, if ratio is
/// the largest of padded / packed among all items. So at least padded - ratio * room is lost then.
class forced_padding {
  public:
    explicit forced_padding(mixed_sizes const& sizes) : sizes_{sizes} {
        std::size_t most = 0;
        for (std::size_t size = 1; size < sizes.size(); ++size) {
            if (wide{sizes.padded[size]} * sizes.packed[most] > wide{sizes.padded[most]} * sizes.packed[size]) {
                most = size;
            }
        }
        std::uint64_t const packed = sizes.packed[most];
        if (packed > 0 && sizes.padded[most] / packed < std::uint64_t{1} << 16) {
            ratio_ = static_cast<std::uint64_t>((wide{sizes.padded[most]} << fraction_bits) / packed) + 1;
        }
    }

    /// By how much no plan of `ranks` ranks stays within `bound` on average over the ranks; nothing if one may.
    [[nodiscard]] std::optional<std::uint64_t> shortage(std::size_t ranks, std::uint64_t bound) const {
        wide needed = sizes_.total;
        std::size_t const size = sizes_.size();
        for (std::size_t one = 0; ratio_ > 0 && one < size && sizes_.whole(one) <= bound; ++one) {
            if (one > 0 && meet(one - 1, one, bound)) {
                break;
            }
            bool const alike_meet = meet(one, one, bound);
            needed += wide{lost(one, bound)} * (alike_meet ? 1 : sizes_.count(one));
            if (alike_meet) {
                break;
            }
        }
        wide const offered = wide{bound} * ranks;
        if (needed <= offered) {
            return std::nullopt;
        }
        return static_cast<std::uint64_t>((needed - offered) / ranks);
    }

  private:
    // nvcc takes __extension__ before a typedef, not before an alias.
    __extension__ typedef unsigned __int128 wide;
    static constexpr unsigned fraction_bits = 32;

    [[nodiscard]] bool meet(std::size_t larger, std::size_t smaller, std::uint64_t bound) const {
        return wide{sizes_.whole(larger)} + sizes_.padded[larger] + sizes_.packed[smaller] <= bound;
    }

    [[nodiscard]] std::uint64_t lost(std::size_t size, std::uint64_t bound) const {
        std::uint64_t const alone = bound - sizes_.whole(size);
        std::uint64_t const padded = sizes_.padded[size];
        if (alone < padded) {
            return alone;
        }
        wide const gained = (wide{alone - padded} * ratio_ >> fraction_bits) + 1;
        return gained < padded ? std::min(alone, padded - static_cast<std::uint64_t>(gained)) : 0;
    }

    mixed_sizes const& sizes_;
    std::uint64_t ratio_ = 0;
};

/// A load that no partition of the items is below, whatever is padded and what is not.
///
/// The mean without padding; the heaviest item; and, as some rank has k + 1 of the kd + 1 heaviest items, what those
/// cost together, the longest of them padding the others; then the mean with the padding that is forced. All loads are
/// multiples of the unit.
[[nodiscard]] inline std::uint64_t mixed_bound(mixed_sizes const& sizes, std::size_t ranks) {
    std::uint64_t bound = std::max(sizes.total / ranks + (sizes.total % ranks != 0 ? 1 : 0), sizes.whole(0));
    // More per rank are lighter together than the mean.
    constexpr std::size_t most = 8;
    std::uint64_t count = 2;
    for (std::size_t last = ranks; last < sizes.items() && count <= most; last += ranks, ++count) {
        std::size_t const first = last + 1 - static_cast<std::size_t>(count);
        std::uint64_t load = 0;
        bool fits = !__builtin_mul_overflow(count, sizes.padded[sizes.of_item[first]], &load);
        for (std::size_t item = first; item <= last; ++item) {
            fits = fits && !__builtin_add_overflow(load, sizes.packed[sizes.of_item[item]], &load);
        }
        if (fits) {
            bound = std::max(bound, load);
        }
    }
    // What is forced depends on the bound, so each step is proven anew; where one is too large, halfway back.
    constexpr int most_steps = 16;
    forced_padding const forced{sizes};
    std::uint64_t tried = bound;
    for (int step = 0; step < most_steps && tried >= bound; ++step) {
        if (auto const shortage = forced.shortage(ranks, tried)) {
            bound = tried + 1;
            tried = bound + std::min(*shortage, std::numeric_limits<std::uint64_t>::max() - bound);
        } else {
            tried -= (tried - bound + 1) / 2 + (tried == bound ? 1 : 0);
        }
    }
    std::uint64_t const surplus = bound % sizes.unit;
    return surplus == 0 ? bound : bound + (sizes.unit - surplus);
}

}  // namespace evenkeel::detail
