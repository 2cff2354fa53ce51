// SPDX-License-Identifier: Apache-2.0
// The step of a small trainer, on one of two ranks: its samples' lengths are told to the other rank, and the payloads
// go where the plan says. What arrives is a sample's number.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <evenkeel/comm/all_to_all.hpp>
#include <evenkeel/comm/lengths.hpp>
#include <evenkeel/core.hpp>
#include <evenkeel/rearrange.hpp>

#include "planned.hpp"

inline std::string step(evenkeel::comm::communicator& world) {
    using namespace std::chrono_literals;
    // Rank 0 has drawn all the long samples.
    auto const lengths = std::vector<std::vector<std::uint64_t>>{{900, 500, 400}, {100}};
    auto const numbers = std::vector<std::vector<std::uint64_t>>{{0, 1, 2}, {3}};
    auto const rank = evenkeel::to_index(world.rank());

    auto const all = evenkeel::comm::all_gather_lengths(world, lengths[rank], 1, 60s);
    auto const even = planned();
    auto const move = evenkeel::rearrangement{evenkeel::home_layout(all.counts), evenkeel::layout_of(even)};

    auto const field = evenkeel::field_per_item("number", all[0].size(), sizeof(std::uint64_t));
    auto arrived = std::vector<std::uint64_t>(even[evenkeel::to_id<evenkeel::rank_id>(rank)].size());
    auto const fields = std::array{evenkeel::comm::moving_field{field, std::as_bytes(std::span{numbers[rank]}),
                                                                std::as_writable_bytes(std::span{arrived})}};
    evenkeel::comm::all_to_all(world, move, fields).wait(60s);

    auto line = "rank " + std::to_string(rank) + ": samples";
    for (auto const number : arrived) {
        line += ' ' + std::to_string(number);
    }
    return line + '\n';
}
