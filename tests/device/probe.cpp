// SPDX-License-Identifier: Apache-2.0
// Ranks over real NCCL, each a process on the first GPU: gathers lengths, exchanges device memory, checks every byte.
//
//     probe                       one rank
//     probe RANKS RANK FILE       one of several; rank 0 writes what connects them into FILE
//
// Status 0 if every byte is right, 77 and a reason where there is no GPU.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <cuda_runtime_api.h>

#include <evenkeel/comm/error.hpp>
#include <evenkeel/comm/lengths.hpp>
#include <evenkeel/comm/nccl.hpp>
#include <evenkeel/core/topology.hpp>

namespace {

using namespace evenkeel;
using namespace std::chrono_literals;

comm::nccl_id shared_id(std::size_t rank, std::string const& file) {
    comm::nccl_id id;
    auto const bytes = reinterpret_cast<char*>(id.bytes.data());
    auto const size = static_cast<std::streamsize>(id.bytes.size());
    if (rank == 0) {
        id = comm::make_nccl_id();
        if (!file.empty()) {
            std::ofstream{file + ".part", std::ios::binary}.write(bytes, size);
            // Whoever sees the file sees all of it.
            std::filesystem::rename(file + ".part", file);
        }
        return id;
    }
    while (!std::filesystem::exists(file)) {
        std::this_thread::sleep_for(10ms);
    }
    std::ifstream{file, std::ios::binary}.read(bytes, size);
    return id;
}

std::byte content(std::size_t from, std::size_t to, std::size_t at) {
    return static_cast<std::byte>(7 * from + 31 * to + at);
}

/// Blocks of another size for each pair, between device buffers, on a stream.
bool exchange_is_right(comm::communicator& world) {
    auto const self = to_index(world.rank());
    auto const size_of = [](std::size_t from, std::size_t to) { return 100'003 + 1'000 * from + 17 * to; };
    cudaStream_t stream = nullptr;
    cudaStreamCreate(&stream);
    std::vector<comm::outgoing> sends;
    std::vector<comm::incoming> receives;
    for (std::size_t peer = 0; peer < world.size().value; ++peer) {
        if (peer == self) {
            continue;
        }
        std::vector<std::byte> block(size_of(self, peer));
        for (std::size_t at = 0; at < block.size(); ++at) {
            block[at] = content(self, peer, at);
        }
        void* out = nullptr;
        void* in = nullptr;
        cudaMalloc(&out, block.size());
        cudaMalloc(&in, size_of(peer, self));
        cudaMemcpy(out, block.data(), block.size(), cudaMemcpyDefault);
        sends.push_back({to_id<world_rank>(peer), {static_cast<std::byte*>(out), block.size()}});
        receives.push_back({to_id<world_rank>(peer), {static_cast<std::byte*>(in), size_of(peer, self)}});
    }
    world.exchange(sends, receives, {stream}).wait(60s);
    bool right = true;
    for (auto const& message : receives) {
        std::vector<std::byte> arrived(message.bytes.size());
        cudaMemcpy(arrived.data(), message.bytes.data(), arrived.size(), cudaMemcpyDefault);
        for (std::size_t at = 0; at < arrived.size(); ++at) {
            right = right && arrived[at] == content(to_index(message.peer), self, at);
        }
    }
    return right;
}

}  // namespace

int main(int argc, char** argv) {
    std::size_t const ranks = argc == 4 ? std::stoul(argv[1]) : 1;
    std::size_t const rank = argc == 4 ? std::stoul(argv[2]) : 0;
    try {
        auto const nodes = uniform_topology(world_size{ranks}, node_size{ranks});
        int devices = 0;
        if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
            // The backend says so itself; nobody is waited for.
            static_cast<void>(comm::make_nccl({}, to_id<world_rank>(rank), nodes, 1s));
        }
        auto const id = shared_id(rank, argc == 4 ? argv[3] : "");
        auto const world = comm::make_nccl(id, to_id<world_rank>(rank), nodes, 60s);
        std::vector<std::uint64_t> const mine{rank, 8, 9};
        auto const lengths = comm::all_gather_lengths(*world, mine, 1, 30s);
        bool const right =
            lengths.samples == 3 * ranks && lengths.values[3 * rank] == rank && exchange_is_right(*world);
        world->split(0, 0, 30s)->barrier().wait(30s);
        std::printf("rank %zu of %zu over NCCL: %s\n", rank, ranks, right ? "right" : "WRONG");
        return right ? 0 : 1;
    } catch (comm::error const& error) {
        std::puts(error.what());
        return std::string_view{error.what()}.find("no CUDA device") != std::string_view::npos ? 77 : 1;
    }
}
