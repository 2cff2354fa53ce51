// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/comm/deadline.hpp>
#include <evenkeel/core/topology.hpp>

// As in nccl.h, which users of other backends need not have.
struct ncclComm;

namespace evenkeel::comm {

/// What the processes of a job must share before NCCL connects them; the caller distributes it.
struct nccl_id {
    std::array<std::byte, 128> bytes{};
};

/// @throws comm::error  if NCCL cannot give one.
[[nodiscard]] nccl_id make_nccl_id();

/// What ranks have beside NCCL.
struct nccl_options {
    /// The same ranks over a backend of the host, MPI say, if there is one; it is split once and may be used and
    /// destroyed as before. Over it ranks talk before bytes move and tell each other of faults, so that every rank
    /// hears at once who is late, has aborted or cannot go on, which NCCL does not tell.
    communicator* beside = nullptr;
};

/// One rank per GPU, the current device of the calling thread, over NCCL.
///
///     auto const world = evenkeel::comm::make_nccl(trainers_comm, cluster, 60s);   // an ncclComm_t
///     world->exchange(sends, receives, {stream}).wait(30s);                        // a cudaStream_t
///
/// `parent` is only split, never used to move bytes, aborted or destroyed: what works, and ends on a fault, is a child
/// of its own resources. Nothing else may be on its way over `parent` meanwhile.
///
/// Messages and gathered bytes may lie in device memory or on the host; what is on the host goes through device memory
/// of the communicator's own. A transfer begins when what is on its stream before it is complete, and what is put on
/// that stream after `wait` has returned finds the bytes. An exchange is one group with one send and one receive per
/// message; pairs without bytes are in no group, on either side. Transfers proceed in the order of the calls, while a
/// rank is inside a call.
///
/// Ranks that disagree, in what they call or in the size of a message, are named on every rank before a byte moves. But
/// NCCL does not tell who is late, has aborted or is dead: without `options.beside`, errors about those name no peer,
/// and every rank finds out by its own deadline. Streams that are being captured are refused. The current device is as
/// before after every call.
///
/// Collective over the parent; blocks, and connects every rank to every other.
///
/// @param nodes  One rank per rank of `parent`; the same on every rank.
/// @throws std::invalid_argument  if `parent` is null or not of the size of `nodes`, or `options.beside` of other
///                                ranks.
/// @throws comm::error            if there is no CUDA device, or NCCL fails, or a rank does not come in time.
[[nodiscard]] std::unique_ptr<communicator> make_nccl(ncclComm* parent, topology const& nodes, deadline until,
                                                      nccl_options const& options = {});

/// The same without a communicator to adopt.
///
/// @param id  Of one call of `make_nccl_id`, the same on every rank.
[[nodiscard]] std::unique_ptr<communicator> make_nccl(nccl_id const& id, world_rank rank, topology const& nodes,
                                                      deadline until, nccl_options const& options = {});

}  // namespace evenkeel::comm
