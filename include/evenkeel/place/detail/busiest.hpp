// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include <evenkeel/place/detail/node_slots.hpp>
#include <evenkeel/place/detail/node_traffic.hpp>
#include <evenkeel/place/detail/seating.hpp>

namespace evenkeel::detail {

/// What nodes send to and receive from each other.
struct node_loads {
    std::vector<std::uint64_t> drawn;     ///< by node: bytes of its home ranks, wherever they go
    std::vector<std::uint64_t> arriving;  ///< bytes of its batches, wherever they come from
    std::vector<std::uint64_t> kept;      ///< bytes that are both

    /// The larger of what `node` sends and what it receives.
    [[nodiscard]] std::uint64_t busy(std::size_t node) const noexcept {
        return std::max(drawn[node], arriving[node]) - kept[node];
    }

    /// The busiest node, the lowest of them.
    [[nodiscard]] std::size_t busiest() const noexcept {
        std::size_t result = 0;
        for (std::size_t node = 1; node < drawn.size(); ++node) {
            result = busy(node) > busy(result) ? node : result;
        }
        return result;
    }
};

/// The memory of `relieve_busiest`.
struct busiest_room {
    node_loads loads;
    std::vector<std::uint64_t> column;   ///< by batch: what it draws from the busiest node
    std::vector<std::uint32_t> drawing;  ///< the batches that draw anything from it
    std::vector<std::uint64_t> sorted;
    std::vector<std::uint8_t> marks;  ///< by entry of the traffic: the lowest byte of its node
};

/// Counts what the nodes send and receive with every batch on its node, where it keeps `kept(batch)`.
template <class Kept>
void count_loads(node_slots const& slots, node_traffic const& traffic, std::span<std::uint32_t const> nodes, Kept kept,
                 node_loads& loads) {
    loads.drawn.assign(slots.nodes(), 0);
    loads.arriving.assign(slots.nodes(), 0);
    loads.kept.assign(slots.nodes(), 0);
    for (std::size_t rank = 0; rank < slots.node_of_world.size(); ++rank) {
        loads.drawn[slots.node_of_world[rank]] += traffic.home_bytes[rank];
    }
    for (std::uint32_t batch = 0; batch < nodes.size(); ++batch) {
        loads.arriving[nodes[batch]] += traffic.of_batch[batch];
        loads.kept[nodes[batch]] += kept(batch);
    }
}

/// Marks the entries of the traffic, for `read_column`.
inline void mark_entries(node_traffic const& traffic, busiest_room& room) {
    room.marks.reserve(traffic.nodes.size());
    room.marks.resize(traffic.offsets.back());
    std::transform(traffic.nodes.begin(), traffic.nodes.begin() + traffic.offsets.back(), room.marks.begin(),
                   [](std::uint32_t node) { return static_cast<std::uint8_t>(node); });
}

/// Fills `column` and `drawing` for `node`.
inline void read_column(node_traffic const& traffic, std::uint32_t node, busiest_room& room) {
    constexpr std::size_t block = 64;
    std::size_t const entries = room.marks.size();
    std::uint8_t const* const marks = room.marks.data();
    auto const mark = static_cast<std::uint8_t>(node);
    room.column.assign(traffic.of_batch.size(), 0);
    room.drawing.clear();
    room.drawing.reserve(traffic.of_batch.size());
    std::uint32_t batch = 0;
    auto const read = [&](std::size_t entry) {
        if (traffic.nodes[entry] == node) {
            while (traffic.offsets[batch + 1] <= entry) {
                ++batch;
            }
            room.column[batch] = traffic.bytes[entry];
            room.drawing.push_back(batch);
        }
    };
    std::size_t first = 0;
    for (; first + block <= entries; first += block) {
        // Most blocks have none, and to see that is an instruction or two for every 16 entries.
        std::uint8_t hits = 0;
        for (std::size_t ahead = 0; ahead < block; ++ahead) {
            hits = static_cast<std::uint8_t>(hits + (marks[first + ahead] == mark ? 1 : 0));
        }
        for (std::uint8_t const* hit = marks + first; hits > 0; --hits, ++hit) {
            auto const left = static_cast<std::size_t>(marks + first + block - hit);
            hit = static_cast<std::uint8_t const*>(std::memchr(hit, mark, left));
            read(static_cast<std::size_t>(hit - marks));
        }
    }
    for (; first < entries; ++first) {
        read(first);
    }
}

/// What `node` sends or receives at least, whatever runs on it: it keeps no more than the batches that draw most from
/// it, and receives no less than those that draw least from elsewhere. Of the node whose column has been read.
[[nodiscard]] inline std::uint64_t least_busy(node_slots const& slots, node_traffic const& traffic, std::uint32_t node,
                                              busiest_room& room) {
    std::size_t const size = slots.size(node);
    auto& sorted = room.sorted;
    sorted.clear();
    sorted.reserve(traffic.of_batch.size());
    for (std::uint32_t const batch : room.drawing) {
        sorted.push_back(room.column[batch]);
    }
    auto const kept = sorted.begin() + static_cast<std::ptrdiff_t>(std::min(size, sorted.size()));
    std::nth_element(sorted.begin(), kept, sorted.end(), std::greater{});
    std::uint64_t const sends = room.loads.drawn[node] - std::accumulate(sorted.begin(), kept, std::uint64_t{0});
    if (sends >= room.loads.busy(node)) {
        return sends;
    }
    sorted.resize(traffic.of_batch.size());
    for (std::size_t batch = 0; batch < sorted.size(); ++batch) {
        sorted[batch] = traffic.of_batch[batch] - room.column[batch];
    }
    auto const taken = sorted.begin() + static_cast<std::ptrdiff_t>(size);
    std::nth_element(sorted.begin(), taken, sorted.end());
    return std::max(sends, std::accumulate(sorted.begin(), taken, std::uint64_t{0}));
}

}  // namespace evenkeel::detail
