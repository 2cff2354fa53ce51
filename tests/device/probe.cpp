// SPDX-License-Identifier: Apache-2.0
// One rank over real NCCL: status 0 if every byte is right, 77 and a reason where there is no GPU.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <vector>

#include <evenkeel/comm/error.hpp>
#include <evenkeel/comm/lengths.hpp>
#include <evenkeel/comm/nccl.hpp>
#include <evenkeel/core/topology.hpp>

int main() {
    using namespace evenkeel;
    using namespace std::chrono_literals;
    try {
        auto const world =
            comm::make_nccl(comm::make_nccl_id(), world_rank{0}, uniform_topology(world_size{1}, node_size{1}), 60s);
        std::vector<std::uint64_t> const mine{7, 8, 9};
        auto const lengths = comm::all_gather_lengths(*world, mine, 1, 30s);
        world->exchange({}, {}).wait(30s);
        world->split(0, 0, 30s)->barrier().wait(30s);
        bool const right = lengths.values == mine;
        std::puts(right ? "one rank over NCCL: right" : "one rank over NCCL: WRONG");
        return right ? 0 : 1;
    } catch (comm::error const& error) {
        std::puts(error.what());
        return std::string_view{error.what()}.find("no CUDA device") != std::string_view::npos ? 77 : 1;
    }
}
