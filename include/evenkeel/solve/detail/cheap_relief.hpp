// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/light_items.hpp>
#include <evenkeel/solve/detail/placement.hpp>
#include <evenkeel/solve/detail/stay_state.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>
#include <evenkeel/solve/detail/subset_sums.hpp>

namespace evenkeel::detail {

/// Brings the last few ranks down to a target load by exchanges with ranks of any node, so that few bytes leave home.
///
/// Where a node cannot even out its own ranks, mostly one of them is left a little above the target: no choice of the
/// node's items makes the sums it takes. Among the items of all ranks there are plenty that do. Of all exchanges of
/// some light items of that rank against some light ones of another, the one is taken whose items cost least where they
/// go; what comes home that way costs less than nothing. If no rank has room for the whole excess, the exchange that
/// costs least for what it takes off, and so on.
class cheap_relief {
  public:
    void reserve(std::size_t items, std::size_t ranks) {
        placement_.reserve(items, ranks);
        over_.reserve(ranks);
    }

    /// @param below  What bytes between nodes may cost in all before it gives up.
    /// @return       Whether every rank is at the target or below. If not, none has more above it than before.
    bool operator()(stay_state& state, std::uint64_t target, std::uint64_t below, step_budget& steps) {
        if (!state.all_have_ranks()) {
            return false;
        }
        state_ = &state;
        target_ = target;
        below_ = below;
        steps_ = &steps;
        state.list_ranks(placement_);
        steps.spend(state.items().size());
        over_.clear();
        for (std::uint32_t rank = 0; rank < placement_.ranks(); ++rank) {
            if (placement_.load(rank) > target) {
                over_.push_back(rank);
            }
        }
        std::ranges::sort(over_, [&](std::uint32_t a, std::uint32_t b) {
            return placement_.load(a) > placement_.load(b) || (placement_.load(a) == placement_.load(b) && a < b);
        });
        return std::ranges::all_of(over_, [&](std::uint32_t rank) { return relieve(rank); });
    }

  private:
    static constexpr std::size_t most_items = 6;
    static constexpr std::size_t most_choices = std::size_t{1} << most_items;
    static constexpr std::uint64_t most_cost = std::uint64_t{1} << 58;  ///< of an item, so that sums are in range

    /// What a rank can give: choices of its lightest items, and what each costs where it would go.
    struct priced_choices {
        light_items light;
        subset_sums sums;
        std::array<std::int64_t, most_choices> costs{};

        void read(placement const& loads, std::uint32_t rank) {
            auto const weights = loads.weights(rank);
            light.choose(weights, most_items, 2);
            std::array<std::uint64_t, most_items> chosen;
            std::size_t size = 0;
            for (auto const position : light.positions()) {
                chosen[size++] = weights[position];
            }
            sums.assign(std::span{chosen}.first(size));
        }
    };

    struct found_exchange {
        std::int64_t cost;
        std::uint64_t amount;
        std::uint32_t partner;
        std::uint16_t give;  ///< a set of places among the light items
        std::uint16_t take;
    };

    bool relieve(std::uint32_t over) {
        while (placement_.load(over) > target_) {
            if (state_->cost_between_nodes() >= below_) {
                return false;
            }
            std::uint64_t const excess = placement_.load(over) - target_;
            auto best = cheapest(over, excess, excess);
            for (std::uint64_t share = 4; !best && share <= 64; share *= 4) {
                best = cheapest(over, excess / share + 1, excess - 1);
            }
            if (!best) {
                return false;
            }
            carry_out(over, *best);
        }
        return true;
    }

    /// The cheapest exchange that takes at least `at_least` off a rank; at most `at_most`, or if both are the same, as
    /// much as there is room for.
    [[nodiscard]] std::optional<found_exchange> cheapest(std::uint32_t over, std::uint64_t at_least,
                                                         std::uint64_t at_most) {
        constexpr std::size_t most_partners = 1024;
        std::optional<found_exchange> best;
        gives_.read(placement_, over);
        std::uint32_t const node = state_->node_of_rank(over);
        std::size_t const stride = (placement_.ranks() - 1) / most_partners + 1;
        std::uint32_t priced_for = no_rank;
        for (std::size_t number = over % stride; number < placement_.ranks() && !steps_->exhausted();
             number += stride) {
            auto const partner = static_cast<std::uint32_t>(number);
            std::uint64_t const load = placement_.load(partner);
            std::uint64_t const room = target_ - std::min(target_, load);
            std::uint64_t const most = at_least == at_most ? room : std::min(room, at_most);
            if (most < at_least || partner == over) {
                continue;
            }
            std::uint32_t const other = state_->node_of_rank(partner);
            if (other != priced_for) {
                price(gives_, over, node, other);
                priced_for = other;
            }
            takes_.read(placement_, partner);
            price(takes_, partner, other, node);
            compare(partner, at_least, most, at_least == at_most, best);
        }
        return best;
    }

