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
        auto const weights = ranks.weights(rank);
        bool const skip_alike = ranks.weight_says_all();
        for (std::size_t position = weights.size(); position-- > 0;) {
            if (!skip_alike || ones_.empty() || weights[position] != ones_.back().what.load) {
                ones_.push_back(ranks.hand(rank, static_cast<std::uint32_t>(position)));
            }
        }
        twos_.clear();
        if (light == 0) {
            return;
        }
        // Two that weigh the same make all the differences that more of them make.
        light_.choose(weights, std::min(light, most_light), 2);
        auto const positions = light_.positions();
        for (std::size_t one = 0; one < positions.size(); ++one) {
            for (std::size_t other = 0; other < one; ++other) {
                twos_.push_back(ranks.both(ranks.hand(rank, static_cast<std::uint32_t>(positions[one])),
                                           ranks.hand(rank, static_cast<std::uint32_t>(positions[other]))));
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

/// A rank's single bundles by rising load, as they are in its list; nothing comes first, if asked.
class single_hands {
  public:
    single_hands(roster const& ranks, std::uint32_t rank, bool with_nothing)
        : ranks_{&ranks}, rank_{rank}, weights_{ranks.weights(rank)}, nothing_{with_nothing ? 1U : 0U} {}

    [[nodiscard]] std::size_t size() const noexcept { return weights_.size() + nothing_; }
    [[nodiscard]] std::uint64_t load(std::size_t index) const noexcept {
        return index < nothing_ ? 0 : weights_[size() - 1 - index];
    }
    [[nodiscard]] handful operator[](std::size_t index) const noexcept {
        return index < nothing_ ? handful{} : ranks_->hand(rank_, static_cast<std::uint32_t>(size() - 1 - index));
    }

  private:
    roster const* ranks_;
    std::uint32_t rank_;
    std::span<std::uint64_t const> weights_;
    std::size_t nothing_;
};

/// The choices of a menu, seen alike.
class menu_hands {
  public:
    explicit menu_hands(std::span<handful const> hands) : hands_{hands} {}

    [[nodiscard]] std::size_t size() const noexcept { return hands_.size(); }
    [[nodiscard]] std::uint64_t load(std::size_t index) const noexcept { return hands_[index].what.load; }
    [[nodiscard]] handful const& operator[](std::size_t index) const noexcept { return hands_[index]; }

  private:
    std::span<handful const> hands_;
};

/// What moves in an exchange between two ranks: the right load, within limits.
class bargain {
  public:
    bargain(roster const& ranks, std::uint32_t giver, std::uint32_t taker)
        : ranks_{&ranks}, giver_{giver}, taker_{taker} {}

    handful give;
    handful take;
    std::uint64_t amount = 0;  ///< what moves on balance; 0 if there is none

    /// Looks for the exchange that moves least, but no less than `at_least` and no more than `at_most`; less than so
    /// far.
    template <class Gives, class Takes>
    void seek_smallest(Gives const& gives, Takes const& takes, std::uint64_t at_least, std::uint64_t at_most) {
        std::size_t next = 0;
        for (std::size_t index = 0; index < gives.size() && amount != at_least; ++index) {
            std::uint64_t const given = gives.load(index);
            if (given < at_least) {
                continue;
            }
            while (next < takes.size() && takes.load(next) <= given - at_least) {
                ++next;
            }
            std::uint64_t const bound = amount == 0 ? at_most : amount - 1;
            for (std::size_t place = next; place-- > next - std::min(next, alternatives);) {
                if (given - takes.load(place) > bound) {
                    break;
                }
                if (accept(gives[index], takes[place])) {
                    break;
                }
            }
        }
    }

    /// The exchange that moves most, within the same limits; more than so far.
    template <class Gives, class Takes>
    void seek_largest(Gives const& gives, Takes const& takes, std::uint64_t at_least, std::uint64_t at_most) {
        std::size_t next = 0;
        for (std::size_t index = 0; index < gives.size() && amount != at_most; ++index) {
            std::uint64_t const given = gives.load(index);
            while (next < takes.size() && given > takes.load(next) && given - takes.load(next) > at_most) {
                ++next;
            }
            std::uint64_t const bound = amount == 0 ? at_least : amount + 1;
            for (std::size_t place = next; place < std::min(takes.size(), next + alternatives); ++place) {
                if (given < takes.load(place) || given - takes.load(place) < bound) {
                    break;
                }
                if (accept(gives[index], takes[place])) {
                    break;
                }
            }
        }
    }

    /// Whether so many bundles may go for so many others at all: where bundles are single items, counts say.
    [[nodiscard]] bool may_move(std::size_t give_size, std::size_t take_size) const noexcept {
        auto const& problem = ranks_->problem();
        auto const& limits = problem.limits;
        if (!problem.single || !limits.counts()) {
            return true;
        }
        auto const may_have = [&](std::uint64_t before, std::size_t out, std::size_t in) {
            return before >= out && before - out + in <= std::max(limits.most_items, before) &&
                   before - out + in >= std::min(limits.least_items, before);
        };
        return may_have((*ranks_)[giver_].count, give_size, take_size) &&
               may_have((*ranks_)[taker_].count, take_size, give_size);
    }

  private:
    /// How many exchanges that limits forbid are passed over for each choice.
    static constexpr std::size_t alternatives = 6;

    bool accept(handful const& given, handful const& taken) noexcept {
        auto const& limits = ranks_->problem().limits;
        auto const& ranks = *ranks_;
        if (limits.any() && !(limits.allow(ranks[giver_], roster::after(ranks[giver_], given, taken)) &&
                              limits.allow(ranks[taker_], roster::after(ranks[taker_], taken, given)))) {
            return false;
        }
        give = given;
        take = taken;
        amount = given.what.load - taken.what.load;
        return true;
    }

    roster const* ranks_;
    std::uint32_t giver_;
    std::uint32_t taker_;
};

}  // namespace evenkeel::detail
