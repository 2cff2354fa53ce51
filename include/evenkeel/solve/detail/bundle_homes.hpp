// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include <evenkeel/solve/detail/stay_task.hpp>
#include <evenkeel/solve/detail/wish_input.hpp>
#include <evenkeel/solve/wishes.hpp>

namespace evenkeel::detail {

/// Where bundles are at home, and what they cost elsewhere.
///
/// A group that was drawn in several places is at home in the node that has most bytes of it, on the rank there that
/// has most of these. The rest has to move in any case; what more it costs elsewhere is the difference to the next best
/// node.
class bundle_homes {
  public:
    void reserve(std::size_t items) {
        ranks.reserve(items);
        bytes.reserve(items);
        classes.reserve(items);
        of_item_.reserve(items);
        parts_.reserve(items);
    }

    void read(stay_task const& task, wish_input const& input, wishes const& asked) {
        std::size_t const bundles = input.problem.size();
        ranks.assign(bundles, no_rank);
        bytes.assign(bundles, 0);
        classes.assign(task.classes.empty() ? 0 : bundles, 0);
        between = moved = 0;
        input.number_items(task.weights.size(), of_item_);
        parts_.clear();
        for (std::size_t item = 0; item < of_item_.size(); ++item) {
            std::uint32_t const home = task.home_ranks[item];
            if (std::uint32_t const bundle = of_item_[item]; bundle != wish_input::nowhere) {
                parts_.push_back({bundle, task.nodes_of_ranks[home], home, task.bytes[item]});
                if (!classes.empty()) {
                    classes[bundle] = std::max(classes[bundle], task.classes[item]);
                }
            } else if (!asked.pinned.empty() && asked.pinned[item] != unpinned) {
                auto const pin = to_index(asked.pinned[item]);
                moved += pin == home ? 0 : task.bytes[item];
                between += task.nodes_of_ranks[pin] == task.nodes_of_ranks[home] ? 0 : task.bytes[item];
            }
        }
        std::sort(parts_.begin(), parts_.end(), [](part const& a, part const& b) {
            return std::tuple{a.bundle, a.node, a.rank, a.bytes} < std::tuple{b.bundle, b.node, b.rank, b.bytes};
        });
        for (std::size_t first = 0; first < parts_.size();) {
            first = read_bundle(first);
        }
    }

    std::vector<std::uint32_t> ranks;   ///< the home of each bundle
    std::vector<std::uint64_t> bytes;   ///< what each costs in another node, beyond what it costs anyway
    std::vector<std::uint8_t> classes;  ///< empty where all are alike
    std::uint64_t between = 0;          ///< bytes that leave their node in any case
    std::uint64_t moved = 0;            ///< bytes that leave their rank in any case

  private:
    struct part {
        std::uint32_t bundle;
        std::uint32_t node;
        std::uint32_t rank;
        std::uint64_t bytes;
    };

    /// @return  Where the next bundle begins.
    std::size_t read_bundle(std::size_t first) {
        std::uint32_t const bundle = parts_[first].bundle;
        std::uint64_t all = 0;
        std::uint64_t most = 0;
        std::uint64_t next_most = 0;
        std::uint64_t most_of_any_rank = 0;
        std::size_t at = first;
        while (at < parts_.size() && parts_[at].bundle == bundle) {
            std::uint32_t const node = parts_[at].node;
            std::uint64_t of_node = 0;
            std::uint64_t most_of_rank = 0;
            std::uint32_t best_rank = parts_[at].rank;
            while (at < parts_.size() && parts_[at].bundle == bundle && parts_[at].node == node) {
                std::uint32_t const rank = parts_[at].rank;
                std::uint64_t of_rank = 0;
                for (; at < parts_.size() && parts_[at].bundle == bundle && parts_[at].rank == rank; ++at) {
                    of_rank += parts_[at].bytes;
                }
                best_rank = of_rank > most_of_rank ? rank : best_rank;
                most_of_rank = std::max(most_of_rank, of_rank);
                of_node += of_rank;
            }
            if (ranks[bundle] == no_rank || of_node > most) {
                next_most = most;
                most = of_node;
                ranks[bundle] = best_rank;
            } else {
                next_most = std::max(next_most, of_node);
            }
            most_of_any_rank = std::max(most_of_any_rank, most_of_rank);
            all += of_node;
        }
        bytes[bundle] = most - next_most;
        between += all - most;
        moved += all - most_of_any_rank;
        return at;
    }

    std::vector<std::uint32_t> of_item_;
    std::vector<part> parts_;
};

}  // namespace evenkeel::detail
