// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <evenkeel/core/plan.hpp>

namespace evenkeel {

/// A wish that a search did not meet within its effort, although nothing proves that it cannot be met.
///
///     "balance: options.wishes.cap was not met within the effort, the nearest attempt misses it by 3"
///
/// The same on every rank, as effort is counted in steps. More effort may help; so may the nearest attempt.
class not_found : public std::runtime_error {
  public:
    /// @param constraint  Which wish, and who asked.
    /// @param violation   By how much the nearest attempt misses it, over all ranks, in the constraint's own unit.
    /// @param nearest     The nearest attempt: a partition that breaks the wish.
    not_found(std::string_view constraint, std::uint64_t violation, plan nearest)
        : std::runtime_error{text_of(constraint, violation)},
          constraint_{std::make_shared<std::string const>(constraint)},
          violation_{violation},
          nearest_{std::make_shared<plan const>(std::move(nearest))} {}

    [[nodiscard]] std::string const& constraint() const noexcept { return *constraint_; }
    [[nodiscard]] std::uint64_t violation() const noexcept { return violation_; }
    [[nodiscard]] plan const& nearest() const noexcept { return *nearest_; }

  private:
    static std::string text_of(std::string_view constraint, std::uint64_t violation) {
        std::string text{constraint};
        return text.append(" was not met within the effort, the nearest attempt misses it by ")
            .append(std::to_string(violation));
    }

    // Shared, because an exception is copied while nothing may be thrown.
    std::shared_ptr<std::string const> constraint_;
    std::uint64_t violation_;
    std::shared_ptr<plan const> nearest_;
};

}  // namespace evenkeel
