// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include <evenkeel/solve/detail/mixed_sizes.hpp>
#include <evenkeel/solve/detail/pattern_mixture.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// A bound for few sizes, such as tiles, where ranks pad their items to the longest: what a rank can hold of them
/// leaves room, or pads, by up to a hundredth of its load, which no mean sees. By the cutting stock programme of
/// `pattern_mixture`.
///
/// A rank whose items are padded to one size is a knapsack of the sizes up to that one; its most valuable filling, and
/// the least load that is worth so much, are found depth first, the sizes worth most for their weight first. A branch
/// ends where the rest of the room, filled with the best size that is left, would not be enough.
class mixed_patterns {
  public:
    static constexpr std::size_t most_sizes = 8;

    /// @param bound    What no plan can beat, at least the heaviest item.
    /// @param busiest  The best known load: there is no bound beyond it.
    /// @return         `bound`, or what is proved above it.
    std::uint64_t operator()(mixed_sizes const& sizes, std::size_t ranks, std::uint64_t bound, std::uint64_t busiest,
                             step_budget& steps) {
        sizes_ = &sizes;
        steps_ = &steps;
        std::array<std::uint64_t, most_sizes> counts{};
        std::array<std::uint64_t, most_sizes> fit{};
        for (std::size_t size = 0; size < sizes.size(); ++size) {
            counts[size] = sizes.count(size);
            fit[size] = bound / sizes.whole(size);
        }
        mixture_.reset(std::span{counts}.first(sizes.size()), std::span{fit}.first(sizes.size()));
        while (bound < busiest && in_range(busiest)) {
            std::int64_t const share = mixture_.share(ranks);
            std::int64_t worth = most_valuable(bound);
            if (worth < share && !steps.exhausted()) {
                bound = std::max(bound, least_load(share, busiest));
                worth = most_valuable(bound);
            }
            if (!mixture_.exact() || steps.exhausted() || bound == busiest || worth <= mixture_.worth_of_rank()) {
                break;
            }
            mixture_.enter(filling_);
        }
        return bound;
    }

  private:
    using wide = pattern_mixture::wide;

    /// A size, what an item of it is worth and what it weighs where all are padded to one size.
    struct choice {
        std::size_t size = 0;
        std::int64_t worth = 0;
        std::int64_t weight = 0;
    };

    /// Whether all that is worth something, up to a load of `most`, can be counted.
    [[nodiscard]] bool in_range(std::uint64_t most) {
        for (std::size_t size = 0; size < sizes_->size(); ++size) {
            static_cast<void>(mixture_.checked(wide{mixture_.price(size)} * (most / sizes_->whole(size))));
        }
        // Neither do more of the lightest go into a pattern than it counts.
        return mixture_.exact() && most <= std::uint64_t{1} << 62 &&
               most / sizes_->whole(sizes_->size() - 1) <= std::numeric_limits<std::uint32_t>::max();
    }

    /// Sets `choices_` to those up to `longest`, most worth for their weight first.
    void choose_from(std::size_t longest) {
        number_ = 0;
        for (std::size_t size = longest; size < sizes_->size(); ++size) {
            if (mixture_.price(size) > 0) {
                choices_[number_++] = {size, mixture_.price(size),
                                       static_cast<std::int64_t>(sizes_->padded[longest] + sizes_->packed[size])};
            }
        }
        std::sort(choices_.begin(), choices_.begin() + static_cast<std::ptrdiff_t>(number_),
                  [](choice const& a, choice const& b) {
                      wide const left = wide{a.worth} * b.weight;
                      wide const right = wide{b.worth} * a.weight;
                      return left > right || (left == right && a.size < b.size);
                  });
    }

    /// @return  What the most valuable filling of `room` is worth; it is in `filling_`.
    std::int64_t most_valuable(std::uint64_t room) {
        best_ = 0;
        filling_ = {};
        for (std::size_t longest = 0; longest < sizes_->size(); ++longest) {
            choose_from(longest);
            trial_ = {};
            fill(0, static_cast<std::int64_t>(room), 0);
        }
        return best_;
    }

    void fill(std::size_t at, std::int64_t room, std::int64_t worth) {
        steps_->spend(1);
        if (worth > best_) {
            best_ = worth;
            filling_ = trial_;
        }
        if (at == number_ || steps_->exhausted()) {
            return;
        }
        auto const& [size, each, weight] = choices_[at];
        for (std::int64_t count = room / weight; count >= 0; --count) {
            std::int64_t const left = room - count * weight;
            std::int64_t const so_far = worth + count * each;
            // Fewer of the best size only make it worse.
            if (so_far + at_most(at + 1, left) <= best_) {
                break;
            }
            trial_[size] = static_cast<std::uint32_t>(count);
            fill(at + 1, left, so_far);
        }
        trial_[size] = 0;
    }

    /// What room is worth at most when it is filled with the choices from `at` on.
    [[nodiscard]] std::int64_t at_most(std::size_t at, std::int64_t room) const noexcept {
        return at == number_ ? 0 : static_cast<std::int64_t>(wide{room} * choices_[at].worth / choices_[at].weight);
    }

    /// The least load below `most` of a filling that is worth so much, or `most`.
    std::uint64_t least_load(std::int64_t worth, std::uint64_t most) {
        least_ = static_cast<std::int64_t>(most);
        for (std::size_t longest = 0; longest < sizes_->size(); ++longest) {
            choose_from(longest);
            cover(0, worth, 0);
        }
        return steps_->exhausted() ? 0 : static_cast<std::uint64_t>(least_);
    }

    void cover(std::size_t at, std::int64_t missing, std::int64_t load) {
        steps_->spend(1);
        if (at == number_ || steps_->exhausted()) {
            return;
        }
        auto const& [size, each, weight] = choices_[at];
        std::int64_t const most = std::min((missing + each - 1) / each, (least_ - 1 - load) / weight);
        for (std::int64_t count = most; count >= 0; --count) {
            std::int64_t const left = missing - count * each;
            std::int64_t const so_far = load + count * weight;
            if (left <= 0) {
                least_ = so_far;
                continue;
            }
            if (at + 1 == number_ || so_far + at_least(at + 1, left) >= least_) {
                break;
            }
            cover(at + 1, left, so_far);
        }
    }

    /// What choices from `at` on that are worth so much weigh at least: cheap and heavy ones far more than any rank.
    [[nodiscard]] wide at_least(std::size_t at, std::int64_t worth) const noexcept {
        auto const& [size, each, weight] = choices_[at];
        return (wide{worth} * weight + each - 1) / each;
    }

    mixed_sizes const* sizes_ = nullptr;
    step_budget* steps_ = nullptr;
    pattern_mixture mixture_;
    std::array<choice, most_sizes> choices_{};
    std::size_t number_ = 0;  ///< of choices
    std::int64_t best_ = 0;
    std::int64_t least_ = 0;
    size_pattern trial_{};
    size_pattern filling_{};
};

}  // namespace evenkeel::detail
