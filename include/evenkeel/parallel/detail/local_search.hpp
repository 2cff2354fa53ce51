// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <evenkeel/parallel/cluster.hpp>
#include <evenkeel/parallel/deployment.hpp>
#include <evenkeel/parallel/detail/node_map.hpp>
#include <evenkeel/parallel/detail/packing.hpp>
#include <evenkeel/parallel/detail/scorer.hpp>

namespace evenkeel::detail {

/// Moves blocks between nodes, one to free room or some against each other, as long as that makes a placement better.
class block_search {
  public:
    /// @param effort  Blocks that may be looked at; a score looks at all.
    block_search(std::span<deployment const> modalities, cluster const& cluster, scorer& scorer, std::uint64_t effort)
        : modalities_{modalities},
          cluster_{cluster},
          scorer_{scorer},
          effort_{effort},
          blocks_{blocks_of(modalities)} {}

    placement_cost improve(node_map& map) {
        map_ = &map;
        cost_ = scorer_.score(map);
        room_.assign(cluster_.nodes, cluster_.gpus_per_node);
        on_node_.assign(cluster_.nodes, {});
        for (std::size_t block = 0; block < blocks_.size(); ++block) {
            room_[node(block)] -= blocks_[block].gpus;
            on_node_[node(block)].push_back(block);
        }
        // The modality that decides first.
        auto const slowest = scorer_.slowest();
        std::vector<std::size_t> order(blocks_.size());
        for (std::size_t block = 0; block < order.size(); ++block) {
            order[block] = block;
        }
        std::ranges::stable_sort(order, {}, [&](std::size_t block) { return blocks_[block].modality != slowest; });
        std::size_t since_better = 0;
        for (std::size_t turn = 0; since_better < order.size() && has_effort(); turn = (turn + 1) % order.size()) {
            since_better = try_block(order[turn]) ? 0 : since_better + 1;
        }
        return cost_;
    }

    [[nodiscard]] bool has_effort() const noexcept { return spent_ < effort_; }

    /// Swaps some blocks of equal size, whatever that costs: a way out of a placement that no single move makes better.
    void shake(node_map& map) {
        map_ = &map;
        spent_ += blocks_.size();
        constexpr int swaps = 3;
        constexpr int most_tries = 30;
        for (int done = 0, tried = 0; done < swaps && tried < most_tries; ++tried) {
            auto const one = draw() % blocks_.size();
            auto const other = draw() % blocks_.size();
            if (blocks_[one].gpus == blocks_[other].gpus && node(one) != node(other)) {
                std::swap(node(one), node(other));
                ++done;
            }
        }
    }

  private:
    /// splitmix64 (Steele, Lea, Flood 2014), from the same start every time.
    std::uint64_t draw() noexcept {
        drawn_ += 0x9e3779b97f4a7c15ULL;
        auto mixed = (drawn_ ^ (drawn_ >> 30U)) * 0xbf58476d1ce4e5b9ULL;
        mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebULL;
        return mixed ^ (mixed >> 31U);
    }

    [[nodiscard]] std::uint32_t& node(std::size_t block) {
        auto const& one = blocks_[block];
        return map_->at(one.modality, one.replica, one.stage);
    }

    /// To every other node, there taking free room or the place of others.
    bool try_block(std::size_t block) {
        bool better = false;
        bool tried_empty = false;
        for (std::size_t to = 0; to < cluster_.nodes && has_effort(); ++to) {
            if (to == node(block)) {
                continue;
            }
            // Nodes are alike: one empty node is as good as another.
            bool const is_empty = on_node_[to].empty();
            if (is_empty && tried_empty) {
                continue;
            }
            tried_empty = tried_empty || is_empty;
            better = try_node(block, to) || better;
        }
        return better;
    }

    bool try_node(std::size_t block, std::size_t to) {
        auto const from = node(block);
        std::size_t const size = blocks_[block].gpus;
        if (room_[to] >= size) {
            return try_exchange(block, to, {});
        }
        bool better = false;
        auto const there = on_node_[to];
        for (std::size_t first = 0; first < there.size() && has_effort() && node(block) == from; ++first) {
            // Blocks from `first` on, until there is room.
            std::vector<std::size_t> out;
            std::size_t freed = room_[to];
            for (std::size_t next = first; next < there.size() && freed < size; ++next) {
                if (room_[from] + size >= blocks_[there[next]].gpus) {
                    out.push_back(there[next]);
                    freed += blocks_[there[next]].gpus;
                }
            }
            std::size_t const leaving = freed - room_[to];
            if (freed >= size && room_[from] + size >= leaving && !out.empty() && out.front() == there[first]) {
                better = try_exchange(block, to, out) || better;
            }
        }
        return better;
    }

    bool try_exchange(std::size_t block, std::size_t to, std::vector<std::size_t> const& out) {
        auto const from = node(block);
        auto const& one = blocks_[block];
        if (out.size() == 1 && blocks_[out.front()].modality == one.modality &&
            blocks_[out.front()].stage == one.stage && modalities_[one.modality].cut.pp == 1) {
            return false;
        }
        auto const set = [&](std::size_t here, std::size_t there) {
            node(block) = static_cast<std::uint32_t>(there);
            for (auto const other : out) {
                node(other) = static_cast<std::uint32_t>(here);
            }
        };
        set(from, to);
        spent_ += blocks_.size() + cluster_.nodes;
        auto const cost = scorer_.score(*map_);
        if (!(cost < cost_)) {
            set(to, from);
            return false;
        }
        cost_ = cost;
        relocate(block, from, to);
        for (auto const other : out) {
            relocate(other, to, from);
        }
        return true;
    }

    void relocate(std::size_t block, std::size_t from, std::size_t to) {
        std::erase(on_node_[from], block);
        on_node_[to].push_back(block);
        room_[from] += blocks_[block].gpus;
        room_[to] -= blocks_[block].gpus;
    }

    std::span<deployment const> modalities_;
    cluster cluster_;
    scorer& scorer_;
    std::uint64_t effort_;
    std::uint64_t spent_ = 0;
    std::uint64_t drawn_ = 0;
    std::vector<gpu_block> blocks_;
    node_map* map_ = nullptr;
    placement_cost cost_;
    std::vector<std::size_t> room_;
    std::vector<std::vector<std::size_t>> on_node_;
};

}  // namespace evenkeel::detail
