// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace evenkeel::detail {

/// Divides its multiples by a number, and tells them from others, with a multiplication where a division takes ten times
/// as long: by the inverse of the odd part modulo 2^64, then by the power of two (Granlund, Montgomery 1994, section 9).
class exact_divisor {
  public:
    /// @param divisor  At least 1.
    explicit constexpr exact_divisor(std::uint64_t divisor) noexcept
        : twos_{std::countr_zero(divisor)}, most_{std::numeric_limits<std::uint64_t>::max() / divisor} {
        std::uint64_t const odd = divisor >> twos_;
        // Right in the lowest three bits at first, then in twice as many each time.
        inverse_ = odd;
        for (int bits = 3; bits < 64; bits *= 2) {
            inverse_ *= 2 - odd * inverse_;
        }
    }

    [[nodiscard]] constexpr bool divides(std::uint64_t number) const noexcept { return quotient(number) <= most_; }
    /// Of a multiple.
    [[nodiscard]] constexpr std::uint64_t quotient(std::uint64_t number) const noexcept {
        return std::rotr(number * inverse_, twos_);
    }

  private:
    int twos_;
    std::uint64_t most_;  ///< the largest quotient there is
    std::uint64_t inverse_ = 1;
};

}  // namespace evenkeel::detail
