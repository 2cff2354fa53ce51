// SPDX-License-Identifier: Apache-2.0
#include "communicator.hpp"

#include <vector>

#include <evenkeel/core/errors.hpp>

#include "../split.hpp"
#include "transfers.hpp"

namespace evenkeel::comm::mpi {

namespace {

void refuse_stream(std::string_view function, stream on) {
    if (on != stream{}) {
        throw_invalid(function, "on", "a stream", "none: MPI moves bytes on the host");
    }
}

}  // namespace

pending rank_communicator::do_all_gather(std::span<std::byte const> mine, std::span<std::uint64_t const> counts,
                                         std::span<std::byte> all, stream on) {
    refuse_stream("all_gather", on);
    return take_part("all_gather", [&](std::uint64_t number) {
        return mpi::gather(hub_, number, rank(), "all_gather", mine, counts, all);
    });
}

pending rank_communicator::do_barrier(stream on) {
    refuse_stream("barrier", on);
    return take_part("barrier",
                     [&](std::uint64_t number) { return mpi::gather(hub_, number, rank(), "barrier", {}, {}, {}); });
}

pending rank_communicator::do_exchange(std::span<outgoing const> sends, std::span<incoming const> receives, stream on,
                                       statement const& mine) {
    refuse_stream("exchange", on);
    return take_part(mine.operation,
                     [&](std::uint64_t number) { return mpi::exchange(hub_, number, rank(), sends, receives, mine); });
}

std::unique_ptr<communicator> rank_communicator::do_split(std::uint32_t color, std::uint32_t key, deadline until) {
    split_wish const mine{.color = color, .key = key};
    std::vector<split_wish> wishes(size().value);
    std::vector<std::uint64_t> const counts(size().value, sizeof mine);
    std::uint64_t number = 0;
    take_part("split", [&](std::uint64_t next) {
        number = next;
        return mpi::gather(hub_, next, rank(), "split", std::as_bytes(std::span{&mine, 1}), counts,
                           std::as_writable_bytes(std::span{wishes}));
    }).wait(until);
    try {
        auto const group = group_of(rank(), wishes, topology());
        return std::make_unique<rank_communicator>(group.self, hub_->child(number, color, group.members, group.nodes));
    } catch (...) {
        // The others have their new communicator and would wait for this rank there.
        hub_->fail("split", rank(), " could not take part");
        throw;
    }
}

void rank_communicator::do_abort(std::string_view reason, std::optional<world_rank> culprit) noexcept {
    hub_->fail_because_of(culprit, "abort", rank(), ": ", reason);
}

/// Calls this rank's next operation. A rank that cannot even do so tells the others, who would wait for it.
template <class Call>
pending rank_communicator::take_part(std::string_view operation, Call call) {
    try {
        return call(next_++);
    } catch (...) {
        hub_->fail(operation, rank(), " could not take part");
        throw;
    }
}

}  // namespace evenkeel::comm::mpi
