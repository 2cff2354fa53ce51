// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace evenkeel::detail {

inline constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();

/// What bidders gain from places, as far as it is more than nothing: bidder j from `places[e]` the value `values[e]`,
/// for e in `offsets[j] .. offsets[j + 1])`. Values stay below 2^62.
struct gains {
    std::span<std::uint32_t const> places;
    std::span<std::uint64_t const> values;
    std::span<std::uint32_t const> offsets;

    [[nodiscard]] std::size_t bidders() const noexcept { return offsets.size() - 1; }
};

/// How a value and the number of whom or what it belongs to share a word, a ticket: of two tickets, the larger one has
/// the larger value, so that the largest is found together with its number, and without a branch.
///
/// The value stands above the number, in units of which a byte has 2^shift.
struct ticket_format {
    unsigned shift = 0;
    std::uint64_t numbers = 0;  ///< the bits of the number; all of them together stand for nobody

    [[nodiscard]] std::uint64_t ticket(std::uint64_t bytes, std::uint32_t number) const noexcept {
        return bytes << shift | number;
    }
    [[nodiscard]] std::uint32_t number(std::uint64_t ticket) const noexcept {
        return static_cast<std::uint32_t>(ticket & numbers);
    }
    [[nodiscard]] std::uint64_t value(std::uint64_t ticket) const noexcept { return ticket & ~numbers; }

    /// Whether there is room for values and numbers.
    [[nodiscard]] bool fits() const noexcept { return (std::uint64_t{1} << shift) > numbers; }
};

/// The finest format for values that sum up to `total` bytes, below 2^62, and for numbers below `count`.
[[nodiscard]] inline ticket_format format_of(std::uint64_t total, std::size_t count) {
    return {.shift = 62U - static_cast<unsigned>(std::bit_width(total)), .numbers = std::bit_ceil(count + 1) - 1};
}

/// The best of the tickets seen so far and the second best; 0 for nothing.
class choice {
  public:
    void see(std::uint64_t ticket) noexcept {
        // Less its price, a ticket may be worth less than nothing. Of signed numbers the smaller one takes no branch.
        auto const here = static_cast<std::int64_t>(ticket);
        second_ = std::max(second_, std::min(best_, here));
        best_ = std::max(best_, here);
    }

    [[nodiscard]] std::uint64_t best() const noexcept { return static_cast<std::uint64_t>(best_); }
    [[nodiscard]] std::uint64_t second() const noexcept { return static_cast<std::uint64_t>(second_); }

  private:
    std::int64_t best_ = 0;
    std::int64_t second_ = 0;
};

/// What bidders gain from places, as tickets: bidder j has the tickets `offsets[j] .. offsets[j + 1])`, whose numbers
/// are those of places, each xor j: of equal gains every bidder prefers another one, or all would crowd in one place.
struct ticketed_gains {
    std::span<std::uint64_t const> tickets;
    std::span<std::uint32_t const> offsets;
    ticket_format format;
    std::span<choice const> wishes;  ///< of every bidder among its tickets

    [[nodiscard]] std::size_t bidders() const noexcept { return offsets.size() - 1; }
};

}  // namespace evenkeel::detail
