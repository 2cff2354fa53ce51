// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace evenkeel::detail {

/// An item that goes to a node.
struct parcel {
    std::uint32_t item;
    std::uint64_t weight;
    std::uint32_t to;
};

/// Items that have been sent to nodes and are to be put into the lists there later, all of a node's together.
class items_underway {
  public:
    struct arrival {
        std::uint32_t item;
        std::uint64_t weight;
    };

    void reserve(std::size_t items, std::size_t nodes) {
        sent_.reserve(items);
        latest_.reserve(nodes);
        arrivals_.reserve(items);
    }

    void clear(std::size_t nodes) {
        sent_.clear();
        latest_.assign(nodes, none);
    }

    /// Whether nothing has been sent.
    [[nodiscard]] bool empty() const noexcept { return sent_.empty(); }
    /// Whether one more would need more memory; what has been received takes memory until all is cleared.
    [[nodiscard]] bool is_full() const noexcept { return sent_.size() == sent_.capacity(); }

    void send(std::uint32_t item, std::uint64_t weight, std::uint32_t node) {
        sent_.push_back({{item, weight}, std::exchange(latest_[node], static_cast<std::uint32_t>(sent_.size()))});
    }

    /// What is on its way to a node, and then no more; valid until the next call.
    [[nodiscard]] std::span<arrival> receive(std::uint32_t node) {
        arrivals_.clear();
        for (auto at = std::exchange(latest_[node], none); at != none; at = sent_[at].before) {
            arrivals_.push_back(sent_[at].what);
        }
        return arrivals_;
    }

  private:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    struct sent_item {
        arrival what;
        std::uint32_t before;  ///< the one that was sent to the same node before it
    };

    std::vector<sent_item> sent_;
    std::vector<std::uint32_t> latest_;  ///< by node: what was sent there last and has not been received
    std::vector<arrival> arrivals_;
};

}  // namespace evenkeel::detail
