// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/comm/loopback.hpp>
#include <evenkeel/comm/nccl.hpp>
#include <evenkeel/comm/threads.hpp>
#include <evenkeel/core/topology.hpp>

#include "tests/support/rank_body.hpp"

namespace evenkeel::test {

/// The NCCL backend in a typed test, linked with the test double: its ranks are threads, and there is no GPU.
struct nccl_sequence {
    static constexpr auto name = "nccl_double";
    static std::size_t most_ranks() { return 64; }
    static bool takes(std::uint64_t /*number*/) { return true; }
    static void run(topology const& cluster, rank_body const& body) {
        auto const id = comm::make_nccl_id();
        std::mutex mutex;
        std::exception_ptr first;
        {
            std::vector<std::jthread> ranks;
            for (std::size_t rank = 0; rank < cluster.size().value; ++rank) {
                ranks.emplace_back([&, rank] {
                    try {
                        auto const world =
                            comm::make_nccl(id, to_id<world_rank>(rank), cluster, std::chrono::seconds{60});
                        run_rank(body, *world);
                    } catch (...) {
                        std::lock_guard const lock{mutex};
                        if (first == nullptr) {
                            first = std::current_exception();
                        }
                    }
                });
            }
        }
        if (first != nullptr) {
            std::rethrow_exception(first);
        }
    }
};

/// The same with a communicator of the host beside it, over which ranks hear of each other's faults.
struct nccl_beside_threads {
    static constexpr auto name = "nccl_double_beside_threads";
    static std::size_t most_ranks() { return 64; }
    static bool takes(std::uint64_t /*number*/) { return true; }
    static void run(topology const& cluster, rank_body const& body) {
        auto const id = comm::make_nccl_id();
        comm::run_threads(cluster, [&](comm::communicator& host) {
            auto const world = comm::make_nccl(id, host.rank(), cluster, std::chrono::seconds{60}, {.beside = &host});
            run_rank(body, *world);
        });
    }
};

/// Ranks that are threads and share one device: a GPU, or that of the double.
struct loopback {
    static constexpr auto name = "loopback";
    static std::size_t most_ranks() { return 64; }
    static bool takes(std::uint64_t /*number*/) { return true; }
    static void run(topology const& cluster, rank_body const& body) {
        comm::run_loopback(cluster, [&](comm::communicator& world) { run_rank(body, world); });
    }
};

}  // namespace evenkeel::test
