// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <evenkeel/solve/detail/tournament.hpp>

namespace evenkeel::detail {

/// Longest first over many ranks, a round of them at a time.
///
/// With the ranks in the order of their loads, the next items go to them in that order until one has more load than a
/// rank has that got an item just now; nearly all ranks are served in a round, for loads differ by little more than
/// what the items weigh. To put those in order that may be served, loads are counted: that takes as long for an item as
/// a heap takes for a step or two, and hardly one step waits for the one before. Where few ranks can be served, because
/// the others have got something heavy, a tournament takes over for a while.
///
/// A rank is one number, the load with the rank in its lowest bits, so ties fall to the first rank.
class rounds {
  public:
    void reserve(std::size_t ranks) {
        key_of_.reserve(ranks);
        order_.reserve(ranks);
        starts_.reserve(2 * std::bit_ceil(ranks) + 1);
        spare_.reserve(ranks);
        spare_starts_.reserve(2 * std::bit_ceil(ranks) + 1);
        tournament_.reserve(ranks);
    }

    /// @param weights  In falling order, each at least 1; the bits of their sum and of `ranks` - 1 fit into 63
    ///                 together.
    /// @param rank_of  Filled with the rank of each item.
    /// @param loads    One per rank; filled with its load.
    /// @complexity     O(items * log(ranks)), and nearly always O(items)
    void operator()(std::span<std::uint64_t const> weights, std::span<std::uint32_t> rank_of,
                    std::span<std::uint64_t> loads) {
        std::size_t const ranks = loads.size();
        rank_bits_ = static_cast<unsigned>(std::bit_width(ranks - 1));
        order_.resize(ranks);
        key_of_.resize(ranks);
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            key_of_[rank] = rank;
        }
        least_ = 0;
        while (!weights.empty()) {
            std::size_t const in_order = put_in_order(weights.front());
            auto const order = std::span{order_}.first(in_order);
            std::size_t const served = in_order < ranks / 8 ? play(weights, rank_of) : serve(weights, order, rank_of);
            weights = weights.subspan(served);
            rank_of = rank_of.subspan(served);
        }
        std::ranges::transform(key_of_, loads.begin(), [&](std::uint64_t key) { return key >> rank_bits_; });
    }

  private:
    static constexpr std::uint32_t crowd = 16;

    /// Puts those ranks in order that may be served before the first one is again, after an item of `weight`. Returns
    /// how many.
    std::size_t put_in_order(std::uint64_t weight) {
        std::uint64_t const base = least_ >> rank_bits_ << rank_bits_;
        std::uint64_t const most = least_ + (weight << rank_bits_);
        auto const width = static_cast<unsigned>(std::bit_width(weight));
        auto const digit_width = static_cast<unsigned>(std::bit_width(key_of_.size()));
        unsigned const shift = rank_bits_ + width - std::min(width, digit_width);
        starts_.assign(((most - base) >> shift) + 1, 0);
        for (auto const key : key_of_) {
            if (key <= most) {
                ++starts_[(key - base) >> shift];
            }
        }
        std::uint32_t before = 0;
        for (auto& start : starts_) {
            before += std::exchange(start, before);
        }
        // In the order of the ranks, so ties are in order, too.
        for (auto const key : key_of_) {
            if (key <= most) {
                order_[starts_[(key - base) >> shift]++] = key;
            }
        }
        if (shift > rank_bits_) {
            sort_crowds();
            sort_nearly_sorted(std::span{order_}.first(before));
        }
        return before;
    }

    /// Sorts the ranks of each digit that has many: loads get ever closer to each other while weights do not, until
    /// nearly all have the same digits.
    void sort_crowds() {
        std::uint32_t begin = 0;
        // After the ranks of a digit come those of the next one.
        for (auto const end : starts_) {
            if (end - begin > crowd) {
                sort_by_counting(std::span{order_}.subspan(begin, end - begin));
            }
            begin = end;
        }
    }

    void sort_by_counting(std::span<std::uint64_t> keys) {
        auto const [least, most] = std::ranges::minmax(keys);
        auto const width = static_cast<unsigned>(std::bit_width(most - least));
        unsigned const shift = width - std::min(width, static_cast<unsigned>(std::bit_width(keys.size())));
        spare_starts_.assign(((most - least) >> shift) + 1, 0);
        spare_.assign(keys.begin(), keys.end());
        for (auto const key : spare_) {
            ++spare_starts_[(key - least) >> shift];
        }
        std::uint32_t before = 0;
        for (auto& start : spare_starts_) {
            before += std::exchange(start, before);
        }
        for (auto const key : spare_) {
            keys[spare_starts_[(key - least) >> shift]++] = key;
        }
    }

    /// Gives items to the ranks in order while each is the least loaded. Returns how many.
    std::size_t serve(std::span<std::uint64_t const> weights, std::span<std::uint64_t const> order,
                      std::span<std::uint32_t> rank_of) noexcept {
        std::uint64_t const rank_mask = (std::uint64_t{1} << rank_bits_) - 1;
        std::size_t const most = std::min(weights.size(), order.size());
        std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
        std::size_t item = 0;
        for (; item < most && order[item] < least; ++item) {
            std::uint64_t const rank = order[item] & rank_mask;
            std::uint64_t const key = order[item] + (weights[item] << rank_bits_);
            least = std::min(least, key);
            rank_of[item] = static_cast<std::uint32_t>(rank);
            key_of_[rank] = key;
        }
        // Ranks that were not put in order have more than the first one has now.
        least_ = least;
        return item;
    }

    /// Gives as many items as there are ranks, one at a time.
    std::size_t play(std::span<std::uint64_t const> weights, std::span<std::uint32_t> rank_of) {
        std::size_t const items = std::min(weights.size(), key_of_.size());
        tournament_.reset(key_of_);
        for (std::size_t item = 0; item < items; ++item) {
            rank_of[item] = tournament_.least_loaded();
            tournament_.load(weights[item]);
        }
        tournament_.store(key_of_);
        least_ = (tournament_.least_load() << rank_bits_) + tournament_.least_loaded();
        return items;
    }

    /// Insertion sort, as long as the keys are as close to their places as counting by digits leaves them as a rule.
    static void sort_nearly_sorted(std::span<std::uint64_t> keys) {
        std::size_t moves = 0;
        for (std::size_t next = 1; next < keys.size(); ++next) {
            std::uint64_t const key = keys[next];
            std::size_t place = next;
            for (; place > 0 && keys[place - 1] > key; --place) {
                keys[place] = keys[place - 1];
            }
            keys[place] = key;
            moves += next - place;
            if (moves > 8 * keys.size()) {
                std::ranges::sort(keys);
                return;
            }
        }
    }

    std::vector<std::uint64_t> key_of_;  ///< of each rank
    std::vector<std::uint64_t> order_;
    std::vector<std::uint32_t> starts_;
    std::vector<std::uint64_t> spare_;
    std::vector<std::uint32_t> spare_starts_;
    tournament<std::uint64_t> tournament_;
    std::uint64_t least_ = 0;
    unsigned rank_bits_ = 0;
};

}  // namespace evenkeel::detail
