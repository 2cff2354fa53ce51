// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <evenkeel/solve/detail/remaining_items.hpp>
#include <evenkeel/solve/detail/room_filler.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// A start for batches with many items per rank: takes the lightest back from longest first and fills each rank with
/// them exactly to a target load.
///
/// The rank with most room comes first, as the heaviest of these items do. So the room that the target leaves over all
/// ends up with the last ranks, a sixteenth of all, which share what is left longest first: they will be uneven, but
/// pool much room, and `repair` has few ranks to look after instead of half of all.
class exact_finish {
  public:
    void reserve(std::size_t items, std::size_t ranks) {
        items_.reserve(std::min(items, 4 * ranks));
        order_.reserve(ranks);
    }

    /// The first of the items that are taken back: three or four per rank.
    [[nodiscard]] static std::size_t first_taken_back(std::size_t items, std::size_t ranks) noexcept {
        // Among many items the lightest are finer.
        return items - std::min(items, (items < 16 * ranks ? 4 : 3) * ranks);
    }

    /// @param weights  In falling order.
    /// @param total    Their sum, at most ranks * target.
    /// @param loads    Of the ranks; kept up to date.
    /// @param rank_of  The rank of each item; from `first_taken_back` on, changed.
    void operator()(std::span<std::uint64_t const> weights, std::uint64_t total, std::uint64_t target,
                    std::span<std::uint64_t> loads, std::span<std::uint32_t> rank_of, step_budget& steps) {
        std::size_t const ranks = loads.size();
        auto const first = static_cast<std::uint32_t>(first_taken_back(weights.size(), ranks));
        for (std::size_t item = first; item < weights.size(); ++item) {
            loads[rank_of[item]] -= weights[item];
        }
        sort_ranks(loads, target);
        items_.reset(weights.subspan(first));
        std::size_t const last = ranks - std::min(ranks, std::max<std::size_t>(4, ranks / 16));
        for (std::size_t index = 0; index < last && !items_.empty(); ++index) {
            std::uint32_t const rank = order_[index];
            // Half of the room that is left over is for this rank, so that some is there for the last.
            std::uint64_t const left = ranks - index;
            std::uint64_t const mean = total / left + (total % left != 0 ? 1 : 0);
            std::uint64_t const room = target - std::min(target, loads[rank]);
            for (auto const number : fill_(items_, room, (target - std::min(target, mean)) / 2, steps)) {
                loads[rank] += items_.weight(number);
                rank_of[first + items_.take(number)] = rank;
            }
            total -= loads[rank];
        }
        place_rest(std::span{order_}.subspan(last), first, loads, rank_of);
    }

  private:
    static constexpr unsigned digit_bits = 9;

    /// Most room first, as far as the leading bits of the room tell.
    void sort_ranks(std::span<std::uint64_t const> loads, std::uint64_t target) {
        std::uint64_t most = 0;
        for (auto const load : loads) {
            most = std::max(most, target - std::min(target, load));
        }
        auto const width = static_cast<unsigned>(std::bit_width(most));
        unsigned const shift = width - std::min(width, digit_bits);
        std::array<std::uint32_t, std::size_t{1} << digit_bits> starts{};
        auto const digit_of = [&](std::uint64_t load) { return (target - std::min(target, load)) >> shift; };
        for (auto const load : loads) {
            ++starts[digit_of(load)];
        }
        std::uint32_t before = 0;
        for (std::size_t digit = starts.size(); digit-- > 0;) {
            before += std::exchange(starts[digit], before);
        }
        order_.resize(loads.size());
        for (std::uint32_t rank = 0; rank < loads.size(); ++rank) {
            order_[starts[digit_of(loads[rank])]++] = rank;
        }
    }

    void place_rest(std::span<std::uint32_t> ranks, std::uint32_t first, std::span<std::uint64_t> loads,
                    std::span<std::uint32_t> rank_of) {
        auto const more_load = [&](std::uint32_t a, std::uint32_t b) {
            return loads[a] > loads[b] || (loads[a] == loads[b] && a > b);
        };
        std::ranges::make_heap(ranks, more_load);
        while (!items_.empty()) {
            std::uint32_t const number = items_.first_from(0);
            std::ranges::pop_heap(ranks, more_load);
            std::uint32_t const rank = ranks.back();
            loads[rank] += items_.weight(number);
            rank_of[first + items_.take(number)] = rank;
            std::ranges::push_heap(ranks, more_load);
        }
    }

    remaining_items items_;
    room_filler fill_;
    std::vector<std::uint32_t> order_;
};

}  // namespace evenkeel::detail
