// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/rearrange/node_members.hpp>
#include <evenkeel/rearrange/pair_traffic.hpp>

namespace evenkeel::detail {

/// A part of a message, cut off for a neighbour of the rank at one of its ends.
struct slice {
    world_rank carrier{};
    std::uint64_t bytes = 0;
};

/// Per message its slices in order, which cover it; what stays with the rank itself comes first. Empty: nothing is cut.
using slices_of_messages = std::vector<std::vector<slice>>;

/// Which side of the messages between nodes is levelled.
enum class message_end : bool { from, to };

/// Lets no rank send (or receive) more than `most` bytes, where its node as a whole need not: what is too much for a
/// rank goes to the first of its neighbours with room, from its largest messages first, so that few are cut.
///
/// @param end      Whose bytes are levelled.
/// @param between  The messages between nodes as positions in `traffic.pairs`.
/// @param most     At least the mean of each node.
[[nodiscard]] inline slices_of_messages level_bytes(pair_traffic const& traffic,
                                                    std::vector<std::size_t> const& between, node_members const& nodes,
                                                    message_end end, std::uint64_t most) {
    auto const owner = [&](std::size_t message) {
        return end == message_end::from ? traffic.pairs[message].from : traffic.pairs[message].to;
    };
    std::vector<std::uint64_t> load(traffic.ranks.value);
    std::vector<std::vector<std::size_t>> messages_of(traffic.ranks.value);
    for (auto const message : between) {
        load[to_index(owner(message))] += traffic.pairs[message].bytes;
        messages_of[to_index(owner(message))].push_back(message);
    }
    slices_of_messages result(traffic.pairs.size());
    for (auto const& members : nodes.of_nodes()) {
        auto taker = members.begin();
        for (auto const giver : members) {
            std::uint64_t const own = load[to_index(giver)];
            if (own <= most) {
                continue;
            }
            auto& messages = messages_of[to_index(giver)];
            std::ranges::sort(messages, {}, [&](std::size_t message) {
                return std::tuple{~traffic.pairs[message].bytes, message};
            });
            std::uint64_t excess = own - most;
            for (std::size_t m = 0; excess > 0; ++m) {
                auto& slices = result[messages[m]];
                std::uint64_t const bytes = traffic.pairs[messages[m]].bytes;
                std::uint64_t cut = std::min(excess, bytes);
                excess -= cut;
                if (cut < bytes) {
                    slices.push_back({giver, bytes - cut});
                }
                while (cut > 0) {
                    while (load[to_index(*taker)] >= most) {
                        ++taker;
                    }
                    std::uint64_t const part = std::min(cut, most - load[to_index(*taker)]);
                    slices.push_back({*taker, part});
                    load[to_index(*taker)] += part;
                    cut -= part;
                }
            }
            load[to_index(giver)] = most;
        }
    }
    return result;
}

}  // namespace evenkeel::detail
