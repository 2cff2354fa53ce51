// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace evenkeel::detail {

/// The positions of a rank's lightest items, the lightest first: those that are worth trying in an exchange.
///
/// Light ones, because they make the finest differences. No more than `alike` of the same weight: what ten tiles of one
/// size cannot do, twenty cannot do either, while one of another size may.
class light_items {
  public:
    static constexpr std::size_t capacity = 18;
    static constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();

    /// @param weights  In falling order.
    void choose(std::span<std::uint64_t const> weights, std::size_t most, std::size_t alike) noexcept {
        size_ = 0;
        std::size_t same = 0;
        for (std::size_t position = weights.size(); position-- > 0 && size_ < most;) {
            same = size_ > 0 && weights[position] == weights[positions_[size_ - 1]] ? same + 1 : 1;
            if (same <= alike) {
                positions_[size_++] = position;
            }
        }
    }

    /// At most `most` of all weights alike, from the lightest to the heaviest.
    void spread(std::size_t weights, std::size_t most) noexcept {
        size_ = std::min(weights, most);
        for (std::size_t index = 0; index < size_; ++index) {
            positions_[index] = weights - 1 - (size_ > 1 ? index * (weights - 1) / (size_ - 1) : 0);
        }
    }

    [[nodiscard]] std::span<std::size_t const> positions() const noexcept { return std::span{positions_}.first(size_); }

  private:
    std::array<std::size_t, capacity> positions_;
    std::size_t size_ = 0;
};

}  // namespace evenkeel::detail
