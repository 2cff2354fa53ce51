// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/light_items.hpp>
#include <evenkeel/solve/detail/roster.hpp>

namespace evenkeel::detail {

/// What a rank can give in an exchange: nothing, one bundle, or two of the lightest; each by rising load.
class hand_menu {
  public:
    void reserve(std::size_t bundles) {
        ones_.reserve(bundles);
        twos_.reserve(most_light * (most_light - 1) / 2);
    }

    static constexpr std::size_t most_light = 16;

    /// @param light  How many of the lightest are paired; 0 for no pairs.
    void open(roster const& ranks, std::size_t rank, std::size_t light) {
        ones_.clear();
        for (std::size_t position = ranks.bundles(rank).size(); position-- > 0;) {
            ones_.push_back(ranks.hand(rank, static_cast<std::uint32_t>(position)));
        }
        twos_.clear();
        if (light == 0) {
            return;
        }
        // Two that weigh the same make all the differences that more of them make.
        light_.choose(ranks.weights(rank), std::min(light, most_light), 2);
        auto const positions = light_.positions();
        for (std::size_t one = 0; one < positions.size(); ++one) {
            for (std::size_t other = 0; other < one; ++other) {
                twos_.push_back(
                    ranks.both(ones_[ones_.size() - 1 - positions[one]], ones_[ones_.size() - 1 - positions[other]]));
            }
        }
        std::ranges::sort(twos_, [](handful const& a, handful const& b) {
            return a.what.load < b.what.load ||
                   (a.what.load == b.what.load && (a.first > b.first || (a.first == b.first && a.second > b.second)));
        });
    }

    /// The choices of `size` bundles.
    [[nodiscard]] std::span<handful const> of(std::size_t size) const noexcept {
        return size == 0 ? std::span<handful const>{nothing_} : size == 1 ? std::span{ones_} : std::span{twos_};
    }

    [[nodiscard]] std::size_t size() const noexcept { return ones_.size() + twos_.size() + 1; }

  private:
    std::array<handful, 1> nothing_{};
    std::vector<handful> ones_;
    std::vector<handful> twos_;
    light_items light_;
};

/// Looks for the exchange between two ranks that moves the right load and breaks no limit.
class bargain {
  public:
    bargain() = default;

    handful give;
    handful take;
    std::uint64_t amount = 0;  ///< what moves on balance; 0 if there is none

    /// The exchange that moves least, but no less than `at_least` and no more than `at_most`.
    void seek_smallest(roster const& ranks, std::uint32_t giver, hand_menu const& gives, std::uint32_t taker,
                       hand_menu const& takes, std::uint64_t at_least, std::uint64_t at_most) {
        amount = 0;
        for_each_size(ranks, giver, taker, [&](std::size_t give_size, std::size_t take_size) {
            auto const given = gives.of(give_size);
            auto const taken = takes.of(take_size);
            std::size_t next = 0;
            for (auto const& hand : given) {
                if (hand.what.load < at_least) {
                    continue;
                }
                std::uint64_t const most = hand.what.load - at_least;
                while (next < taken.size() && taken[next].what.load <= most) {
                    ++next;
                }
                std::uint64_t const bound = amount == 0 ? at_most : amount - 1;
                for (std::size_t place = next; place-- > next - std::min(next, alternatives);) {
                    std::uint64_t const moved = hand.what.load - taken[place].what.load;
                    if (moved > bound) {
                        break;
                    }
                    if (allowed(ranks, giver, hand, taker, taken[place])) {
                        *this = bargain{hand, taken[place], moved};
                        break;
                    }
                }
                if (amount == at_least) {
                    return;
                }
            }
        });
    }

    /// The exchange that moves most, within the same limits.
    void seek_largest(roster const& ranks, std::uint32_t giver, hand_menu const& gives, std::uint32_t taker,
                      hand_menu const& takes, std::uint64_t at_least, std::uint64_t at_most) {
        amount = 0;
        for_each_size(ranks, giver, taker, [&](std::size_t give_size, std::size_t take_size) {
            auto const given = gives.of(give_size);
            auto const taken = takes.of(take_size);
            std::size_t next = 0;
            for (auto const& hand : given) {
                while (next < taken.size() && hand.what.load > taken[next].what.load &&
                       hand.what.load - taken[next].what.load > at_most) {
                    ++next;
                }
                std::uint64_t const bound = amount == 0 ? at_least : amount + 1;
                for (std::size_t place = next; place < std::min(taken.size(), next + alternatives); ++place) {
                    if (hand.what.load < taken[place].what.load || hand.what.load - taken[place].what.load < bound) {
                        break;
                    }
                    if (allowed(ranks, giver, hand, taker, taken[place])) {
                        *this = bargain{hand, taken[place], hand.what.load - taken[place].what.load};
                        break;
                    }
                }
                if (amount == at_most) {
                    return;
                }
            }
        });
    }

  private:
    /// How many exchanges that limits forbid are passed over for each choice.
    static constexpr std::size_t alternatives = 6;

    /// Fewer bundles against fewer first. Where bundles are single items, counts say at once what is in vain.
    template <class Visit>
    static void for_each_size(roster const& ranks, std::uint32_t giver, std::uint32_t taker, Visit visit) {
        auto const& problem = ranks.problem();
        auto const& limits = problem.limits;
        for (std::size_t give = 1; give <= 2; ++give) {
            for (std::size_t take = 0; take <= 2; ++take) {
                if (problem.single && limits.counts()) {
                    auto const moved = [&](std::uint32_t rank, std::size_t out, std::size_t in) {
                        std::uint64_t const count = ranks[rank].count - out + in;
                        return count <= std::max(limits.most_items, ranks[rank].count) &&
                               count >= std::min(limits.least_items, ranks[rank].count);
                    };
                    if (ranks[giver].count < give || ranks[taker].count < take || !moved(giver, give, take) ||
                        !moved(taker, take, give)) {
                        continue;
                    }
                }
                visit(give, take);
            }
        }
    }

    [[nodiscard]] static bool allowed(roster const& ranks, std::uint32_t giver, handful const& given,
                                      std::uint32_t taker, handful const& taken) noexcept {
        auto const& limits = ranks.problem().limits;
        return !limits.any() || (limits.allow(ranks[giver], roster::after(ranks[giver], given, taken)) &&
                                 limits.allow(ranks[taker], roster::after(ranks[taker], taken, given)));
    }

    bargain(handful const& given, handful const& taken, std::uint64_t moved)
        : give{given}, take{taken}, amount{moved} {}
};

}  // namespace evenkeel::detail
