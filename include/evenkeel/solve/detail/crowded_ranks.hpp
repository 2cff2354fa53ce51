// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace evenkeel::detail {

/// Proves that loads cannot all be at most some capacity where heavy items cannot be shared out in equal numbers.
///
///     9 9 9 5 5 5 on four ranks weigh 42, so 11 each; but some rank has three of these six, so 15 at least, or two
///     have two each, together 9 + 5 + 5 + 5 at least, so one of them 12; and two of these weigh 10, 14 or 18, so 14
///
/// Of the k * ranks + q heaviest items, either some rank has k + 2, which weigh at least as much as the lightest k + 2;
/// or at least q ranks have k + 1, and one of them has at least the mean of what the lightest q * (k + 1) weigh for
/// each, rounded up to what k + 1 of these sizes can weigh if the sizes are few. For k = 1 they are pairs, best made
/// of the lightest and the heaviest, and so on inwards. For q = 1 this is the pigeonhole term of `lower_bound`. Costs
/// that grow with the square of the length need it: there a few lengths weigh nearly everything.
class crowded_ranks {
  public:
    void reserve(std::size_t items) { sums_.reserve(items + 1); }

    /// The largest bound that any k and q prove between `bound`, which is returned otherwise, and `best`.
    ///
    /// @param weights  In falling order; their sum fits into 64 bits.
    /// @complexity     O(weights)
    [[nodiscard]] std::uint64_t operator()(std::span<std::uint64_t const> weights, std::size_t ranks,
                                           std::uint64_t bound, std::uint64_t best) {
        sums_.assign(1, 0);
        for (auto const weight : weights) {
            sums_.push_back(sums_.back() + weight);
        }
        number_ = 0;
        pair(weights, ranks, bound, best);
        for (std::size_t most = 1; most * ranks < weights.size(); ++most) {
            std::size_t const left = weights.size() - most * ranks;
            for (std::size_t crowded = 1; crowded <= std::min(ranks, left) && bound < best; ++crowded) {
                std::size_t const heaviest = most * ranks + crowded;
                std::uint64_t const sum = lightest(heaviest, crowded * (most + 1));
                if (is_above(sum, bound, crowded)) {
                    std::uint64_t const mean = sum / crowded + (sum % crowded != 0 ? 1 : 0);
                    std::uint64_t const proved = std::min(mean, crowded == 1 ? mean : lightest(heaviest, most + 2));
                    // A mean that one item more on a rank gets around proves nothing, and hides what does.
                    if (proved > bound) {
                        bound = proved;
                        note(crowded, most + 1, heaviest);
                    }
                }
            }
        }
        bound = std::min(bound, best);
        if (number_ > 1 && bound < best) {
            bound = least_sum(weights.first(heaviest_), bound, std::min(best, lightest(heaviest_, items_ + 1)));
        }
        return bound;
    }

    /// How many ranks the proof is about, none if nothing was proved, and how many items each of them has: the lightest
    /// of so many of the heaviest.
    [[nodiscard]] std::size_t number() const noexcept { return number_; }
    [[nodiscard]] std::size_t items() const noexcept { return items_; }
    [[nodiscard]] std::size_t heaviest() const noexcept { return heaviest_; }

  private:
    static constexpr std::size_t most_sizes = 12;
    static constexpr std::size_t most_nodes = 4096;

    /// Of the ranks + q heaviest, q ranks have two each, so one has at least the lightest of them and another that is
    /// at least the q-th before the `ranks`-th; or one has three.
    void pair(std::span<std::uint64_t const> weights, std::size_t ranks, std::uint64_t& bound, std::uint64_t best) {
        std::size_t const most = weights.size() - std::min(weights.size(), ranks);
        for (std::size_t crowded = 1; crowded <= std::min(ranks, most) && bound < best; ++crowded) {
            std::size_t const heaviest = ranks + crowded;
            std::uint64_t const two = weights[ranks - crowded] + weights[heaviest - 1];
            if (two > bound && (crowded == 1 || lightest(heaviest, 3) > bound)) {
                bound = crowded == 1 ? two : std::min(two, lightest(heaviest, 3));
                note(crowded, 2, heaviest);
            }
        }
    }

    void note(std::size_t number, std::size_t items, std::size_t heaviest) noexcept {
        number_ = number;
        items_ = items;
        heaviest_ = heaviest;
    }

    /// What the lightest `number` of the heaviest items weigh.
    [[nodiscard]] std::uint64_t lightest(std::size_t heaviest, std::size_t number) const noexcept {
        return sums_[heaviest] - sums_[heaviest - number];
    }

    /// Whether a sum is more than `times` the bound.
    [[nodiscard]] static bool is_above(std::uint64_t sum, std::uint64_t bound, std::size_t times) noexcept {
        std::uint64_t product = 0;
        return !__builtin_mul_overflow(bound, times, &product) && sum > product;
    }

    /// The least from `at_least` on that `items_` of these weights can weigh, each as often as one likes, or `at_most`
    /// if that is less; `at_least` if this takes too long to tell.
    [[nodiscard]] std::uint64_t least_sum(std::span<std::uint64_t const> weights, std::uint64_t at_least,
                                          std::uint64_t at_most) {
        // What each weighs more than the lightest is what sums differ by.
        std::uint64_t const base = weights.back() * items_;
        if (at_most <= base || at_least >= at_most) {
            return at_least;
        }
        sizes_ = 0;
        for (std::size_t item = weights.size(); item-- > 0 && weights[item] - weights.back() < at_most - base;) {
            std::uint64_t const part = weights[item] - weights.back();
            if (part == (sizes_ > 0 ? parts_[sizes_ - 1] : 0)) {
                continue;
            }
            if (sizes_ == most_sizes) {
                return at_least;
            }
            parts_[sizes_++] = part;
        }
        least_ = at_most - base;
        nodes_ = 0;
        std::uint64_t const rest = at_least - std::min(at_least, base);
        return seek(0, rest, sizes_, items_) ? base + std::max(least_, rest) : at_least;
    }

    /// Adds up to `left` of the lightest `sizes` parts to a sum until that is `at_least`; false when it takes too long.
    bool seek(std::uint64_t sum, std::uint64_t at_least, std::size_t sizes, std::size_t left) {
        if (++nodes_ > most_nodes) {
            return false;
        }
        if (sum >= at_least) {
            least_ = std::min(least_, sum);
            return true;
        }
        while (sizes > 0 && left > 0) {
            std::uint64_t const part = parts_[--sizes];
            // Lighter ones are not enough either.
            if (part < (at_least - sum + left - 1) / left) {
                break;
            }
            if (part < least_ - sum && !seek(sum + part, at_least, sizes + 1, left - 1)) {
                return false;
            }
        }
        return true;
    }

    std::vector<std::uint64_t> sums_;  ///< of the heaviest items, by their number
    std::size_t number_ = 0;
    std::size_t items_ = 0;
    std::size_t heaviest_ = 0;
    std::array<std::uint64_t, most_sizes> parts_{};  ///< rising
    std::size_t sizes_ = 0;
    std::uint64_t least_ = 0;
    std::size_t nodes_ = 0;
};

}  // namespace evenkeel::detail
