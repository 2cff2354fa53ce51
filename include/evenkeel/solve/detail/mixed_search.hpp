// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include <evenkeel/solve/detail/mixed_fill.hpp>
#include <evenkeel/solve/detail/mixed_sizes.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// A bound under which one way of filling finds a rank for every item.
struct mixed_found {
    std::uint64_t bound = 0;
    mixed_filling filling = mixed_filling::largest;
    std::uint64_t load = 0;  ///< of the busiest rank then
};

/// Looks for the least bound under which all items find a rank.
///
/// What found no rank, spread over all of them, says how much higher a bound has to be; what ranks had to spare, how
/// much lower it may be. Each bound takes at least an eighth off the interval, down to about a 4096th. A higher bound
/// does not always suffice where a lower one does, so both ways of filling are tried just below what was found, in
/// turn.
class mixed_search {
  public:
    void reserve(std::size_t items) { fill_.reserve(items); }

    /// @param bound  No plan is below.
    /// @param goal   Good enough to stop.
    /// @return       Nothing if the load of a rank exceeds 64 bits.
    std::optional<mixed_found> operator()(mixed_sizes const& sizes, std::size_t ranks, std::uint64_t bound,
                                          std::uint64_t goal, step_budget& steps) {
        sizes_ = &sizes;
        ranks_ = ranks;
        goal_ = goal;
        steps_ = &steps;
        best_.reset();
        bool better = descend(mixed_filling::folded, bound, bound);
        for (auto filling = mixed_filling::largest; better && !done();
             filling = filling == mixed_filling::largest ? mixed_filling::folded : mixed_filling::largest) {
            better = descend(filling, std::max(bound, below(best_->load)), bound);
        }
        if (!best_) {
            // So many of the heaviest fit that as many of any fit, and then all items.
            std::uint64_t const per_rank = sizes.items() / ranks + (sizes.items() % ranks != 0 ? 1 : 0);
            std::uint64_t most = 0;
            if (__builtin_mul_overflow(per_rank, sizes.whole(0), &most)) {
                most = std::numeric_limits<std::uint64_t>::max();
            }
            try_bound(most, mixed_filling::largest);
        }
        return best_;
    }

    /// Repeats what was found and hands out its batches; see `mixed_fill`.
    template <class Place>
    void place(mixed_found const& found, Place place) {
        step_budget unlimited{std::numeric_limits<std::uint64_t>::max()};
        fill_(*sizes_, ranks_, found.bound, found.filling, unlimited, place);
    }

  private:
    [[nodiscard]] bool done() const noexcept { return steps_->exhausted() || (best_ && best_->load <= goal_); }

    [[nodiscard]] static std::uint64_t below(std::uint64_t load) noexcept { return load - load / 4096 - 1; }

    mixed_outcome try_bound(std::uint64_t bound, mixed_filling filling) {
        auto const outcome = fill_(*sizes_, ranks_, bound, filling, *steps_, [](auto...) {});
        if (outcome.homeless == 0 && (!best_ || outcome.largest < best_->load)) {
            best_ = mixed_found{.bound = bound, .filling = filling, .load = outcome.largest};
        }
        return outcome;
    }

    /// Steps grow as long as nothing suffices, so that the first plan is found soon, whatever the effort.
    ///
    /// @return  Whether there is a new best; gives up at once if there is one already and `start` does not suffice.
    bool descend(mixed_filling filling, std::uint64_t start, std::uint64_t lowest) {
        bool better = false;
        std::uint64_t missed = lowest - 1;
        std::uint64_t step = 0;
        for (std::uint64_t bound = start; !best_ || (!done() && bound < best_->load);) {
            bool const first = !best_;
            auto const outcome = try_bound(bound, filling);
            std::uint64_t next = 0;
            if (outcome.homeless == 0) {
                better = true;
                next = bound - std::min(outcome.spare, bound);
            } else {
                if (!first && !better) {
                    return false;
                }
                missed = std::max(missed, bound);
                std::uint64_t const more = outcome.homeless / ranks_;
                step = std::max(more + more / 16 + 1, first ? 2 * step : 0);
                if (__builtin_add_overflow(bound, step, &next)) {
                    return better;
                }
            }
            if (best_) {
                if (below(best_->load) <= missed) {
                    return better;
                }
                std::uint64_t const edge = (best_->load - missed) / 8 + 1;
                next = std::clamp(next, missed + edge, std::max(missed + edge, best_->load - edge));
            }
            bound = next;
        }
        return better;
    }

    mixed_fill fill_;
    mixed_sizes const* sizes_ = nullptr;
    std::size_t ranks_ = 0;
    std::uint64_t goal_ = 0;
    step_budget* steps_ = nullptr;
    std::optional<mixed_found> best_;
};

}  // namespace evenkeel::detail
