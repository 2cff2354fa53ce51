// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <evenkeel/rearrange/exchange_algorithm.hpp>

namespace evenkeel {

/// What the links cost: the latency of a message and the time of a byte, inside a node and between nodes, and what it
/// costs that nodes wait for each other at all. Integers, so that all ranks choose the same algorithm.
/// `comm::hierarchy::measure` finds them.
///
///     evenkeel::predict(all, cluster, algorithm, {.between_ps_per_byte = 160});   // network cards of 50 Gbit/s
struct link_costs {
    // The defaults are of the order of 300 GB/s between the GPUs of a node and a network card of 400 Gbit/s for each.
    std::uint64_t inside_ns_per_message = 2'000;
    std::uint64_t between_ns_per_message = 10'000;
    std::uint64_t inside_ps_per_byte = 3;
    std::uint64_t between_ps_per_byte = 20;
    /// Of each hop between nodes, whatever moves.
    std::uint64_t between_ns_per_hop = 0;
    /// How many network cards the ranks of a node share, each every so many ranks; 0: each rank has its own.
    std::size_t cards_per_node = 0;
    /// By how much longer the bytes take in a hop in which a rank exchanges with more ranks elsewhere than there are
    /// other nodes, and so with several of one: their streams share a link less evenly than one stream per rank, and
    /// the last of them decides.
    std::uint64_t crowding_percent = 0;

    friend bool operator==(link_costs const&, link_costs const&) = default;
};

/// What one rank sends and receives over its links, relayed bytes included.
struct link_load {
    std::uint64_t sent_inside = 0;
    std::uint64_t received_inside = 0;
    std::uint64_t sent_between = 0;
    std::uint64_t received_between = 0;
    std::uint64_t messages_inside = 0;   ///< sent or received, whichever are more, hop by hop
    std::uint64_t messages_between = 0;  ///< likewise
    std::uint64_t relayed = 0;  ///< bytes that are received for others: buffers that the rank needs beside its own

    friend bool operator==(link_load const&, link_load const&) = default;
};

/// What an exchange will put on which link, and how long it should take.
struct prediction {
    exchange_algorithm algorithm = exchange_algorithm::flat;
    std::vector<link_load> of_ranks;
    std::vector<std::uint64_t> sent_by_nodes;      ///< to other nodes
    std::vector<std::uint64_t> received_by_nodes;  ///< from other nodes
    std::uint64_t nanoseconds = 0;

    /// The bytes of the busiest rank between nodes, in its busier direction: what an exchange takes at least, where
    /// each rank has a network card of its own.
    [[nodiscard]] std::uint64_t busiest_between() const noexcept {
        std::uint64_t most = 0;
        for (auto const& rank : of_ranks) {
            most = std::max({most, rank.sent_between, rank.received_between});
        }
        return most;
    }
    /// Likewise of the busiest node, where the ranks of a node share one.
    [[nodiscard]] std::uint64_t busiest_node() const noexcept {
        std::uint64_t most = 0;
        for (auto const bytes : sent_by_nodes) {
            most = std::max(most, bytes);
        }
        for (auto const bytes : received_by_nodes) {
            most = std::max(most, bytes);
        }
        return most;
    }

    friend bool operator==(prediction const&, prediction const&) = default;
};

}  // namespace evenkeel
