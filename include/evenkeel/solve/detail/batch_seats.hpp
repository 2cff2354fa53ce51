// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/stay_items.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>

namespace evenkeel::detail {

/// Gives finished batches to the nodes, and there to the ranks, that have most of them: the pair of batch and node that
/// keeps most first.
///
/// What is left to do after balancing without regard to homes. Items of the same weight change places wherever that
/// lets one of them stay.
class batch_seats {
  public:
    void reserve(std::size_t items, std::size_t ranks, std::size_t nodes) {
        gains_.reserve(items + ranks);
        sums_.reserve(std::max(ranks, nodes));
        touched_.reserve(std::max(ranks, nodes));
        node_of_batch_.reserve(ranks);
        rank_of_batch_.reserve(ranks);
        taken_.reserve(std::max(ranks, nodes));
        offsets_.reserve(ranks + 1);
        by_batch_.reserve(items);
        slots_.reserve(ranks);
        falling_.reserve(items);
    }

    /// @param rank_of  The batch of each item that weighs something; then its rank.
    /// @param whole    Whether batches must stay as they are, for weights do not say all.
    void operator()(stay_items const& items, node_ranks const& ranks, std::span<std::uint32_t> rank_of,
                    bool whole = false) {
        sort_by_batch(items, ranks.ranks.size(), rank_of);
        seat_on_nodes(items, ranks);
        seat_on_ranks(items, ranks);
        for (auto const item : items.order()) {
            rank_of[item] = rank_of_batch_[rank_of[item]];
        }
        if (!whole) {
            match_equal_weights(items, ranks, rank_of);
        }
    }

    /// The rank of each batch.
    [[nodiscard]] std::span<std::uint32_t const> rank_of_batch() const noexcept { return rank_of_batch_; }

  private:
    struct gain {
        std::uint64_t bytes;
        std::uint32_t batch;
        std::uint32_t place;
    };

    static bool more(gain const& a, gain const& b) noexcept {
        if (a.bytes != b.bytes) {
            return a.bytes > b.bytes;
        }
        return a.batch != b.batch ? a.batch < b.batch : a.place < b.place;
    }

    void sort_by_batch(stay_items const& items, std::size_t batches, std::span<std::uint32_t const> batch_of) {
        offsets_.assign(batches + 1, 0);
        for (auto const item : items.order()) {
            ++offsets_[batch_of[item] + 1];
        }
        for (std::size_t batch = 0; batch < batches; ++batch) {
            offsets_[batch + 1] += offsets_[batch];
        }
        by_batch_.resize(items.size());
        for (auto const item : items.order()) {
            by_batch_[offsets_[batch_of[item]]++] = item;
        }
        for (std::size_t batch = batches; batch > 0; --batch) {
            offsets_[batch] = offsets_[batch - 1];
        }
        offsets_[0] = 0;
    }

    /// Lists in `gains_`, best first, what each batch keeps at each place.
    ///
    /// @param place_of  The place of an item's home, or `no_rank` where the batch cannot go.
    template <class PlaceOf>
    void collect(stay_items const& items, std::size_t places, PlaceOf place_of) {
        gains_.clear();
        sums_.assign(places, 0);
        for (std::uint32_t batch = 0; batch + 1 < offsets_.size(); ++batch) {
            touched_.clear();
            for (std::size_t index = offsets_[batch]; index < offsets_[batch + 1]; ++index) {
                std::uint32_t const item = by_batch_[index];
                std::uint32_t const place = place_of(batch, item);
                if (place == no_rank || items.bytes_of(item) == 0) {
                    continue;
                }
                if (sums_[place] == 0) {
                    touched_.push_back(place);
                }
                sums_[place] += items.bytes_of(item);
            }
            for (auto const place : touched_) {
                gains_.push_back({sums_[place], batch, place});
                sums_[place] = 0;
            }
        }
        std::sort(gains_.begin(), gains_.end(), more);
    }