    /// What each choice costs in another node, above what it costs where it is.
    void price(priced_choices& of, std::uint32_t rank, std::uint32_t from, std::uint32_t to) const {
        auto const& items = state_->items();
        auto const numbers = placement_.items(rank);
        of.costs[0] = 0;
        std::size_t size = 1;
        for (auto const position : of.light.positions()) {
            std::uint32_t const item = numbers[position];
            std::uint32_t const home = items.home_node(item);
            auto const cost = static_cast<std::int64_t>(std::min(items.cost_of(item), most_cost));
            std::int64_t const change = from == to || (home != from && home != to) ? 0 : home == from ? cost : -cost;
            for (std::size_t set = 0; set < size; ++set) {
                of.costs[size + set] = of.costs[set] + change;
            }
            size *= 2;
        }
    }

    /// As what is given rises, so does the window of what may be taken for it.
    void compare(std::uint32_t partner, std::uint64_t at_least, std::uint64_t at_most, bool whole,
                 std::optional<found_exchange>& best) {
        auto const gives = gives_.sums.sums();
        auto const takes = takes_.sums.sums();
        std::size_t first = 0;
        std::size_t looks = 0;
        for (std::size_t give = 0; give < gives.size(); ++give) {
            while (first < takes.size() && takes[first] + at_most < gives[give]) {
                ++first;
            }
            for (std::size_t take = first; take < takes.size() && takes[take] + at_least <= gives[give]; ++take) {
                ++looks;
                std::uint64_t const amount = gives[give] - takes[take];
                std::int64_t const cost =
                    gives_.costs[gives_.sums.subset(give)] + takes_.costs[takes_.sums.subset(take)];
                bool const better = !best || (whole ? cost < best->cost || (cost == best->cost && amount < best->amount)
                                                    : costs_less(cost, amount, *best));
                if (better) {
                    best = found_exchange{cost, amount, partner, gives_.sums.subset(give), takes_.sums.subset(take)};
                }
            }
        }
        steps_->spend(gives.size() + 2 * takes.size() + looks);
    }

    /// Less for what it takes off.
    [[nodiscard]] static bool costs_less(std::int64_t cost, std::uint64_t amount, found_exchange const& best) noexcept {
        __extension__ typedef __int128 wide;
        auto const own = static_cast<wide>(cost) * static_cast<wide>(best.amount);
        auto const other = static_cast<wide>(best.cost) * static_cast<wide>(amount);
        return own < other || (own == other && amount > best.amount);
    }

    void carry_out(std::uint32_t over, found_exchange const& exchange) {
        takes_.read(placement_, exchange.partner);
        std::array<std::uint32_t, most_items> given;
        std::array<std::uint32_t, most_items> taken;
        std::size_t const gives = take_off(over, gives_, exchange.give, given);
        std::size_t const takes = take_off(exchange.partner, takes_, exchange.take, taken);
        hand_over(std::span{given}.first(gives), over, exchange.partner);
        hand_over(std::span{taken}.first(takes), exchange.partner, over);
    }

    void hand_over(std::span<std::uint32_t const> items, std::uint32_t from, std::uint32_t to) {
        for (std::uint32_t const item : items) {
            placement_.insert(to, item, state_->items().weight(item));
            if (state_->node_of_rank(from) == state_->node_of_rank(to)) {
                state_->seat(item, to);
            } else {
                steps_->spend(state_->move(item, state_->node_of_rank(from), state_->node_of_rank(to), to));
            }
        }
    }

    std::size_t take_off(std::uint32_t rank, priced_choices const& of, std::uint16_t set,
                         std::span<std::uint32_t> taken) {
        std::size_t size = 0;
        // The positions fall, so none changes before its turn.
        for (unsigned left = set; left != 0; left &= left - 1) {
            auto const position = of.light.positions()[static_cast<std::size_t>(std::countr_zero(left))];
            taken[size++] = placement_.items(rank)[position];
            placement_.remove(rank, position);
        }
        return size;
    }

    stay_state* state_ = nullptr;
    std::uint64_t target_ = 0;
    std::uint64_t below_ = 0;
    step_budget* steps_ = nullptr;
    placement placement_;
    std::vector<std::uint32_t> over_;
    priced_choices gives_;
    priced_choices takes_;
};

}  // namespace evenkeel::detail
