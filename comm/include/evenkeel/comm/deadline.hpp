// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace evenkeel::comm {

/// The moment at which a rank stops waiting and reports a fault instead.
///
///     pending.wait(30s);   // 30 seconds from here
///
/// A moment, not a duration, so that several waits share one budget: make it once, pass it on.
class deadline {
  public:
    using clock = std::chrono::steady_clock;

    /// `budget` from now. Implicit, so that a duration may stand where a deadline is asked for. A budget below zero is
    /// zero, one beyond the end of the clock is that end.
    template <class Rep, class Period>
    deadline(std::chrono::duration<Rep, Period> budget) : at_{clock::now()} {
        if (budget < budget.zero()) {
            return;
        }
        auto const left = std::chrono::duration<double>{clock::time_point::max() - at_};
        at_ = std::chrono::duration<double>{budget} < left ? at_ + std::chrono::duration_cast<clock::duration>(budget)
                                                           : clock::time_point::max();
    }

    [[nodiscard]] clock::time_point at() const noexcept { return at_; }
    [[nodiscard]] bool passed() const noexcept { return clock::now() >= at_; }

  private:
    clock::time_point at_;
};

}  // namespace evenkeel::comm
