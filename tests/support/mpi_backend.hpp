// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <mpi.h>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/comm/mpi.hpp>
#include <evenkeel/core/topology.hpp>

#include "tests/support/rank_body.hpp"

namespace evenkeel::test {

/// Whether processes of one host reach each other without MPI (`mpi_options::meet_neighbours`), where a test does not
/// say.
inline bool mpi_neighbours_meet = true;

/// How many processes `mpirun` has started; none where MPI is not running.
inline int mpi_processes() {
    int running = 0;
    int count = 0;
    MPI_Initialized(&running);
    if (running != 0) {
        MPI_Comm_size(MPI_COMM_WORLD, &count);
    }
    return count;
}

/// The first of the processes of `mpirun`. Made and destroyed by all of them.
class first_processes {
  public:
    explicit first_processes(int count) {
        int self = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &self);
        MPI_Comm_split(MPI_COMM_WORLD, self < count ? 0 : MPI_UNDEFINED, 0, &comm_);
    }
    first_processes(first_processes const&) = delete;
    first_processes& operator=(first_processes const&) = delete;
    ~first_processes() {
        // No test begins while another one goes on elsewhere.
        MPI_Barrier(MPI_COMM_WORLD);
        if (comm_ != MPI_COMM_NULL) {
            MPI_Comm_free(&comm_);
        }
    }

    /// `MPI_COMM_NULL` on the others.
    [[nodiscard]] MPI_Comm get() const noexcept { return comm_; }

  private:
    MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Runs `body` on ranks that are threads of as many processes as can carry equally many of them. Every process of
/// `mpirun` calls it.
inline void run_on_mpi(topology const& cluster, comm::mpi_options options, rank_body const& body) {
    options.meet_neighbours = options.meet_neighbours && mpi_neighbours_meet;
    int processes = mpi_processes();
    while (cluster.size().value % static_cast<std::size_t>(processes) != 0) {
        --processes;
    }
    first_processes const carriers{processes};
    if (carriers.get() != MPI_COMM_NULL) {
        comm::run_mpi(
            carriers.get(), cluster, [&](comm::communicator& world) { run_rank(body, world); }, options);
    }
}

/// The MPI backend in a typed test. It has no ranks where MPI is not running.
struct mpi {
    static constexpr auto name = "mpi";
    static std::size_t most_ranks() { return mpi_processes() == 0 ? 0 : 64; }
    /// Two thirds each, so that each of them is taken by two of 1, 2 and 3 processes, and by 4 or 8.
    static bool takes(std::uint64_t number) { return number % 3 != static_cast<std::uint64_t>(mpi_processes()) % 3; }
    static void run(topology const& cluster, rank_body const& body) { run_on_mpi(cluster, {}, body); }
};

}  // namespace evenkeel::test
