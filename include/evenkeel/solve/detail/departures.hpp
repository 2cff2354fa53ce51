// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace evenkeel::detail {

/// Remembers what has left a node, as long as that is little: whoever looks for what is away then need not look at all
/// items.
class departures {
  public:
    void reserve(std::size_t batch) { items_.reserve(worthwhile(batch)); }

    /// @param batch     How many items there are.
    /// @param at_home   Whether all of them begin at home.
    void start(std::size_t batch, bool at_home) {
        items_.clear();
        most_ = at_home ? worthwhile(batch) : 0;
    }

    void add(std::uint32_t item) {
        if (items_.size() < most_) {
            items_.push_back(item);
        }
    }

    /// Whether it is all.
    [[nodiscard]] bool known() const noexcept { return items_.size() < most_; }
    /// Some more than once, and some may be back.
    [[nodiscard]] std::span<std::uint32_t const> items() const noexcept { return items_; }

  private:
    [[nodiscard]] static std::size_t worthwhile(std::size_t batch) noexcept { return batch / 8 + 1; }

    std::vector<std::uint32_t> items_;
    std::size_t most_ = 0;
};

}  // namespace evenkeel::detail
