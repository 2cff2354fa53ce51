// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace evenkeel::detail {

/// Longest first over many ranks, a round of them at a time.
///
/// With the ranks in the order of their loads, the next items go to them in that order until one has more load than a
/// rank has that got an item just now; nearly all ranks are served in a round, for loads differ by little more than what
/// the items weigh. Then those that were served are put in order again, by counting. That takes as long for an item as a
/// heap takes for a step or two, and hardly one step waits for the one before.
///
/// A rank is one number, the load with the rank in its lowest bits, so ties fall to the first rank.
class rounds {
  public:
    void reserve(std::size_t ranks) {
        order_.reserve(ranks);
        served_.reserve(ranks);
        key_of_.reserve(ranks);
        starts_.reserve(most_digits(ranks) + 1);
    }

    /// @param weights  In falling order, each at least 1; the bits of their sum and of `ranks` - 1 fit into 63 together.
    /// @param rank_of  Filled with the rank of each item.
    /// @return         The load of the busiest rank.
    /// @complexity     O(items * log(ranks)), and nearly always O(items)
    std::uint64_t operator()(std::span<std::uint64_t const> weights, std::size_t ranks,
                             std::span<std::uint32_t> rank_of) {
        rank_bits_ = static_cast<unsigned>(std::bit_width(ranks - 1));
        order_.resize(ranks);
        key_of_.resize(ranks);
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            order_[rank] = key_of_[rank] = rank;
        }
        while (true) {
            std::size_t const served = serve(weights, rank_of);
            weights = weights.subspan(served);
            rank_of = rank_of.subspan(served);
            if (weights.empty()) {
                return *std::ranges::max_element(key_of_) >> rank_bits_;
            }
            if (served >= ranks / 4) {
                sort_all(served);
            } else {
                sort_served(served);
            }
        }
    }

  private:
    static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

    [[nodiscard]] static std::size_t most_digits(std::size_t ranks) noexcept { return std::bit_ceil(ranks); }

    /// Gives items to the ranks in order while each is the least loaded; returns how many.
    std::size_t serve(std::span<std::uint64_t const> weights, std::span<std::uint32_t> rank_of) noexcept {
        std::uint64_t const rank_mask = (std::uint64_t{1} << rank_bits_) - 1;
        std::size_t const most = std::min(weights.size(), order_.size());
        least_ = none;
        most_ = 0;
        std::size_t item = 0;
        for (; item < most && order_[item] < least_; ++item) {
            std::uint64_t const rank = order_[item] & rank_mask;
            std::uint64_t const key = order_[item] + (weights[item] << rank_bits_);
            least_ = std::min(least_, key);
            most_ = std::max(most_, key);
            rank_of[item] = static_cast<std::uint32_t>(rank);
            key_of_[rank] = key;
        }
        return item;
    }

    /// Puts those ranks in order that are not above all that were served; the others already are. None is below
    /// `least_`, or it would have been served.
    void sort_all(std::size_t served) {
        std::uint64_t const first = least_ >> rank_bits_;
        auto const width = static_cast<unsigned>(std::bit_width((most_ >> rank_bits_) - first));
        auto const digit_width = static_cast<unsigned>(std::bit_width(served)) - 1;
        unsigned const shift = width - std::min(width, digit_width);
        std::uint64_t const base = first << rank_bits_;
        std::size_t const digits = ((most_ - base) >> (rank_bits_ + shift)) + 1;
        starts_.assign(digits, 0);
        for (auto const key : key_of_) {
            if (key <= most_) {
                ++starts_[(key - base) >> (rank_bits_ + shift)];
            }
        }
        std::uint32_t before = 0;
        for (auto& start : starts_) {
            std::uint32_t const count = start;
            start = before;
            before += count;
        }
        // In the order of the ranks, so ties are in order, too.
        for (auto const key : key_of_) {
            if (key <= most_) {
                order_[starts_[(key - base) >> (rank_bits_ + shift)]++] = key;
            }
        }
        if (shift > 0) {
            sort_nearly_sorted(std::span{order_}.first(before));
        }
    }

    /// Puts those that were served in order, and in their places among the others.
    void sort_served(std::size_t served) {
        served_.clear();
        std::uint64_t const rank_mask = (std::uint64_t{1} << rank_bits_) - 1;
        for (auto const key : std::span{order_}.first(served)) {
            served_.push_back(key_of_[key & rank_mask]);
        }
        std::ranges::sort(served_);
        std::size_t other = served;
        std::size_t place = 0;
        for (auto const key : served_) {
            while (other < order_.size() && order_[other] < key) {
                order_[place++] = order_[other++];
            }
            order_[place++] = key;
        }
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

    std::vector<std::uint64_t> order_;   ///< the ranks, the least loaded first
    std::vector<std::uint64_t> key_of_;  ///< the same by rank
    std::vector<std::uint64_t> served_;
    std::vector<std::uint32_t> starts_;
    std::uint64_t least_ = 0;  ///< of those that were served
    std::uint64_t most_ = 0;
    unsigned rank_bits_ = 0;
};

}  // namespace evenkeel::detail