    void seat_on_nodes(stay_items const& items, node_ranks const& ranks) {
        collect(items, ranks.nodes(), [&](std::uint32_t, std::uint32_t item) { return items.home_node(item); });
        node_of_batch_.assign(ranks.ranks.size(), no_rank);
        taken_.assign(ranks.nodes(), 0);
        for (auto const& [bytes, batch, node] : gains_) {
            if (node_of_batch_[batch] == no_rank && taken_[node] < ranks.size(node)) {
                node_of_batch_[batch] = node;
                ++taken_[node];
            }
        }
        std::uint32_t free = 0;
        for (auto& node : node_of_batch_) {
            if (node == no_rank) {
                while (taken_[free] == ranks.size(free)) {
                    ++free;
                }
                node = free;
                ++taken_[free];
            }
        }
    }

    void seat_on_ranks(stay_items const& items, node_ranks const& ranks) {
        auto const batches = static_cast<std::uint32_t>(ranks.ranks.size());
        collect(items, batches, [&](std::uint32_t batch, std::uint32_t item) {
            return items.home_node(item) == node_of_batch_[batch] ? items.home_rank(item) : no_rank;
        });
        rank_of_batch_.assign(batches, no_rank);
        taken_.assign(batches, 0);
        for (auto const& [bytes, batch, rank] : gains_) {
            if (rank_of_batch_[batch] == no_rank && taken_[rank] == 0) {
                rank_of_batch_[batch] = rank;
                taken_[rank] = 1;
            }
        }
        for (std::uint32_t batch = 0; batch < batches; ++batch) {
            if (rank_of_batch_[batch] == no_rank) {
                auto const members = ranks[node_of_batch_[batch]];
                auto const free =
                    std::find_if(members.begin(), members.end(), [&](auto rank) { return taken_[rank] == 0; });
                rank_of_batch_[batch] = *free;
                taken_[*free] = 1;
            }
        }
    }

    /// Of items of the same weight, those that find a place of one of them on their rank take it, then those that find
    /// one in their node.
    void match_equal_weights(stay_items const& items, node_ranks const& ranks, std::span<std::uint32_t> rank_of) {
        slots_.assign(ranks.ranks.size(), 0);
        falling_.assign(items.order().begin(), items.order().end());
        if (!items.is_falling()) {
            std::ranges::sort(falling_, [&](std::uint32_t a, std::uint32_t b) { return items.precedes(a, b); });
        }
        std::size_t end = 0;
        for (std::size_t first = 0; first < items.size(); first = end) {
            by_batch_.clear();
            while (end < items.size() && items.weight(falling_[end]) == items.weight(falling_[first])) {
                by_batch_.push_back(rank_of[falling_[end++]]);
                ++slots_[by_batch_.back()];
            }
            if (end - first == 1) {
                --slots_[by_batch_.back()];
                continue;
            }
            auto const alike = std::span{falling_}.subspan(first, end - first);
            for (auto const item : alike) {
                rank_of[item] = claim(items.home_rank(item));
            }
            for (auto const item : alike) {
                for (auto const rank : ranks[items.home_node(item)]) {
                    rank_of[item] = rank_of[item] == no_rank ? claim(rank) : rank_of[item];
                }
            }
            auto slot = by_batch_.begin();
            for (auto const item : alike) {
                while (rank_of[item] == no_rank) {
                    rank_of[item] = claim(*slot++);
                }
            }
        }
    }

    [[nodiscard]] std::uint32_t claim(std::uint32_t rank) noexcept {
        if (rank == no_rank || slots_[rank] == 0) {
            return no_rank;
        }
        --slots_[rank];
        return rank;
    }

    std::vector<gain> gains_;
    std::vector<std::uint64_t> sums_;
    std::vector<std::uint32_t> touched_;
    std::vector<std::uint32_t> node_of_batch_;
    std::vector<std::uint32_t> rank_of_batch_;
    std::vector<std::uint32_t> taken_;
    std::vector<std::uint32_t> offsets_;
    std::vector<std::uint32_t> by_batch_;
    std::vector<std::uint32_t> slots_;    ///< by rank: places of the weight at hand
    std::vector<std::uint32_t> falling_;  ///< the items, heaviest first
};

}  // namespace evenkeel::detail
