// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// The least that some of a few weights come to if they are to be at least so much.
///
///     7 5 5, at least 8: 10
///
/// One bit for each sum below what is needed, of the weights so far (R. Bellman 1957).
class least_cover {
  public:
    void reserve() { sums_.reserve(most_needed / 64 + 1); }

    /// Largest `needed` worth a search.
    static constexpr std::uint64_t most_needed = std::uint64_t{1} << 20;

    /// @param weights  In falling order; together they come to `needed` at least.
    /// @param needed   At least 1.
    /// @return         The sum, or `needed` itself where that is too many steps.
    [[nodiscard]] std::uint64_t operator()(std::span<std::uint64_t const> weights, std::uint64_t needed,
                                           step_budget& steps) {
        std::uint64_t const words = needed / 64 + 1;
        if (needed > most_needed || words * weights.size() > steps.left()) {
            return needed;
        }
        auto const light = std::partition_point(weights.begin(), weights.end(),
                                                [&](std::uint64_t weight) { return weight >= needed; });
        std::uint64_t best = light == weights.begin() ? std::numeric_limits<std::uint64_t>::max() : *(light - 1);
        sums_.assign(words, 0);
        sums_[0] = 1;
        for (auto weight = light; weight != weights.end() && best > needed; ++weight) {
            steps.spend(words);
            if (auto const other = first_from(needed - *weight); other < needed) {
                best = std::min(best, other + *weight);
            }
            add(*weight);
        }
        return best;
    }

  private:
    /// The least sum of `from` or more, or something larger than all.
    [[nodiscard]] std::uint64_t first_from(std::uint64_t from) const noexcept {
        std::uint64_t word = from / 64;
        std::uint64_t bits = sums_[word] & (~std::uint64_t{0} << from % 64);
        while (bits == 0 && ++word < sums_.size()) {
            bits = sums_[word];
        }
        return word * 64 + static_cast<std::uint64_t>(bits == 0 ? 0 : std::countr_zero(bits));
    }

    /// What exceeds the last word is more than needed.
    void add(std::uint64_t weight) noexcept {
        std::uint64_t const whole = weight / 64;
        std::uint64_t const part = weight % 64;
        for (std::size_t word = sums_.size(); word-- > whole;) {
            std::uint64_t const high = sums_[word - whole] << part;
            std::uint64_t const low = part == 0 || word == whole ? 0 : sums_[word - whole - 1] >> (64 - part);
            sums_[word] |= high | low;
        }
    }

    std::vector<std::uint64_t> sums_;
};

}  // namespace evenkeel::detail
