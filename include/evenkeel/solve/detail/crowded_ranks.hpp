// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace evenkeel::detail {

/// Proves that loads cannot all be at most some capacity where heavy items cannot be shared out in equal numbers.
///
///     9 9 9 5 5 5 on four ranks weigh 42, so 11 each; but some rank has three of these six, so 15 at least, or two have
///     two each, together 9 + 5 + 5 + 5 at least, so one of them 12
///
/// Of the k * ranks + q heaviest items, either some rank has k + 2, which weigh at least as much as the lightest k + 2;
/// or at least q ranks have k + 1, and one of them has at least the mean of what the lightest q * (k + 1) weigh for
/// each. For q = 1 this is the pigeonhole term of `lower_bound`. Costs that grow with the square of the length need
/// it: there a few lengths weigh nearly everything.
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
        for (std::size_t most = 1; most * ranks < weights.size(); ++most) {
            std::size_t const left = weights.size() - most * ranks;
            for (std::size_t crowded = 1; crowded <= std::min(ranks, left) && bound < best; ++crowded) {
                std::size_t const heaviest = most * ranks + crowded;
                std::uint64_t const sum = lightest(heaviest, crowded * (most + 1));
                if (is_above(sum, bound, crowded)) {
                    std::uint64_t const mean = sum / crowded + (sum % crowded != 0 ? 1 : 0);
                    bound = std::max(bound, std::min(mean, crowded == 1 ? mean : lightest(heaviest, most + 2)));
                }
            }
        }
        return std::min(bound, best);
    }

  private:
    /// What the lightest `number` of the heaviest items weigh.
    [[nodiscard]] std::uint64_t lightest(std::size_t heaviest, std::size_t number) const noexcept {
        return sums_[heaviest] - sums_[heaviest - number];
    }

    /// Whether a sum is more than `times` the bound.
    [[nodiscard]] static bool is_above(std::uint64_t sum, std::uint64_t bound, std::size_t times) noexcept {
        std::uint64_t product = 0;
        return !__builtin_mul_overflow(bound, times, &product) && sum > product;
    }

    std::vector<std::uint64_t> sums_;  ///< of the heaviest items, by their number
};

}  // namespace evenkeel::detail
