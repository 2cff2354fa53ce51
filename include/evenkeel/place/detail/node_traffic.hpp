// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/core/plan.hpp>
#include <evenkeel/place/detail/node_slots.hpp>

namespace evenkeel::detail {

/// Differences and sums of two numbers of bytes are taken without a check, signed, all over this room.
inline constexpr std::uint64_t most_bytes = std::numeric_limits<std::uint64_t>::max() >> 2;

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
    std::uint64_t total = 0;

    // The items behind an entry, by their positions in `plan.items`: the latest, one more than its position, then from
    // each the one before it; 0 ends.
    std::vector<std::uint32_t> latest;   ///< by entry
    std::vector<std::uint32_t> earlier;  ///< by position

    std::vector<std::uint32_t> entry_of;  ///< by node: one more than its latest entry
    std::vector<std::uint64_t> seen;      ///< one bit per item
};

enum class measured : std::uint8_t { sound, no_partition, homeless, overflow };

/// Fills `traffic`; says what is wrong with the arguments if it cannot be done.
///
/// @complexity O(items + ranks + nodes)
inline measured measure(plan const& plan, layout const& home, node_slots const& slots,
                        std::span<std::uint64_t const> item_bytes, node_traffic& traffic) {
    std::size_t const items = home.size();
    std::size_t const batches = slots.node_of_rank.size();
    std::size_t const world = slots.node_of_world.size();
    traffic.nodes.resize(items + 1);
    traffic.bytes.resize(items + 1);
    traffic.offsets.resize(batches + 1);
    traffic.of_batch.resize(batches);
    traffic.kept.resize(batches);
    traffic.home_bytes.assign(world, 0);
    traffic.latest.resize(items + 1);
    traffic.earlier.resize(items);
    traffic.entry_of.assign(slots.nodes(), 0);
    traffic.seen.assign(items / 64 + 1, 0);

    auto* const nodes = traffic.nodes.data();
    auto* const bytes = traffic.bytes.data();
    auto* const latest = traffic.latest.data();
    auto* const entry_of = traffic.entry_of.data();
    auto* const seen = traffic.seen.data();
    std::uint64_t total = 0;
    std::uint64_t twice = 0;
    std::uint64_t beyond = 0;
    std::uint32_t count = 0;
    for (std::size_t batch = 0; batch < batches; ++batch) {
        std::uint32_t const first = count;
        std::uint64_t const before = total;
        std::size_t const last = plan.offsets[(batch + 1) * plan.micro_batches];
        for (std::size_t position = plan.offsets[batch * plan.micro_batches]; position < last; ++position) {
            std::size_t const item = to_index(plan.items[position]);
            if (item >= items) {
                return measured::no_partition;
            }
            std::uint64_t const bit = std::uint64_t{1} << (item % 64);
            twice |= seen[item / 64] & bit;
            seen[item / 64] |= bit;
            std::size_t const source = to_index(home.places[item].rank);
            if (source >= world) {
                return measured::homeless;
            }
            std::uint64_t const size = item_bytes[item];
            beyond |= size | (total += size);
            traffic.home_bytes[source] += size;
            // Entries ascend, so the latest entry of a node is of this batch if it is not below the batch's first.
            std::uint32_t const node = slots.node_of_world[source];
            std::uint32_t const known = entry_of[node];
            if (known > first) {
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
            count += static_cast<std::uint32_t>(size != 0);
            entry_of[node] = size != 0 ? count : known;
        }
        std::uint32_t const own = entry_of[slots.node_of_rank[batch]];
        traffic.offsets[batch] = first;
        traffic.of_batch[batch] = total - before;
        traffic.kept[batch] = own > first ? bytes[own - 1] : 0;
    }
    traffic.offsets[batches] = count;
    traffic.total = total;
    // Neither a size nor a sum below 2^62 reaches the two upper bits, and sums wrap only past them.
    return twice != 0 ? measured::no_partition : beyond > most_bytes ? measured::overflow : measured::sound;
}

}  // namespace evenkeel::detail
