// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/fine_loads.hpp>
#include <evenkeel/solve/detail/menu.hpp>
#include <evenkeel/solve/detail/partners.hpp>
#include <evenkeel/solve/detail/placement.hpp>
#include <evenkeel/solve/detail/regroup.hpp>
#include <evenkeel/solve/detail/repack.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>
#include <evenkeel/solve/detail/transfer.hpp>

namespace evenkeel::detail {

/// Brings every rank down to a target load by exchanges between ranks above it and ranks with room.
///
/// The means, each tried on all ranks that are still above the target before the next, dearer one:
///  1. one item against one or none;
///  2. some of the lightest five items against some of the lightest five;
///  3. some of eight, light and heavy ones, against some of eight; in place of 2 where items are few and loads fine;
///  4. the same with the lightest eight, or nine if there are few sizes;
///  5. with no more than three items per rank or so, those of four or five ranks packed anew;
///  6. the items of three ranks shared out anew; failing that, an exchange that at least lowers the excess.
///
/// An exchange lifts no rank above the target and lowers the one above it, so the total excess falls with each and the
/// busiest rank never gets busier: whatever the outcome, the placement is no worse than before. Partners are the ranks
/// with most room; from the second means on also ranks at a stride through all, for longest first makes many ranks
/// alike and what does not fit into one of them does not fit into the next either.
///
/// An exchange moves the whole excess and as little more as possible; where there is less room than excess, it fills
/// the room. Thus room is not spread thin but stays together, where it helps the next.
class repair {
  public:
    void reserve(std::size_t items, std::size_t ranks) {
        gives_.reserve(items);
        takes_.reserve(items);
        over_.reserve(ranks);
        partners_.reserve(ranks);
    }

    /// @param waste   How far below the target a rank may stay that is to be filled, or an eighth of its room.
    /// @param turn    Differs from try to try, so that other partners are met.
    /// @param coarse  Whether an exchange is fine enough that uses up a quarter of the room it need not: quicker.
    /// @return        Whether every rank is at the target or below.
    bool operator()(placement& loads, std::uint64_t target, std::uint64_t waste, std::size_t turn, step_budget& steps,
                    bool coarse = false) {
        coarse_ = coarse;
        loads_ = &loads;
        target_ = target;
        waste_ = waste;
        steps_ = &steps;
        partners_.reset(loads, target, turn, steps);
        items_ = 0;
        for (std::size_t rank = 0; rank < loads.ranks(); ++rank) {
            items_ += loads.items(rank).size();
        }
        few_and_fine_ = few_and_fine(items_, loads.ranks(), target);
        bool const few = loads.ranks() >= repack::most_ranks && 10 * items_ <= 33 * loads.ranks();
        return relieve_all(&repair::exchange_one) || relieve_all(&repair::exchange_few) ||
               relieve_all(&repair::exchange_spread) || relieve_all(&repair::exchange_many) ||
               (few && relieve_all(&repair::repack_some)) || relieve_all(&repair::regroup_three);
    }

  private:
    /// One means: whether it lowered the load of `over`.
    using way = bool (repair::*)(std::uint32_t over);

    [[nodiscard]] std::uint64_t excess(std::uint32_t rank) const noexcept { return loads_->load(rank) - target_; }
    [[nodiscard]] std::uint64_t room(std::uint32_t rank) const noexcept { return target_ - loads_->load(rank); }

    /// Relieves by one means whatever is above the target, the busiest rank first.
    bool relieve_all(way means) {
        over_.clear();
        for (std::uint32_t rank = 0; rank < loads_->ranks(); ++rank) {
            if (loads_->load(rank) > target_) {
                over_.push_back(rank);
            }
        }
        steps_->spend(loads_->ranks() / 4 + 1);
        std::ranges::sort(over_, [&](std::uint32_t a, std::uint32_t b) {
            return loads_->load(a) > loads_->load(b) || (loads_->load(a) == loads_->load(b) && a < b);
        });
        std::size_t failures = 0;
        for (auto const over : over_) {
            while (loads_->load(over) > target_ && !steps_->exhausted() && (this->*means)(over)) {
            }
            partners_.push(over);
            // The last means is too dear to be tried on every rank of a lost cause.
            constexpr std::size_t most_failures = 8;
            failures += loads_->load(over) > target_ ? 1U : 0U;
            if (steps_->exhausted() || (failures == most_failures && means == &repair::regroup_three)) {
                return false;
            }
        }
        return failures == 0;
    }

    bool exchange_one(std::uint32_t over) {
        gives_.one_item(*loads_, over);
        auto const attempt = [&](std::uint32_t partner) {
            takes_.one_item(*loads_, partner);
            return exchange_with(over, partner, takes_);
        };
        bool const alike = of_few_sizes(loads_->weights(over));
        // Light items of others are no match for those of a rank that has few and heavy ones.
        bool const heavy = 2 * loads_->items(over).size() * loads_->ranks() <= items_;
        return partners_.with_roomiest(alike ? 4 : 16, attempt) || (heavy && partners_.with_others(over, 32, attempt));
    }

    bool exchange_few(std::uint32_t over) {
        bool const spread = few_and_fine_ && can_spread(loads_->items(over).size(), true);
        return !spread && !of_few_sizes(loads_->weights(over)) && exchange_some(&menu::some_items, over, 5, 24);
    }
    bool exchange_many(std::uint32_t over) { return exchange_some(&menu::some_items, over, most_items(over), 32); }
    bool exchange_spread(std::uint32_t over) {
        return can_spread(loads_->items(over).size(), few_and_fine_) && exchange_some(&menu::spread_items, over, 8, 32);
    }

