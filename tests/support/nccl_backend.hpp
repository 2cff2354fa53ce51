// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/comm/nccl.hpp>
#include <evenkeel/core/topology.hpp>

#include "tests/support/rank_body.hpp"

namespace evenkeel::test {

/// The NCCL backend in a typed test, linked with the test double: its ranks are threads, and there is no GPU.
struct nccl_sequence {
    static constexpr auto name = "nccl_double";
    static std::size_t most_ranks() { return 64; }
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

}  // namespace evenkeel::test
