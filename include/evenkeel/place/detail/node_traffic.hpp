// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/core/plan.hpp>
#include <evenkeel/place/detail/auction.hpp>
#include <evenkeel/place/detail/node_slots.hpp>

namespace evenkeel::detail {

/// Differences and sums of two numbers of bytes are taken without a check, signed, all over this room.
inline constexpr std::uint64_t most_bytes = std::numeric_limits<std::uint64_t>::max() >> 2;

/// The bytes of an item and the world rank that drew it.
struct drawn_item {
    std::uint64_t size = 0;
    std::uint32_t source = 0;
};

/// The bytes that each batch draws from each node, as far as there are any, and the sums over batches and over homes.
///
/// Batch j has the entries `offsets[j] .. offsets[j + 1])`; a node is in it at most once.
struct node_traffic {
    std::vector<std::uint32_t> nodes;
    std::vector<std::uint64_t> bytes;
    std::vector<std::uint32_t> offsets;

    std::vector<std::uint64_t> of_batch;    ///< all bytes of each batch
    std::vector<std::uint64_t> kept;        ///< of each batch, on the node of the rank that it was given
    std::vector<std::uint64_t> home_bytes;  ///< of each world rank
    wish_list wishes;                       ///< of each batch, for nodes
    std::uint64_t total = 0;

    // The items behind an entry, by their positions in `plan.items`: the latest, one more than its position, then from
    // each the one before it; 0 ends.
    std::vector<std::uint32_t> latest;   ///< by entry
    std::vector<std::uint32_t> earlier;  ///< by position

    std::vector<std::uint32_t> entry_of;  ///< by node: one more than its latest entry
    std::vector<std::uint64_t> seen;      ///< one bit per item
    std::vector<drawn_item> items;
    std::vector<drawn_item> chunk;  ///< some of them in the order of the plan
};

enum class measured : std::uint8_t { sound, no_partition, homeless, overflow };

/// Whether every item is there once.
[[nodiscard]] inline bool all_once(std::span<item_id const> items, std::vector<std::uint64_t>& seen) {
    seen.assign(items.size() / 64 + 1, 0);
    std::uint64_t twice = 0;
    for (item_id const id : items) {
        std::size_t const item = to_index(id);
        if (item >= items.size()) {
            return false;
        }
        std::uint64_t const bit = std::uint64_t{1} << (item % 64);
        twice |= seen[item / 64] & bit;
        seen[item / 64] |= bit;
    }
    return twice == 0;
}

/// Puts home and bytes of every item side by side, so that whoever comes in the order of a plan fetches once for both.
[[nodiscard]] inline measured gather(layout const& home, std::span<std::uint64_t const> item_bytes,
                                     std::vector<drawn_item>& items) {
    items.resize(item_bytes.size());
    std::uint64_t bits = 0;
    std::uint32_t farthest = 0;
    for (std::size_t item = 0; item < items.size(); ++item) {
        auto const source = static_cast<std::uint32_t>(home.places[item].rank);
        farthest = std::max(farthest, source);
        bits |= item_bytes[item];
        items[item] = {item_bytes[item], source};
    }
    return !items.empty() && farthest >= home.ranks.value ? measured::homeless
           : bits > most_bytes                            ? measured::overflow
                                                          : measured::sound;
}

/// Fills `traffic`; says what is wrong with the arguments if it cannot be done.
///
/// @complexity O(items + ranks + nodes)
inline measured measure(plan const& plan, layout const& home, node_slots const& slots,
                        std::span<std::uint64_t const> item_bytes, node_traffic& traffic) {
    std::size_t const items = home.size();
    std::size_t const batches = slots.node_of_rank.size();
    traffic.nodes.resize(items + 1);
    traffic.bytes.resize(items + 1);
    traffic.offsets.assign(batches + 1, 0);
    traffic.of_batch.resize(batches);
    traffic.kept.resize(batches);
    traffic.wishes.resize(batches);
    traffic.home_bytes.assign(slots.node_of_world.size(), 0);
    traffic.latest.resize(items + 1);
    traffic.earlier.resize(items);
    traffic.entry_of.assign(slots.nodes(), 0);
    if (!all_once(plan.items, traffic.seen)) {
        return measured::no_partition;
    }
    if (auto const found = gather(home, item_bytes, traffic.items); found != measured::sound) {
        return found;
    }

    auto* const nodes = traffic.nodes.data();
    auto* const bytes = traffic.bytes.data();
    auto* const latest = traffic.latest.data();
    auto* const entry_of = traffic.entry_of.data();
    constexpr std::size_t chunk = 1024;
    std::size_t fetched = 0;
    std::size_t base = 0;
    std::uint64_t total = 0;
    std::uint64_t sums = 0;
    std::uint32_t count = 0;
    for (std::size_t batch = 0; batch < batches; ++batch) {
        std::uint32_t const first = count;
        std::uint64_t const before = total;
        std::size_t const start = plan.offsets[batch * plan.micro_batches];
        std::size_t const last = plan.offsets[(batch + 1) * plan.micro_batches];
        if (last > fetched) {
            base = start;
            fetched = std::max(last, std::min(start + chunk, items));
            // In a loop of their own the fetches overlap; mixed with stores whose addresses depend on what was fetched,
            // they would wait for each other.
            traffic.chunk.resize(std::max(traffic.chunk.size(), fetched - base));
            for (std::size_t position = base; position < fetched; ++position) {
                traffic.chunk[position - base] = traffic.items[to_index(plan.items[position])];
            }
        }
        choice wish;
        bool repeated = false;
        for (std::size_t position = start; position < last; ++position) {
            auto const [size, source] = traffic.chunk[position - base];
            sums |= total += size;
            traffic.home_bytes[source] += size;
            // Entries ascend, so the latest entry of a node is of this batch if it is not below the batch's first.
            std::uint32_t const node = slots.node_of_world[source];
            std::uint32_t const known = entry_of[node];
            if (known > first) {
                repeated = true;
                bytes[known - 1] += size;
                traffic.earlier[position] = latest[known - 1];
                latest[known - 1] = static_cast<std::uint32_t>(position + 1);
                continue;
            }
            // Written either way, and kept if there are bytes: which of the two is as good as random.
            nodes[count] = node;
            bytes[count] = size;
            latest[count] = static_cast<std::uint32_t>(position + 1);
            traffic.earlier[position] = 0;
            wish.see(count, size);
            count += static_cast<std::uint32_t>(size != 0);
            entry_of[node] = size != 0 ? count : known;
        }
        std::uint32_t const own = entry_of[slots.node_of_rank[batch]];
        traffic.offsets[batch + 1] = count;
        if (repeated) {
            wish = choose(traffic.offsets, batch, [&](auto entry) { return bytes[entry]; });
        }
        traffic.wishes.set(batch, wish);
        traffic.of_batch[batch] = total - before;
        traffic.kept[batch] = own > first ? bytes[own - 1] : 0;
    }
    traffic.total = total;
    // Neither a size nor a sum below 2^62 reaches the two upper bits, and sums wrap only past them.
    return sums > most_bytes ? measured::overflow : measured::sound;
}

}  // namespace evenkeel::detail