    [[nodiscard]] std::size_t most_items(std::uint32_t rank) const noexcept {
        return of_few_sizes(loads_->weights(rank)) ? 9 : 8;
    }

    /// Which items of a rank take part.
    using choice = void (menu::*)(placement const& loads, std::uint32_t rank, std::size_t most);

    bool exchange_some(choice choose, std::uint32_t over, std::size_t items, std::size_t tries) {
        (gives_.*choose)(*loads_, over, items);
        steps_->spend(2 * gives_.sums().size());
        auto const attempt = [&](std::uint32_t partner) {
            auto& takes = takes_of_[partner % takes_of_.size()];
            (takes.*choose)(*loads_, partner, items);
            steps_->spend(2 * takes.sums().size());
            return exchange_with(over, partner, takes);
        };
        return partners_.with_roomiest(tries / 2, attempt) || partners_.with_others(over, tries / 2, attempt);
    }

    /// Seeks a transfer in the menus, `gives_` of the one and `takes` of the other, and carries it out.
    bool exchange_with(std::uint32_t over, std::uint32_t partner, menu const& takes) {
        steps_->spend(gives_.sums().size() + takes.sums().size());
        auto const best = relieving_transfer(gives_.sums(), takes.sums(), excess(over), room(partner), waste_, coarse_);
        if (best) {
            exchange(*loads_, over, gives_, partner, takes, *best);
        }
        return best.has_value();
    }

    /// A rank with room and others at strides, four or five together.
    bool repack_some(std::uint32_t over) {
        constexpr std::size_t tries = 64;
        std::size_t const together = 10 * items_ <= 26 * loads_->ranks() ? 5 : 4;
        std::array<std::uint32_t, 8> most_room;
        auto const roomy = partners_.write_roomiest(most_room);
        for (std::size_t number = 0; !roomy.empty() && number < tries && !steps_->exhausted(); ++number) {
            std::array<std::uint32_t, repack::most_ranks> ranks{over, roomy[number % roomy.size()]};
            std::size_t chosen = 2;
            for (std::size_t next = 0; chosen < together && next < 2 * repack::most_ranks; ++next) {
                std::uint32_t const rank = partners_.at_stride(over, 7 * number + next * (tries + 3), 7 * tries);
                if (std::find(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(chosen), rank) ==
                    ranks.begin() + static_cast<std::ptrdiff_t>(chosen)) {
                    ranks[chosen++] = rank;
                }
            }
            auto const all = std::span{ranks}.first(chosen);
            if (repack_(*loads_, all, target_, *steps_)) {
                for (auto const rank : all) {
                    partners_.push(rank);
                }
                return true;
            }
        }
        return false;
    }

    bool regroup_three(std::uint32_t over) {
        constexpr std::size_t tries = 40;
        std::array<std::uint32_t, 25> most_room;
        auto const roomy = partners_.write_roomiest(most_room);
        std::size_t const size = roomy.size();
        auto const attempt = [&](std::uint32_t second, std::uint32_t third) {
            if (third == over || third == second || !regroup_(*loads_, {over, second, third}, target_, *steps_)) {
                return false;
            }
            partners_.push(second);
            partners_.push(third);
            return true;
        };
        for (std::size_t second = 0; second < std::min<std::size_t>(size, 5); ++second) {
            for (std::size_t number = 0; number < tries / 2 && !steps_->exhausted(); ++number) {
                if ((second + 1 + number < size && attempt(roomy[second], roomy[second + 1 + number])) ||
                    attempt(roomy[second], partners_.at_stride(over, number, tries / 2))) {
                    return true;
                }
            }
        }
        return lower_excess(over, roomy.first(std::min<std::size_t>(size, 16)));
    }

    /// The exchange that takes most off a rank without bringing it down to the target; at least a quarter of its
    /// excess.
    bool lower_excess(std::uint32_t over, std::span<std::uint32_t const> partners) {
        std::size_t const items = most_items(over);
        gives_.some_items(*loads_, over, items);
        std::uint64_t at_least = excess(over) / 4 + 1;
        std::optional<transfer> best;
        std::uint32_t best_partner = 0;
        for (auto const partner : partners) {
            takes_.some_items(*loads_, partner, items);
            steps_->spend(3 * takes_.sums().size() + gives_.sums().size());
            auto const found =
                largest_transfer(gives_.sums(), takes_.sums(), at_least, std::min(excess(over), room(partner)));
            if (found) {
                best = found;
                best_partner = partner;
                at_least = found->amount + 1;
            }
        }
        if (best) {
            takes_.some_items(*loads_, best_partner, items);
            exchange(*loads_, over, gives_, best_partner, takes_, *best);
            partners_.push(best_partner);
        }
        return best.has_value();
    }

    placement* loads_ = nullptr;
    std::uint64_t target_ = 0;
    std::uint64_t waste_ = 0;
    bool coarse_ = false;
    std::size_t items_ = 0;  ///< of all ranks
    bool few_and_fine_ = false;
    step_budget* steps_ = nullptr;
    std::vector<std::uint32_t> over_;
    partners partners_;
    menu gives_;
    menu takes_;
    std::array<menu, 16> takes_of_;  ///< of few ranks, each its own: it need not be made anew for every exchange
    repack repack_;
    regroup regroup_;
};

}  // namespace evenkeel::detail
