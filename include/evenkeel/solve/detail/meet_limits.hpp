// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/roster.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// Brings ranks within their limits by exchanges that lower what is broken, whatever becomes of the loads.
///
/// A rank that breaks a limit deals with those that are farthest from breaking it, and some at a stride; of all
/// exchanges of up to two bundles, the one after which least is broken, and of equals the one after which the busier of
/// the two is least so. What is broken falls with each exchange.
class meet_limits {
  public:
    void reserve(std::size_t ranks) {
        broken_.reserve(ranks);
        mine_.reserve(most_hands);
        theirs_.reserve(most_hands);
    }

    void operator()(roster& ranks, step_budget& steps) {
        ranks_ = &ranks;
        steps_ = &steps;
        for (std::size_t round = 0; round < 4 && !steps.exhausted(); ++round) {
            broken_.clear();
            for (std::uint32_t rank = 0; rank < ranks.ranks(); ++rank) {
                if (violation(rank) > 0) {
                    broken_.push_back(rank);
                }
            }
            steps.spend(ranks.ranks());
            if (broken_.empty()) {
                return;
            }
            std::ranges::sort(broken_, [&](std::uint32_t a, std::uint32_t b) {
                return violation(a) > violation(b) || (violation(a) == violation(b) && a < b);
            });
            bool changed = false;
            for (auto const rank : broken_) {
                while (violation(rank) > 0 && !steps.exhausted() && mend(rank)) {
                    changed = true;
                }
            }
            if (!changed) {
                return;
            }
        }
    }

  private:
    static constexpr std::size_t most_ones = 48;
    static constexpr std::size_t most_paired = 16;
    static constexpr std::size_t most_hands = 1 + most_ones + most_paired * (most_paired - 1) / 2;

    [[nodiscard]] std::uint64_t violation(std::size_t rank) const noexcept {
        return ranks_->problem().limits.violation((*ranks_)[rank]);
    }

    /// How far `rank` is from what troubles `of`: the smaller, the farther.
    [[nodiscard]] std::uint64_t nearness(holding const& of, std::size_t rank) const noexcept {
        auto const& limits = ranks_->problem().limits;
        auto const& own = (*ranks_)[rank];
        if (of.count > limits.most_items) {
            return own.count;
        }
        if (of.count < limits.least_items) {
            return rank_limits::none - own.count;
        }
        if (of.quantity > limits.quantity) {
            return own.quantity;
        }
        return rank_limits::none - own.working;
    }

    bool mend(std::uint32_t rank) {
        std::array<std::uint32_t, 8> farthest{};
        std::size_t const size = find_farthest(rank, farthest);
        for (bool const pairs : {false, true}) {
            best_ = {};
            fill(rank, pairs, mine_);
            for (auto const partner : std::span{farthest}.first(size)) {
                try_partner(rank, partner, pairs);
            }
            constexpr std::size_t strided = 8;
            std::size_t const stride = std::max<std::size_t>(1, ranks_->ranks() / (strided + 1));
            for (std::size_t number = 0; number < strided && best_.gain < violation(rank); ++number) {
                auto const partner = static_cast<std::uint32_t>((rank + 1 + number * stride) % ranks_->ranks());
                if (partner != rank) {
                    try_partner(rank, partner, pairs);
                }
            }
            if (best_.gain > 0) {
                ranks_->exchange(rank, best_.give, best_.partner, best_.take);
                return true;
            }
        }
        return false;
    }

    std::size_t find_farthest(std::uint32_t rank, std::span<std::uint32_t> farthest) {
        auto const& own = (*ranks_)[rank];
        std::size_t size = 0;
        steps_->spend(ranks_->ranks());
        for (std::uint32_t other = 0; other < ranks_->ranks(); ++other) {
            if (other == rank ||
                (size == farthest.size() && nearness(own, other) >= nearness(own, farthest[size - 1]))) {
                continue;
            }
            std::size_t place = size < farthest.size() ? size++ : size - 1;
            for (; place > 0 && nearness(own, farthest[place - 1]) > nearness(own, other); --place) {
                farthest[place] = farthest[place - 1];
            }
            farthest[place] = other;
        }
        return size;
    }

    /// Nothing, each bundle or some at a stride, and all pairs of the lightest.
    void fill(std::uint32_t rank, bool pairs, std::vector<handful>& hands) const {
        hands.assign(1, {});
        std::size_t const size = ranks_->bundles(rank).size();
        std::size_t const stride = size / most_ones + 1;
        for (std::size_t position = 0; position < size; position += stride) {
            hands.push_back(ranks_->hand(rank, static_cast<std::uint32_t>(position)));
        }
        if (!pairs) {
            return;
        }
        std::size_t const first = size - std::min(size, most_paired);
        for (std::size_t one = first; one < size; ++one) {
            for (std::size_t other = first; other < one; ++other) {
                hands.push_back(ranks_->both(ranks_->hand(rank, static_cast<std::uint32_t>(other)),
                                             ranks_->hand(rank, static_cast<std::uint32_t>(one))));
            }
        }
    }

    void try_partner(std::uint32_t rank, std::uint32_t partner, bool pairs) {
        fill(partner, pairs, theirs_);
        auto const& problem = ranks_->problem();
        steps_->spend(2 * mine_.size() * theirs_.size());
        std::uint64_t const before = violation(rank) + violation(partner);
        for (auto const& give : mine_) {
            for (auto const& take : theirs_) {
                auto const own = roster::after((*ranks_)[rank], give, take);
                auto const other = roster::after((*ranks_)[partner], take, give);
                std::uint64_t const left = problem.limits.violation(own) + problem.limits.violation(other);
                if (left >= before) {
                    continue;
                }
                std::uint64_t const gain = before - left;
                std::uint64_t const busier = std::max(problem.time(rank, own.load), problem.time(partner, other.load));
                if (gain > best_.gain || (gain == best_.gain && busier < best_.busier)) {
                    best_ = {gain, busier, partner, give, take};
                }
            }
        }
    }

    struct deal {
        std::uint64_t gain = 0;
        std::uint64_t busier = 0;
        std::uint32_t partner = 0;
        handful give;
        handful take;
    };

    roster* ranks_ = nullptr;
    step_budget* steps_ = nullptr;
    std::vector<std::uint32_t> broken_;
    std::vector<handful> mine_;
    std::vector<handful> theirs_;
    deal best_;
};

}  // namespace evenkeel::detail
