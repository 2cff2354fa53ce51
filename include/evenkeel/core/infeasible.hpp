// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace evenkeel {

/// A wish that provably cannot be met: thrown instead of a result that breaks it, the same on every rank.
///
///     "search_groups: the memory of pipelines[1] cannot be met, 1024 are missing"
class infeasible : public std::runtime_error {
  public:
    static constexpr std::uint64_t most_amount = std::uint64_t{1} << 63U;

    /// @param constraint  Which wish, and who asked.
    /// @param item        The first item, by position, that stands against it; empty where none does alone.
    /// @param amount      How far the best possible is from it, in the constraint's own unit; from `most_amount` on it
    ///                    may be farther.
    infeasible(std::string_view constraint, std::optional<std::size_t> item, std::uint64_t amount)
        : std::runtime_error{text_of(constraint, item, amount)},
          constraint_{constraint},
          item_{item},
          amount_{amount} {}

    [[nodiscard]] std::string const& constraint() const noexcept { return constraint_; }
    [[nodiscard]] std::optional<std::size_t> item() const noexcept { return item_; }
    [[nodiscard]] std::uint64_t amount() const noexcept { return amount_; }

  private:
    static std::string text_of(std::string_view constraint, std::optional<std::size_t> item, std::uint64_t amount) {
        std::string text{constraint};
        text.append(" cannot be met");
        if (item) {
            text.append(" by item ").append(std::to_string(*item));
        }
        text.append(", ").append(amount < most_amount ? "" : "at least ").append(std::to_string(amount));
        return text.append(amount == 1 ? " is missing" : " are missing");
    }

    std::string constraint_;
    std::optional<std::size_t> item_;
    std::uint64_t amount_;
};

}  // namespace evenkeel
