// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <functional>
#include <new>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/comm/error.hpp>
#include <evenkeel/comm/mpi.hpp>

#include "tests/support/backends.hpp"
#include "tests/support/mailbox.hpp"
#include "tests/support/scarce_memory.hpp"

namespace evenkeel::test::mpi_memory_test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Runs `operation` on all processes again and again; each time a later allocation of rank 1 fails, until none is left.
/// That rank may have been working for the others, so it gets its `std::bad_alloc` or a `comm::error`. The others are
/// told: nobody waits in vain.
void expect_to_survive(std::function<void(comm::communicator&)> const& operation) {
    int const processes = mpi_processes();
    int const ranks_per_process = processes == 1 ? 3 : 1;
    int const of_rank_1 = 1 / ranks_per_process;
    auto const ranks = static_cast<std::size_t>(processes * ranks_per_process);
    for (long number = 0;; ++number) {
        SCOPED_TRACE("allocation " + std::to_string(number));
        ASSERT_LT(number, 1000);
        int failed = 0;
        auto const body = [&](comm::communicator& world) {
            if (world.rank() != world_rank{1}) {
                operation(world);
                return;
            }
            allocations_left = number;
            try {
                operation(world);
            } catch (...) {
                failed = allocations_left < 0 ? 1 : 0;
                allocations_left = -1;
                throw;
            }
            failed = allocations_left < 0 ? 1 : 0;
            allocations_left = -1;
        };
        try {
            comm::run_mpi(MPI_COMM_WORLD, uniform_topology(world_size{ranks}, node_size{ranks}), body);
        } catch (std::bad_alloc const&) {
            EXPECT_EQ(failed, 1);
        } catch (comm::error const& error) {
            EXPECT_THAT(error.what(), Not(HasSubstr("deadline")));
        }
        MPI_Bcast(&failed, 1, MPI_INT, of_rank_1, MPI_COMM_WORLD);
        if (failed == 0) {
            EXPECT_GT(number, 0);
            return;
        }
    }
}

TEST(mpi_without_memory, fails_together_in_an_exchange) {
    expect_to_survive([](comm::communicator& world) {
        long const armed = std::exchange(allocations_left, -1);
        mailbox box{world, [](std::size_t, std::size_t) { return 20'000u; }};
        allocations_left = armed;
        box.exchange(world).wait(patience);
    });
}

TEST(mpi_without_memory, fails_together_in_a_gathering) {
    expect_to_survive([](comm::communicator& world) {
        std::array<std::byte, 1> const mine{};
        long const armed = std::exchange(allocations_left, -1);
        auto all = untouched_bytes(world.size().value);
        allocations_left = armed;
        world.all_gather(mine, all).wait(patience);
        world.barrier().wait(patience);
    });
}

TEST(mpi_without_memory, fails_together_in_a_split) {
    expect_to_survive([](comm::communicator& world) {
        auto const part = world.split(0, 0, patience);
        part->barrier().wait(patience);
    });
}

}  // namespace
}  // namespace evenkeel::test::mpi_memory_test
