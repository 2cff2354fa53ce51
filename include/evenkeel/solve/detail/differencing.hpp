// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace evenkeel::detail {

/// Largest differencing for few ranks: decides which items are not together, and leaves for later who gets which.
///
///     8 7 6 5 4 on two ranks: 8 6 | 7 5 4, so the busiest has 16; longest first makes 17
///
/// Each item starts as a partition of its own. The two partitions whose loads differ most are put together, the
/// heaviest rank of the one with the lightest of the other, until one is left (N. Karmarkar and R. M. Karp 1982, for
/// more than two ranks R. E. Korf 1998). Often closer to the optimum than longest first where ranks and items are few.
class differencing {
  public:
    static constexpr std::size_t most_ranks = 16;
    static constexpr std::size_t most_items = 1024;

    /// Whether a batch is small enough.
    [[nodiscard]] static bool suits(std::size_t items, std::size_t ranks) noexcept {
        return items > 0 && items <= most_items && ranks <= most_ranks;
    }

    void reserve(std::size_t items, std::size_t ranks) {
        if (suits(items, ranks)) {
            partitions_.reserve(items);
            open_.reserve(items);
            next_.reserve(items);
            rank_of_.reserve(items);
        }
    }

    /// Puts a placement that is better than the one known, whose busiest rank has a load of `busiest`, in its place.
    void improve(std::span<std::uint64_t const> weights, std::size_t ranks, std::span<std::uint32_t> rank_of,
                 std::uint64_t& busiest) {
        rank_of_.resize(weights.size());
        std::uint64_t const reached = (*this)(weights, ranks, rank_of_);
        if (reached < busiest) {
            busiest = reached;
            std::ranges::copy(rank_of_, rank_of.begin());
        }
    }

    /// @param weights  At least one, at most `most_items`, of a sum that fits into 64 bits.
    /// @param ranks    At most `most_ranks`.
    /// @param rank_of  Filled with the rank of each item.
    /// @return         The load of the busiest rank.
    /// @complexity     O(items * (ranks^2 + log(items)))
    std::uint64_t operator()(std::span<std::uint64_t const> weights, std::size_t ranks,
                             std::span<std::uint32_t> rank_of) {
        start(weights, ranks);
        while (open_.size() > 1) {
            std::uint32_t const into = pop();
            put_together(partitions_[into], partitions_[pop()], ranks);
            push(into, ranks);
        }
        auto const& last = partitions_[open_.front().partition];
        std::uint64_t busiest = 0;
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            std::uint64_t load = 0;
            for (std::uint32_t item = last[rank].first; item != nothing; item = next_[item]) {
                rank_of[item] = rank;
                load += weights[item];
            }
            busiest = std::max(busiest, load);
        }
        return busiest;
    }

  private:
    static constexpr std::uint32_t nothing = std::numeric_limits<std::uint32_t>::max();

    /// The items of one rank, as a list, and how much heavier they are than those of the lightest rank.
    struct part {
        std::uint64_t excess = 0;
        std::uint32_t first = nothing;
        std::uint32_t last = nothing;
    };
    using shares = std::array<part, most_ranks>;  // heaviest first

    struct difference {
        std::uint64_t amount;
        std::uint32_t partition;
    };

    [[nodiscard]] static bool differs_less(difference const& a, difference const& b) noexcept {
        return a.amount < b.amount || (a.amount == b.amount && a.partition > b.partition);
    }

    void start(std::span<std::uint64_t const> weights, std::size_t ranks) {
        partitions_.assign(weights.size(), {});
        next_.assign(weights.size(), nothing);
        open_.clear();
        for (std::uint32_t item = 0; item < weights.size(); ++item) {
            partitions_[item][0] = {weights[item], item, item};
            push(item, ranks);
        }
    }

    void push(std::uint32_t partition, std::size_t ranks) {
        open_.push_back({ranks > 1 ? partitions_[partition][0].excess : 0, partition});
        std::ranges::push_heap(open_, differs_less);
    }

    [[nodiscard]] std::uint32_t pop() {
        std::ranges::pop_heap(open_, differs_less);
        std::uint32_t const result = open_.back().partition;
        open_.pop_back();
        return result;
    }

    void put_together(shares& into, shares const& from, std::size_t ranks) noexcept {
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            join(into[rank], from[ranks - 1 - rank]);
        }
        for (std::size_t next = 1; next < ranks; ++next) {
            part const moving = into[next];
            std::size_t place = next;
            for (; place > 0 && into[place - 1].excess < moving.excess; --place) {
                into[place] = into[place - 1];
            }
            into[place] = moving;
        }
        std::uint64_t const least = into[ranks - 1].excess;
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            into[rank].excess -= least;
        }
    }

    void join(part& to, part const& from) noexcept {
        to.excess += from.excess;
        if (from.first == nothing) {
            return;
        }
        if (to.first == nothing) {
            to.first = from.first;
        } else {
            next_[to.last] = from.first;
        }
        to.last = from.last;
    }

    std::vector<shares> partitions_;  ///< by the first item of each
    std::vector<difference> open_;    ///< a heap, the one that differs most at the front
    std::vector<std::uint32_t> next_;
    std::vector<std::uint32_t> rank_of_;
};

}  // namespace evenkeel::detail
