// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/comm/communicator.hpp>

#include "../agreement.hpp"
#include "neighbours.hpp"
#include "parcel.hpp"

namespace evenkeel::comm::mpi {

class hub;
struct part;

/// The bytes of one rank for one process, or for one rank of this process, on their way in pieces.
struct shipment {
    hub* of = nullptr;
    std::shared_ptr<part> sender;
    label what;
    std::span<std::byte const> bytes;
    std::shared_ptr<void const> owner;  ///< of the bytes, unless the caller is
    int process = 0;
    std::uint64_t loaded = 0;    ///< bytes that were handed over
    bool begun = false;          ///< also a shipment of no bytes is one parcel
    parcel own;                  ///< bytes that are nobody else's
    std::size_t pieces_out = 0;  ///< pieces handed over that have not left

    [[nodiscard]] bool loading() const noexcept { return !begun || loaded < bytes.size(); }
};

/// A message that is as long as this, or shorter, travels with what its sender states, for a message of its own would
/// cost more than these bytes. It is put in its place when all ranks have agreed, as the others are sent.
inline constexpr std::size_t most_early_bytes = 4096;
/// Likewise to a neighbour: fetching a message from the memory of its sender costs more than copying so few bytes
/// twice.
inline constexpr std::size_t most_near_bytes = 16384;

/// A message for a neighbour that is as long as this, or shorter, is copied where the neighbour sees it, if there is
/// room: many ranks that copy longer ones twice have to share the memory's bandwidth.
inline constexpr std::size_t most_staged_bytes = std::size_t{1} << 20U;

/// What stands before each such message. A longer one for a neighbour is offered: instead of its bytes stands where
/// they are in the memory of its sender, or in what that shows, and the receiver fetches them when all ranks have
/// agreed.
struct early_label {
    enum class way : std::uint32_t { enclosed, offered, staged };

    std::uint32_t to = 0;
    way by = way::enclosed;
    std::uint64_t bytes = 0;
};
struct offer {
    std::uint64_t address = 0;  ///< or the place in what is shown
    lease until;
};
/// A message that a neighbour is to take out of what is shown.
struct staged_message {
    world_rank to{};
    std::size_t at = 0;
};

/// The rest of an offered message that is on its way into the memory of its receiver.
struct fetch {
    hub* of = nullptr;
    std::uint64_t number = 0;  ///< of the operation
    std::shared_ptr<part> receiver;
    world_rank from{};
    int process = 0;
    bool staged = false;
    offer source;
    std::span<std::byte> target;
};

/// What one rank of this process has in one operation.
struct part {
    world_rank rank{};
    std::string name;                                  ///< of the operation, for errors
    std::vector<std::shared_ptr<shipment>> shipments;  ///< those that have not left
    std::vector<outgoing> sends;
    std::vector<incoming> receives;
    std::vector<std::uint64_t> missing;  ///< per receive, the bytes that have not come
    std::uint64_t missing_in_all = 0;
    std::vector<world_rank> untaken;     ///< who has not fetched what it was offered
    std::vector<staged_message> staged;  ///< of these, in the order of their receivers
    std::condition_variable changed;
    /// Room for the `transfer` that waits for it, so that none is allocated.
    alignas(std::max_align_t) std::array<std::byte, 112> object{};

    /// Makes it a part of another operation, in the memory of this one.
    void begin_again(world_rank self, std::string_view operation) {
        rank = self;
        name = operation;
        shipments.clear();
        sends.clear();
        receives.clear();
        missing.clear();
        missing_in_all = 0;
        untaken.clear();
        staged.clear();
    }

    /// The room for a message; null if there is none of this size.
    [[nodiscard]] incoming const* room_for(world_rank from, std::uint64_t bytes) const {
        auto const found = std::ranges::lower_bound(receives, from, {}, &incoming::peer);
        return found == receives.end() || found->peer != from || found->bytes.size() != bytes ? nullptr : &*found;
    }

    void take_in(incoming const& room, std::uint64_t bytes) {
        missing[static_cast<std::size_t>(&room - receives.data())] -= bytes;
        missing_in_all -= bytes;
    }

    /// Takes in a piece of a message. @return false if there is no room for it.
    [[nodiscard]] bool accept(world_rank from, std::uint64_t offset, std::span<std::byte const> piece) {
        auto const found = std::ranges::lower_bound(receives, from, {}, &incoming::peer);
        if (found == receives.end() || found->peer != from || offset > found->bytes.size() ||
            piece.size() > found->bytes.size() - offset) {
            return false;
        }
        copy_bytes(piece, found->bytes.subspan(offset));
        take_in(*found, piece.size());
        return true;
    }
};

/// What one rank of any process tells all others.
struct contribution {
    subject about{};
    std::uint64_t identity = 0;
    std::vector<std::byte> bytes;
    std::vector<std::byte> own;  ///< its own memory, while `bytes` has lent memory
    std::uint64_t missing = 0;
    bool came = false;

    [[nodiscard]] bool whole() const noexcept { return came && missing == 0; }

    void accept(label const& label, std::span<std::byte const> piece) {
        if (!came) {
            bytes.resize(label.total);
            about = label.about;
            identity = label.identity;
            missing = label.total;
            came = true;
        }
        copy_bytes(piece, std::span{bytes}.subspan(label.offset));
        missing -= piece.size();
    }
};

/// What all ranks tell each other, and how many have told everything.
struct round {
    std::vector<contribution> of_rank;
    std::size_t whole = 0;

    /// @return whether that was the last piece of the last rank.
    bool accept(label const& label, std::span<std::byte const> piece) {
        auto& one = of_rank[label.from];
        one.accept(label, piece);
        whole += one.whole() ? 1U : 0U;
        return complete();
    }
    [[nodiscard]] bool complete() const noexcept { return whole == of_rank.size(); }
};

/// One collective operation on this process. What another process sends may begin it.
struct operation {
    operation(std::size_t ranks, std::size_t local_ranks)
        : arrivals{.of_rank = std::vector<contribution>(ranks)}, parts(local_ranks) {}

    std::uint64_t number = 0;
    round arrivals;
    round details;                             ///< empty unless the arrivals do not fit each other
    std::vector<std::shared_ptr<part>> parts;  ///< of the ranks of this process; null for those that have not come
    bool agreed = false;                       ///< all have come and called the same, so messages may move
    std::optional<dissent> objection;          ///< if there is one, there are no messages
    std::size_t left = 0;                      ///< how many ranks of this process are through

    [[nodiscard]] bool done_for(part const& part) const noexcept {
        return agreed && part.shipments.empty() && part.missing_in_all == 0 && part.untaken.empty();
    }
    /// Makes it operation `next`, in the memory of this one.
    void begin_again(std::uint64_t next) {
        number = next;
        for (auto& one : arrivals.of_rank) {
            one.missing = 0;
            one.came = false;
        }
        arrivals.whole = 0;
        std::ranges::fill(parts, nullptr);
        agreed = false;
        objection.reset();
        left = 0;
    }
    round& details_of_all() {
        details.of_rank.resize(arrivals.of_rank.size());
        return details;
    }
};

}  // namespace evenkeel::comm::mpi
