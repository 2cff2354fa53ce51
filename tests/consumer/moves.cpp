// SPDX-License-Identifier: Apache-2.0
// The compiled module, with threads as ranks.
#include <array>
#include <iostream>
#include <string>

#include <evenkeel/comm/threads.hpp>

#include "step.hpp"

int main() {
    std::array<std::string, 2> lines;
    auto const cluster = evenkeel::uniform_topology(evenkeel::world_size{2}, evenkeel::node_size{2});
    evenkeel::comm::run_threads(
        cluster, [&](evenkeel::comm::communicator& world) { lines[evenkeel::to_index(world.rank())] = step(world); });
    std::cout << lines[0] << lines[1];
}
