// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include <evenkeel/solve/detail/placement.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// Packs the items of four or five ranks anew so that none of them is above a target load: for two or three items per
/// rank, where fewer ranks have too little to choose from.
///
///     7 6 | 8 2 | 5 5 2 | 9 2 with a target of 12: 9 2 | 8 2 2 | 7 5 | 6 5
///
/// Bin completion (R. Korf 2002): the heaviest item left gets company that leaves no more room free than all ranks
/// together may, and so on with what is left.
class repack {
  public:
    static constexpr std::size_t most_ranks = 5;

    /// @param ranks  Different ones, `most_ranks` at most.
    /// @return       Whether it did; if not, the placement is as it was.
    bool operator()(placement& loads, std::span<std::uint32_t const> ranks, std::uint64_t target, step_budget& steps) {
        steps.spend(8);
        std::size_t size = 0;
        std::uint64_t sum = 0;
        for (auto const rank : ranks) {
            size += loads.items(rank).size();
            sum += loads.load(rank);
        }
        // A load that is not of items would have to stay where it is.
        if (size > most_items || sum > target * ranks.size() || gather(loads, ranks) != sum) {
            return false;
        }
        ranks_ = ranks.size();
        target_ = target;
        nodes_ = 0;
        bool const found = pack(0, (std::uint32_t{1} << size_) - 1, target * ranks.size() - sum);
        steps.spend(4 * nodes_ + 4 * size);
        if (found) {
            write(loads, ranks);
        }
        return found;
    }

  private:
    static constexpr std::size_t most_items = 14;
    static constexpr std::size_t most_nodes = 500;

    struct item {
        std::uint32_t number;
        std::uint64_t weight;
    };

    /// Collects the items, heaviest first; returns what they weigh.
    [[nodiscard]] std::uint64_t gather(placement const& loads, std::span<std::uint32_t const> ranks) {
        size_ = 0;
        std::uint64_t sum = 0;
        for (auto const rank : ranks) {
            for (std::size_t position = 0; position < loads.items(rank).size(); ++position) {
                items_[size_++] = {loads.items(rank)[position], loads.weights(rank)[position]};
                sum += loads.weights(rank)[position];
            }
        }
        std::ranges::sort(std::span{items_}.first(size_), {}, &item::number);
        return sum;
    }

    /// Packs what is `left`, a set of positions in `items_`, into the ranks from `part` on.
    ///
    /// @param slack  How much room these may leave free.
    [[nodiscard]] bool pack(std::size_t part, std::uint32_t left, std::uint64_t slack) {
        parts_[part] = left;
        // The last one has no more than the others left to it.
        if (part + 1 == ranks_ || left == 0) {
            std::fill(parts_.begin() + static_cast<std::ptrdiff_t>(part) + 1, parts_.end(), 0);
            return true;
        }
        std::uint32_t const heaviest = left & (~left + 1);
        std::uint64_t const weight = items_[static_cast<std::size_t>(std::countr_zero(heaviest))].weight;
        return weight <= target_ && complete(part, left, heaviest, left & ~heaviest, target_ - weight, slack);
    }

    /// Adds items of `rest` to the `chosen` ones until the room that stays free is in the slack.
    [[nodiscard]] bool complete(std::size_t part, std::uint32_t left, std::uint32_t chosen, std::uint32_t rest,
                                std::uint64_t room, std::uint64_t slack) {
        if (++nodes_ > most_nodes) {
            return false;
        }
        std::uint64_t tried = 0;
        for (; rest != 0; rest &= rest - 1) {
            auto const position = static_cast<std::size_t>(std::countr_zero(rest));
            std::uint64_t const weight = items_[position].weight;
            if (weight <= room && weight != tried &&
                complete(part, left, chosen | std::uint32_t{1} << position, rest & (rest - 1), room - weight, slack)) {
                return true;
            }
            tried = weight;
        }
        if (room > slack || !pack(part + 1, left & ~chosen, slack - room)) {
            return false;
        }
        parts_[part] = chosen;
        return true;
    }

    void write(placement& loads, std::span<std::uint32_t const> ranks) const {
        for (auto const rank : ranks) {
            for (std::size_t position = loads.items(rank).size(); position-- > 0;) {
                loads.remove(rank, position);
            }
        }
        for (std::size_t part = 0; part < ranks.size(); ++part) {
            for (std::uint32_t left = parts_[part]; left != 0; left &= left - 1) {
                auto const& [number, weight] = items_[static_cast<std::size_t>(std::countr_zero(left))];
                loads.insert(ranks[part], number, weight);
            }
        }
    }

    std::array<item, most_items> items_;
    std::size_t size_ = 0;
    std::size_t ranks_ = 0;
    std::uint64_t target_ = 0;
    std::size_t nodes_ = 0;
    std::array<std::uint32_t, most_ranks> parts_{};
};

}  // namespace evenkeel::detail
