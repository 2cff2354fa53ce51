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
#include <evenkeel/solve/detail/tournament.hpp>

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
        players_.reserve(last_ranks(ranks));
        least_.reserve(last_ranks(ranks));
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
        std::size_t const last = ranks - last_ranks(ranks);
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

    /// How many ranks share what is left.
    [[nodiscard]] static std::size_t last_ranks(std::size_t ranks) noexcept {
        return std::min(ranks, std::max<std::size_t>(4, ranks / 16));
    }

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

    /// Longest first over some ranks, of several that have the least load the first one.
    void place_rest(std::span<std::uint32_t> ranks, std::uint32_t first, std::span<std::uint64_t> loads,
                    std::span<std::uint32_t> rank_of) {
        if (items_.empty()) {
            return;
        }
        std::ranges::sort(ranks);
        auto const rank_bits = static_cast<unsigned>(std::bit_width(ranks.size() - 1));
        players_.clear();
        for (std::size_t number = 0; number < ranks.size(); ++number) {
            players_.push_back(wide_player{loads[ranks[number]]} << rank_bits | number);
        }
        least_.reset(players_);
        while (!items_.empty()) {
            std::uint32_t const number = items_.first_from(0);
            std::uint32_t const rank = ranks[least_.least_loaded()];
            std::uint64_t const weight = items_.weight(number);
            loads[rank] += weight;
            rank_of[first + items_.take(number)] = rank;
            least_.load(weight);
        }
    }

    // Loads of any size, beside numbers of ranks. nvcc takes __extension__ before a typedef, not before an alias.
    __extension__ typedef unsigned __int128 wide_player;

    remaining_items items_;
    room_filler fill_;
    std::vector<std::uint32_t> order_;
    std::vector<wide_player> players_;  ///< the last ranks
    tournament<wide_player> least_;
};

}  // namespace evenkeel::detail
