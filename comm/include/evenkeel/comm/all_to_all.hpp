// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/comm/pending.hpp>
#include <evenkeel/comm/stream.hpp>
#include <evenkeel/rearrange/field.hpp>
#include <evenkeel/rearrange/rearrangement.hpp>

namespace evenkeel::comm {

/// One field on this rank: its buffer before the move, and the buffer to fill.
struct moving_field {
    /// How many bytes each item carries; the same on every rank.
    field const& sizes;
    /// This rank's items in the order of `move.from()` (see `items_on`), without gaps.
    std::span<std::byte const> source;
    /// Room for this rank's items in the order of `move.to()`: `bytes_on(move.to(), rank, sizes)` bytes.
    std::span<std::byte> target;
};

/// Moves the items of this rank to where `move` says, with all their fields, and receives what comes here.
///
///     std::vector<std::byte> arrived(evenkeel::bytes_on(move.to(), communicator.rank(), pixels));
///     all_to_all(communicator, move, std::array{moving_field{pixels, drawn, arrived}}).wait(30s);
///
/// All fields of all items for one peer travel as one message; what stays is one local copy. Before anything moves, the
/// ranks compare a 64-bit hash of the layouts and of every field's name and sizes. Messages are packed, before the call
/// returns, and unpacked, by `ready` or `wait`, in buffers of just the bytes that are sent and received.
///
/// Buffers may lie in device memory where the backend reaches it, those of a rank all of them or none. Then packing and
/// unpacking are one batch of copies each on the stream `on`: what is put on it after `wait` has returned finds the
/// items. Without a stream, the items are there when `wait` returns.
///
/// Collective: every rank of the communicator must call it, also one without items. It is one `exchange`.
///
/// @param move    The same on every rank; its world is the communicator's.
/// @param fields  The same fields in the same order on every rank. Only the buffers are referred to after the call;
///                targets must overlap no source and no other target.
/// @return        Its `wait` throws on every rank, and nothing has moved, if the ranks disagree or a rank's buffers do
///                not fit: `comm::error` names those ranks. The rank whose buffers do not fit gets
///                `std::invalid_argument` instead, which says what does not. The communicator can still be used.
[[nodiscard]] pending all_to_all(communicator& communicator, rearrangement const& move,
                                 std::span<moving_field const> fields, stream on = {});

}  // namespace evenkeel::comm
