// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <mpi.h>

#include <evenkeel/comm/deadline.hpp>
#include <evenkeel/core/topology.hpp>

#include "neighbours.hpp"
#include "operation.hpp"
#include "post.hpp"
#include "staging.hpp"

namespace evenkeel::comm::mpi {

/// What all communicators and ranks of this process that come from one `MPI_Comm` share: the post, the neighbours, the
/// lock, and the work that whoever waits does for all.
///
/// Everything but `mutex` is called with the lock held.
class process : public std::enable_shared_from_this<process> {
  public:
    /// Collective. @param meet  Reach processes on the same host without MPI.
    process(MPI_Comm processes, std::size_t piece_bytes, bool meet);
    process(process const&) = delete;
    process& operator=(process const&) = delete;
    ~process();

    /// The hub of all `nodes.size()` ranks, equally many of them on each process.
    [[nodiscard]] std::shared_ptr<hub> root(topology const& nodes);
    /// The hub of ranks that split off together; the first of them on this process to ask makes it.
    ///
    /// @param context     The same on every process and of no other hub.
    /// @param process_of  Per rank.
    [[nodiscard]] std::shared_ptr<hub> child(std::shared_ptr<hub> const& parent, std::uint64_t context,
                                             topology const& nodes, std::vector<int> process_of);

    [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }
    [[nodiscard]] int self() const noexcept { return post_.self(); }

    /// All communicators have ended, and not because the work was done.
    void break_off() noexcept { broken_ = true; }

    /// For `bytes` of a shipment's own.
    [[nodiscard]] parcel memory_for(std::size_t bytes) { return post_.blank(bytes); }
    void ship(std::shared_ptr<shipment> shipment);
    /// Forgets what has not been handed over or fetched: from here on nobody touches those bytes.
    void drop_shipments(hub const& of) noexcept;
    /// Sends one parcel at once. @param urgent  To a process that may wait for something else.
    void announce(int other, label const& label, std::span<std::byte const> bytes, bool urgent);

    /// Whether `other` can fetch what is offered to it.
    [[nodiscard]] bool is_neighbour(int other) const noexcept { return neighbours_.has(other); }
    /// Where the neighbours see a copy of `message`; none if there is no room for it.
    [[nodiscard]] std::optional<std::size_t> stage(std::span<std::byte const> message) { return staging_.add(message); }
    void unstage(std::size_t at) noexcept { staging_.remove(at); }
    /// Room for a parcel to a neighbour, with its label on it; null if there is none.
    [[nodiscard]] std::byte* room_for(int other, label const& label, std::size_t bytes) noexcept;
    void send_room(int other) noexcept { neighbours_.send(other, false); }
    [[nodiscard]] std::optional<lease> open_lease() noexcept { return neighbours_.open_lease(); }
    void close_lease(lease lease) noexcept { neighbours_.close_lease(lease); }
    void begin_fetch(fetch one);

    /// Operations that a rank of this process has come to and is not through with.
    std::size_t under_way = 0;

    /// Receives what has come, sends what may go. What goes wrong ends all communicators.
    ///
    /// @return whether anything has happened.
    bool progress() noexcept;
    /// Makes progress, or else waits a little, or until `changed` or `until`. One rank polls, the others sleep.
    ///
    /// @param idle   Starts at 0; how often there was nothing to do in a row.
    /// @param lacks  At least so many parcels have to come before the caller is through.
    void step(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, deadline until, unsigned& idle,
              std::size_t lacks);
    /// Wakes a rank that sleeps, because the caller polls no longer.
    void hand_over() noexcept;

  private:
    std::shared_ptr<hub> make(std::shared_ptr<hub> const& parent, std::uint64_t context, topology const& nodes,
                              std::vector<int> process_of);
    void deliver(std::span<std::byte const> parcel);
    [[nodiscard]] bool needs_mpi() const noexcept;
    bool fetch_on();
    [[nodiscard]] bool read(fetch const& one, std::span<std::byte> piece) const noexcept;
    void forget_fetches() noexcept;
    [[nodiscard]] bool closed() const noexcept;
    void left(shipment& shipment);
    bool load();
    void rest(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, deadline until, unsigned idle,
              std::size_t lacks);
    void end(int culprit, char const* reason) noexcept;

    post post_;
    neighbours neighbours_;
    staging staging_;
    std::size_t piece_bytes_;
    unsigned patience_;           ///< how often to look before it sleeps
    bool several_ranks_ = false;  ///< here, so that they wake each other
    bool asleep_ = false;         ///< as whoever polls
    std::mutex mutex_;
    std::vector<std::shared_ptr<shipment>> loading_;
    std::vector<fetch> fetches_;
    std::size_t fetches_over_ = 0;  ///< so many, the first ones, are done with
    post::news news_;               // kept for its memory
    bool polled_ = false;
    int farewells_ = 0;    ///< processes that send nothing any more
    bool broken_ = false;  ///< a process may never say farewell
    std::vector<std::condition_variable*> sleeping_;
    /// By context. One that has gone stays as a mark: what still comes for it is nobody's.
    std::map<std::uint64_t, std::weak_ptr<hub>> hubs_;
    /// What came for communicators that this process does not have yet.
    std::map<std::uint64_t, std::vector<std::vector<std::byte>>> early_;
};

}  // namespace evenkeel::comm::mpi
