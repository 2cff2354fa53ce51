// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace evenkeel::detail {

/// How many steps a search may still take.
///
/// Steps are counted, never timed, so a search ends at the same place on every machine. One is a comparison or so.
class step_budget {
  public:
    explicit step_budget(std::uint64_t steps) : left_{steps} {}

    void spend(std::uint64_t steps) noexcept { left_ -= std::min(steps, left_); }

    /// Takes at most `steps` out, for a part of the search.
    [[nodiscard]] step_budget part(std::uint64_t steps) noexcept {
        step_budget const result{std::min(steps, left_)};
        left_ -= result.left_;
        return result;
    }

    /// What a part did not need.
    void give_back(step_budget const& part) noexcept { left_ += part.left_; }

    [[nodiscard]] std::uint64_t left() const noexcept { return left_; }
    [[nodiscard]] bool exhausted() const noexcept { return left_ == 0; }

  private:
    std::uint64_t left_;
};

}  // namespace evenkeel::detail
