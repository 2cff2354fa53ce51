// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <evenkeel/comm/deadline.hpp>
#include <evenkeel/comm/pending.hpp>
#include <evenkeel/comm/stream.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/topology.hpp>

namespace evenkeel::comm {

class copier;

/// Bytes for one peer.
struct outgoing {
    world_rank peer{};
    std::span<std::byte const> bytes;
};

/// Room for the bytes of one peer.
struct incoming {
    world_rank peer{};
    std::span<std::byte> bytes;
};

/// What a rank states before bytes move, so that all ranks learn whether they mean the same.
struct statement {
    /// How an error calls the operation.
    std::string_view operation = "exchange";
    /// The `fingerprint` of what every rank must hold alike.
    std::uint64_t value = 0;
    /// This rank cannot take part. It says so here, so that nobody waits for it.
    bool refused = false;
};

/// The ranks of a job and the ways to move bytes between them; one object per rank, used by one thread at a time.
///
/// Every operation is collective: every rank calls the same ones in the same order, also a rank with nothing to send.
/// A call checks its arguments, enqueues and returns; the `pending` says when the bytes are there and throws what went
/// wrong. Several transfers may be on their way at once. A transfer that fails ends the communicator and all that were
/// split from it: from then on they only throw that `comm::error`. Ranks that merely disagreed before anything moved
/// (`statement`) can go on.
///
/// Backends: `comm/threads.hpp`, `comm/mpi.hpp`, `comm/nccl.hpp`, `comm/loopback.hpp`. Over nodes:
/// `comm/hierarchy.hpp`.
class communicator {
  public:
    communicator(communicator const&) = delete;
    communicator& operator=(communicator const&) = delete;
    virtual ~communicator() = default;

    [[nodiscard]] world_rank rank() const noexcept { return rank_; }
    [[nodiscard]] world_size size() const noexcept { return topology_.size(); }
    /// The node of each rank.
    [[nodiscard]] evenkeel::topology const& topology() const noexcept { return topology_; }

    /// Everybody's bytes on every rank, `mine.size()` from each: rank r's at `all[r * mine.size()]`.
    ///
    /// @throws std::invalid_argument  if `all` is not `mine.size()` times the number of ranks long, or the backend has
    ///                                no streams and one is given.
    [[nodiscard]] pending all_gather(std::span<std::byte const> mine, std::span<std::byte> all, stream on = {});

    /// Everybody's bytes on every rank, `counts[r]` from rank r, one after the other.
    ///
    /// @param counts  The same on every rank; read before the call returns.
    /// @throws std::invalid_argument  if there is not one count per rank, or a buffer's size is not as counted.
    [[nodiscard]] pending all_gather(std::span<std::byte const> mine, std::span<std::uint64_t const> counts,
                                     std::span<std::byte> all, stream on = {});

    /// One message per pair of ranks: a variable all-to-all that only names the pairs with bytes.
    ///
    /// Each message must be sent and received with the same size; the pairs are compared over all ranks before any byte
    /// moves, and a difference is a `comm::error` on every rank. What a rank keeps is not its business: a rank is no
    /// peer of itself.
    ///
    /// Before that, the statements are compared. If one differs or is a refusal, nothing moves, whatever the messages:
    /// `wait` throws a `comm::error` on every rank that names those ranks, and the communicator can still be used.
    ///
    /// @param sends     Ascending in peer, each at most once, none empty. The spans are read before the call returns,
    /// @param receives  likewise; the bytes they refer to belong to the transfer until its `wait` returns, and no two
    ///                  of them overlap.
    /// @throws std::invalid_argument  names the message that breaks these rules.
    [[nodiscard]] pending exchange(std::span<outgoing const> sends, std::span<incoming const> receives, stream on = {},
                                   statement const& mine = {});

    /// Complete when every rank has come here.
    [[nodiscard]] pending barrier(stream on = {});

    /// The ranks with the same `color` as a communicator of their own, in order of `key`, then of rank.
    ///
    /// Who shared a node still does. Those nodes keep their order and are counted from 0, without gaps, so that the
    /// topology is fit for `predict`, `rebalance` and all that takes one.
    ///
    /// Collective over this communicator; blocks.
    /// @throws comm::error  as `pending::wait`.
    [[nodiscard]] std::unique_ptr<communicator> split(std::uint32_t color, std::uint32_t key, deadline until);

    /// Ends every operation of all ranks, now and later, with a `comm::error` that carries `reason`: for a rank that
    /// cannot go on. Local: returns at once.
    ///
    /// The errors name this rank as `peer`.
    void abort(std::string_view reason) noexcept { do_abort(reason, rank_); }
    /// @param culprit  Whom the errors name as `peer` instead: the rank because of which this one cannot go on, or
    ///                 nobody where several may be or it is not known.
    void abort(std::string_view reason, std::optional<world_rank> culprit) noexcept { do_abort(reason, culprit); }

    /// Whether this communicator has ended, as far as this rank has been told. No message of its own, no operation:
    /// for what waits for something else meanwhile.
    ///
    /// @throws comm::error  what has ended it.
    virtual void require_alive() {}

    /// For what works over any backend: copies within memory that only this backend reaches. Null where there is none.
    [[nodiscard]] virtual std::shared_ptr<copier> device_copier() { return nullptr; }

  protected:
    communicator(world_rank rank, evenkeel::topology topology);

  private:
    virtual pending do_all_gather(std::span<std::byte const> mine, std::span<std::uint64_t const> counts,
                                  std::span<std::byte> all, stream on) = 0;
    virtual pending do_barrier(stream on) = 0;
    virtual pending do_exchange(std::span<outgoing const> sends, std::span<incoming const> receives, stream on,
                                statement const& mine) = 0;
    virtual std::unique_ptr<communicator> do_split(std::uint32_t color, std::uint32_t key, deadline until) = 0;
    virtual void do_abort(std::string_view reason, std::optional<world_rank> culprit) noexcept = 0;

    world_rank rank_;
    evenkeel::topology topology_;
    std::vector<std::uint64_t> counts_;  ///< where all ranks give the same
};

}  // namespace evenkeel::comm
