// SPDX-License-Identifier: Apache-2.0
// The compiled module and the room that needs range-v3, in one program.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <range/v3/range/conversion.hpp>

#include <evenkeel/comm/lengths.hpp>
#include <evenkeel/comm/threads.hpp>
#include <evenkeel/core.hpp>
#include <evenkeel/cost.hpp>
#include <evenkeel/solve.hpp>
#include <evenkeel/view.hpp>

int main() {
    auto const names = std::vector<std::string>{"long", "short", "middle", "middling"};
    auto const lengths = std::vector<std::uint64_t>{900, 100, 500, 400};
    auto const cluster = evenkeel::uniform_topology(evenkeel::world_size{2}, evenkeel::node_size{2});

    std::atomic<int> agreed = 0;
    evenkeel::comm::run_threads(cluster, [&](evenkeel::comm::communicator& world) {
        auto const mine = std::span{lengths}.subspan(2 * evenkeel::to_index(world.rank()), 2);
        auto const all = evenkeel::comm::all_gather_lengths(world, mine, 1, std::chrono::seconds{30});
        auto const even = evenkeel::balance(all[0], evenkeel::rank_count{2}, evenkeel::linear_cost{});
        auto const batches = names | evenkeel::views::batches(even.plan) |
                             ranges::to<std::vector<std::vector<std::string>>>();
        agreed += batches == std::vector<std::vector<std::string>>{{"long", "short"}, {"middle", "middling"}};
    });
    return agreed == 2 ? 0 : 1;
}
