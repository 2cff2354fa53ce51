// SPDX-License-Identifier: Apache-2.0
// What every rank of a trainer does in a step, with threads as ranks: tell the lengths, plan, move the token ids.
//
// Prints:
//     rank 0 now works on the tokens that these ranks drew: 2 2 2 2 2 2 2 2 2
//     rank 1 now works on the tokens that these ranks drew: 3 3 3 3 3
//     rank 2 now works on the tokens that these ranks drew: 0 2 2 2 2
//     rank 3 now works on the tokens that these ranks drew: 0 0 0 0 0
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include <evenkeel/comm/all_to_all.hpp>
#include <evenkeel/comm/lengths.hpp>
#include <evenkeel/comm/threads.hpp>
#include <evenkeel/core.hpp>
#include <evenkeel/cost.hpp>
#include <evenkeel/rearrange.hpp>
#include <evenkeel/solve.hpp>

using namespace std::chrono_literals;

int main() {
    // How long the samples are that each rank drew; the token ids of a sample tell which rank that was.
    auto const drawn = std::vector<std::vector<std::uint64_t>>{{3, 1, 2}, {}, {9, 4}, {5}};
    auto lines = std::vector<std::string>(drawn.size());

    auto const cluster = evenkeel::uniform_topology(evenkeel::world_size{4}, evenkeel::node_size{2});
    evenkeel::comm::run_threads(cluster, [&](evenkeel::comm::communicator& world) {
        std::size_t const rank = evenkeel::to_index(world.rank());
        auto ids = std::vector<std::int32_t>{};
        for (auto const length : drawn[rank]) {
            ids.insert(ids.end(), length, static_cast<std::int32_t>(rank));
        }

        auto const lengths = evenkeel::comm::all_gather_lengths(world, drawn[rank], 1, 30s);
        auto const plan = evenkeel::balance(lengths[0], evenkeel::rank_count{4}, evenkeel::linear_cost{}).plan;
        auto const move = evenkeel::rearrangement{evenkeel::home_layout(lengths.counts), evenkeel::layout_of(plan)};

        auto const field = evenkeel::field_per_token("token ids", lengths[0], sizeof(std::int32_t));
        auto arrived = std::vector<std::int32_t>(evenkeel::bytes_on(move.to(), world.rank(), field) / 4);
        auto const fields = std::array{evenkeel::comm::moving_field{field, std::as_bytes(std::span{ids}),
                                                                    std::as_writable_bytes(std::span{arrived})}};
        evenkeel::comm::all_to_all(world, move, fields).wait(30s);

        for (auto const id : arrived) {
            lines[rank] += ' ' + std::to_string(id);
        }
    });

    for (std::size_t rank = 0; rank < lines.size(); ++rank) {
        std::cout << "rank " << rank << " now works on the tokens that these ranks drew:" << lines[rank] << '\n';
    }
}
