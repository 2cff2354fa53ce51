// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include <mpi.h>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/core/topology.hpp>

namespace evenkeel::comm {

/// How the MPI backend works.
struct mpi_options {
    /// The most bytes of a caller that one MPI message carries, between 1 and 2^30: longer ones are sent in pieces. A
    /// piece should leave without its receiver's help: over TCP, Open MPI does so up to 64 KiB.
    std::size_t piece_bytes = std::size_t{3} << 14U;
    /// Whether processes on one host reach each other without MPI: through shared memory, of which each shows the
    /// others up to 16 MiB, as much as it has ever used at a time; messages beyond 1 MiB are read out of their sender's
    /// memory. Both save time, and waits without a processor. Pairs that do not both want it, or that the system keeps
    /// apart (another user, a container without `process_vm_readv`), use MPI.
    bool meet_neighbours = true;
};

/// One rank per process, on the nodes that MPI knows of: processes that can share memory.
///
///     MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
///     {
///         auto const world = evenkeel::comm::make_mpi(MPI_COMM_WORLD);
///         ...                                          // world->rank() is the process's rank in MPI_COMM_WORLD
///     }
///     MPI_Finalize();
///
/// Works on a duplicate of `processes` and calls neither `MPI_Init` nor `MPI_Finalize`. Collective over `processes`;
/// blocks as `MPI_Comm_dup` does. The duplicate is freed with the last communicator made from it, once the other
/// processes are that far, too; where they are not within a second, or after a fault, it is left to `MPI_Finalize`.
///
/// Bytes move while a rank is inside a call, above all in `wait`; there is no thread behind it. MPI is only handed
/// memory of the communicator's own, to which and from which pieces are copied in these calls: a transfer that failed
/// or was dropped leaves nothing behind that could touch the caller's buffers. Nor do neighbours on a host: the
/// receiver copies, in calls of its own and once all ranks agree, and what it has read counts only if its sender still
/// waited then. What MPI cannot take back is a send that a dead or stalled process has not received: that memory, at
/// most four pieces per message, is never freed. Whether `MPI_Finalize` returns without that process is up to MPI.
///
/// Only one thread of the process may be inside MPI at a time, which includes the calls of a communicator.
///
/// @throws std::invalid_argument  if MPI is not running, its thread level is below `MPI_THREAD_SERIALIZED`, `processes`
///                                is null or joins two groups, or an option is out of range.
/// @throws comm::error            on the processes that are not at fault, naming one that is.
[[nodiscard]] std::unique_ptr<communicator> make_mpi(MPI_Comm processes, mpi_options options = {});

/// The same on given nodes.
///
/// @param nodes  One rank per process of `processes`; the same on every process.
[[nodiscard]] std::unique_ptr<communicator> make_mpi(MPI_Comm processes, topology const& nodes,
                                                     mpi_options options = {});

/// Runs `body` once per rank of `nodes`, each in a thread of its own, where every process carries equally many
/// consecutive ranks; returns when all ranks of this process have ended.
///
///     evenkeel::comm::run_mpi(MPI_COMM_WORLD, cluster, [&](evenkeel::comm::communicator& world) { ... });
///
/// The rank code is that of `run_threads`. Ranks of one process reach each other without MPI. Many ranks per process
/// are for tests and small machines: one lock guards them all.
///
/// The rank threads are inside MPI at any time, so more than one rank per process takes `MPI_THREAD_MULTIPLE`. A rank
/// that throws aborts the communicator on all processes, so that no other waits for it.
///
/// @param nodes  The same on every process; its size is a multiple of the number of processes.
/// @throws what the first rank of this process to fail has thrown, as `run_threads`; and as `make_mpi`.
void run_mpi(MPI_Comm processes, topology const& nodes, std::function<void(communicator&)> const& body,
             mpi_options options = {});

}  // namespace evenkeel::comm
