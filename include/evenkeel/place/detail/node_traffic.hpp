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
#include <evenkeel/place/detail/gains.hpp>
#include <evenkeel/place/detail/node_slots.hpp>

namespace evenkeel::detail {

/// Differences and sums of two numbers of bytes are taken without a check, signed, all over this room.
inline constexpr std::uint64_t most_bytes = std::numeric_limits<std::uint64_t>::max() >> 2;

/// The bytes of an item, the world rank that drew it, and the node of that.
struct drawn_item {
    std::uint64_t size = 0;
    std::uint32_t source = 0;
    std::uint32_t node = 0;
};

/// The bytes that each batch draws from each node, as far as there are any, and the sums over batches and over homes.
///
/// Batch j has the entries `offsets[j] .. offsets[j + 1])`; a node is in it at most once.
struct node_traffic {
    std::vector<std::uint32_t> nodes;
    std::vector<std::uint64_t> bytes;
    std::vector<std::uint32_t> offsets;
    std::vector<std::uint32_t> starts;   ///< by entry: the first of its items in `placed`
    std::vector<std::uint64_t> tickets;  ///< by entry, where the format fits: bytes and node
    ticket_format format;                ///< for numbers of nodes, ranks and batches

    std::vector<std::uint64_t> of_batch;    ///< all bytes of each batch
    std::vector<std::uint64_t> kept;        ///< of each batch, on the node of the rank that it was given
    std::vector<std::uint64_t> home_bytes;  ///< of each world rank
    std::vector<choice> wishes;             ///< of each batch among its tickets
    std::uint64_t total = 0;

    std::vector<drawn_item> items;
    std::vector<drawn_item> placed;       ///< the items in the order of the plan
    std::vector<std::uint8_t> seen;       ///< by item: whether it is in the plan
    std::vector<std::uint32_t> entry_of;  ///< by node: one more than its latest entry
};

enum class measured : std::uint8_t { sound, no_partition, homeless, overflow };

/// Puts home and bytes of every item side by side, so that whoever comes in the order of a plan fetches once for both;
/// adds up the bytes of each home and of all.
[[nodiscard]] inline measured gather(layout const& home, node_slots const& slots,
                                     std::span<std::uint64_t const> item_bytes, node_traffic& traffic) {
    traffic.items.resize(item_bytes.size());
    traffic.home_bytes.assign(slots.node_of_world.size(), 0);
    drawn_item* const items = traffic.items.data();
    std::uint32_t const* const node_of_world = slots.node_of_world.data();
    std::uint64_t total = 0;
    std::uint64_t sums = 0;
    // Neighbours mostly have the same home, whose sum would otherwise be waited for.
    std::uint32_t home_so_far = 0;
    std::uint64_t before = 0;
    for (std::size_t item = 0; item < item_bytes.size(); ++item) {
        std::uint64_t const size = item_bytes[item];
        auto const source = static_cast<std::uint32_t>(home.places[item].rank);
        if (source >= home.ranks.value) {
            return measured::homeless;
        }
        if (source != home_so_far) {
            traffic.home_bytes[home_so_far] += total - before;
            home_so_far = source;
            before = total;
        }
        total += size;
        // Neither a size nor a sum below 2^62 reaches the two upper bits, and sums wrap only past them.
        sums |= size | total;
        items[item] = {size, source, node_of_world[source]};
    }
    if (!item_bytes.empty()) {
        traffic.home_bytes[home_so_far] += total - before;
    }
    traffic.total = total;
    return sums > most_bytes ? measured::overflow : measured::sound;
}

/// Copies the items at some positions of the plan to `placed`; says whether it knows them all.
[[nodiscard]] inline bool fetch(std::span<item_id const> plan_items, std::size_t first, std::size_t last,
                                node_traffic& traffic) {
    drawn_item const* const items = traffic.items.data();
    drawn_item* const placed = traffic.placed.data();
    std::uint8_t* const seen = traffic.seen.data();
    std::size_t const count = traffic.items.size();
    for (std::size_t position = first; position < last; ++position) {
        std::size_t const item = to_index(plan_items[position]);
        if (item >= count) {
            return false;
        }
        seen[item] = 1;
        placed[position] = items[item];
    }
    return true;
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
    traffic.starts.resize(items + 1);
    traffic.tickets.resize(items + 1);
    traffic.offsets.assign(batches + 1, 0);
    traffic.of_batch.resize(batches);
    traffic.kept.resize(batches);
    traffic.wishes.resize(batches);
    traffic.placed.resize(items);
    traffic.seen.assign(items, 0);
    traffic.entry_of.assign(slots.nodes(), 0);
    if (measured const found = gather(home, slots, item_bytes, traffic); found != measured::sound) {
        return found;
    }
    auto const format = format_of(traffic.total, std::max(batches, slots.nodes()));
    traffic.format = format;

    auto* const nodes = traffic.nodes.data();
    auto* const bytes = traffic.bytes.data();
    auto* const starts = traffic.starts.data();
    auto* const tickets = traffic.tickets.data();
    auto* const entry_of = traffic.entry_of.data();
    drawn_item const* const placed = traffic.placed.data();
    constexpr std::size_t chunk = 1024;
    std::size_t fetched = 0;
    std::uint32_t count = 0;
    for (std::size_t batch = 0; batch < batches; ++batch) {
        std::uint32_t const first = count;
        std::uint64_t sum = 0;
        std::size_t const start = plan.offsets[batch * plan.micro_batches];
        std::size_t const last = plan.offsets[(batch + 1) * plan.micro_batches];
        if (last > fetched) {
            // In a loop of their own the fetches overlap; mixed with stores whose addresses depend on what was fetched,
            // they would wait for each other.
            std::size_t const end = std::max(last, std::min(start + chunk, items));
            if (!fetch(plan.items, fetched, end, traffic)) {
                return measured::no_partition;
            }
            fetched = end;
        }
        choice wish;
        bool repeated = false;
        for (std::size_t position = start; position < last; ++position) {
            std::uint64_t const size = placed[position].size;
            sum += size;
            // Entries ascend, so the latest entry of a node is of this batch if it is not below the batch's first.
            std::uint32_t const node = placed[position].node;
            std::uint32_t const known = entry_of[node];
            if (known > first) {
                repeated = true;
                bytes[known - 1] += size;
                tickets[known - 1] += size << format.shift;
                continue;
            }
            // Written either way, and kept if there are bytes: which of the two is as good as random.
            nodes[count] = node;
            bytes[count] = size;
            starts[count] = static_cast<std::uint32_t>(position);
            tickets[count] = format.ticket(size, node ^ static_cast<std::uint32_t>(batch));
            wish.see(tickets[count]);
            count += static_cast<std::uint32_t>(size != 0);
            entry_of[node] = size != 0 ? count : known;
        }
        std::uint32_t const own = entry_of[slots.node_of_rank[batch]];
        traffic.offsets[batch + 1] = count;
        if (repeated) {
            wish = {};
            std::for_each(tickets + first, tickets + count, [&](auto ticket) { wish.see(ticket); });
        }
        traffic.wishes[batch] = wish;
        traffic.of_batch[batch] = sum;
        traffic.kept[batch] = own > first ? bytes[own - 1] : 0;
    }
    // As many positions as items: one that is there twice leaves one out.
    std::uint8_t all = 1;
    for (std::uint8_t const once : traffic.seen) {
        all &= once;
    }
    return all == 0 ? measured::no_partition : measured::sound;
}

}  // namespace evenkeel::detail
