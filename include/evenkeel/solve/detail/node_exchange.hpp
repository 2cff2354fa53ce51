// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include <evenkeel/solve/detail/export_item.hpp>

namespace evenkeel::detail {

/// One or two items that a node may give, or none.
struct node_offer {
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    std::uint64_t weight = 0;
    std::uint64_t cost = 0;
    std::uint32_t first = none;  ///< positions in the list of the node
    std::uint32_t second = none;
};

/// What a node can give in an exchange, by rising weight.
class node_menu {
  public:
    void reserve(std::size_t items) { offers_.reserve(items + 1 + most_pairs * most_pairs / 2); }

    /// Each item alone, and pairs of up to 40 that are spread over all.
    void to_give(std::span<export_item const> items) {
        offers_.clear();
        singles(items);
        pairs(items, most_pairs, std::max<std::size_t>(1, items.size() / most_pairs));
        sort();
    }

    /// Nothing, each item alone, and pairs of the lightest 24.
    void to_take(std::span<export_item const> items) {
        offers_.clear();
        offers_.push_back({});
        singles(items);
        pairs(items, 24, 1);
        sort();
    }

    [[nodiscard]] std::span<node_offer const> offers() const noexcept { return offers_; }

  private:
    static constexpr std::size_t most_pairs = 40;

    void singles(std::span<export_item const> items) {
        for (std::size_t position = items.size(); position-- > 0;) {
            if (position + 1 == items.size() || items[position].weight != items[position + 1].weight ||
                items[position].cost != items[position + 1].cost) {
                add(items, position, node_offer::none);
            }
        }
    }

    /// Of `most` items, the lightest first, every `stride`-th.
    void pairs(std::span<export_item const> items, std::size_t most, std::size_t stride) {
        for (std::size_t i = 0; i < most && i * stride < items.size(); ++i) {
            for (std::size_t j = i + 1; j < most && j * stride < items.size(); ++j) {
                add(items, items.size() - 1 - i * stride, items.size() - 1 - j * stride);
            }
        }
    }

    void add(std::span<export_item const> items, std::size_t first, std::size_t second) {
        node_offer offer{.weight = items[first].weight,
                         .cost = items[first].cost,
                         .first = static_cast<std::uint32_t>(first),
                         .second = static_cast<std::uint32_t>(second)};
        if (offer.second != node_offer::none) {
            offer.weight += items[second].weight;
            offer.cost += items[second].cost;
        }
        offers_.push_back(offer);
    }

    void sort() {
        std::sort(offers_.begin(), offers_.end(), [](node_offer const& a, node_offer const& b) {
            return std::tie(a.weight, a.cost, a.first, a.second) < std::tie(b.weight, b.cost, b.first, b.second);
        });
    }

    std::vector<node_offer> offers_;
};

/// An exchange between two nodes.
struct node_swap {
    node_offer give;
    node_offer take;
    [[nodiscard]] std::uint64_t cost() const noexcept { return give.cost + take.cost; }
    [[nodiscard]] std::uint64_t amount() const noexcept { return give.weight - take.weight; }
};

/// The cheapest exchange that moves at least `at_least` and at most `at_most`, and costs less than `below`.
///
/// @complexity O(gives + takes): as what is given rises, so does the window of what may be taken for it. Of a window,
///             the eight lightest are looked at.
[[nodiscard]] inline std::optional<node_swap> cheapest_swap(std::span<node_offer const> gives,
                                                            std::span<node_offer const> takes, std::uint64_t at_least,
                                                            std::uint64_t at_most, std::uint64_t below) {
    constexpr std::size_t most_looks = 8;
    std::optional<node_swap> best;
    std::size_t first = 0;
    for (auto const& give : gives) {
        if (give.weight < at_least || give.cost >= below) {
            continue;
        }
        while (first < takes.size() && takes[first].weight + at_most < give.weight) {
            ++first;
        }
        for (std::size_t take = first;
             take < takes.size() && take < first + most_looks && takes[take].weight + at_least <= give.weight; ++take) {
            if (give.cost + takes[take].cost < below) {
                below = give.cost + takes[take].cost;
                best = node_swap{give, takes[take]};
            }
        }
    }
    return best;
}

}  // namespace evenkeel::detail
