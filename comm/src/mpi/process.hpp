// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <mpi.h>

#include <evenkeel/comm/deadline.hpp>
#include <evenkeel/core/topology.hpp>

#include "operation.hpp"
#include "post.hpp"

namespace evenkeel::comm::mpi {

/// What all communicators and ranks of this process that come from one `MPI_Comm` share: the post, the lock, and the
/// work that whoever waits does for all.
///
/// Everything but `mutex` is called with the lock held.
class process : public std::enable_shared_from_this<process> {
  public:
    process(MPI_Comm processes, std::size_t piece_bytes) : post_{processes, piece_bytes}, piece_bytes_{piece_bytes} {}
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

    void ship(std::shared_ptr<shipment> shipment);
    /// Forgets what has not been handed over: from here on nobody reads those bytes.
    void drop_shipments(hub const& of) noexcept;
    /// Sends one parcel at once.
    void announce(int other, label const& label, std::span<std::byte const> bytes);

    /// Receives what has come, sends what may go. What goes wrong ends all communicators.
    ///
    /// @return whether anything has happened.
    bool progress() noexcept;
    /// Makes progress, or else waits a little, or until `changed` or `until`. One rank polls, the others sleep.
    ///
    /// @param idle  Starts at 0; how often there was nothing to do in a row.
    void step(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, deadline until, unsigned& idle);
    /// Wakes a rank that sleeps, because the caller polls no longer.
    void hand_over() noexcept;

  private:
    std::shared_ptr<hub> make(std::shared_ptr<hub> const& parent, std::uint64_t context, topology const& nodes,
                              std::vector<int> process_of);
    void deliver(parcel parcel);
    [[nodiscard]] bool closed() const noexcept;
    void left(shipment& shipment);
    bool load();
    void rest(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, deadline until, unsigned idle);
    void end(int culprit, char const* reason) noexcept;

    post post_;
    std::size_t piece_bytes_;
    std::mutex mutex_;
    std::vector<std::shared_ptr<shipment>> loading_;
    post::news news_;  // kept for its memory
    bool polled_ = false;
    int farewells_ = 0;    ///< processes that send nothing any more
    bool broken_ = false;  ///< a process may never say farewell
    std::vector<std::condition_variable*> sleeping_;
    /// By context. One that has gone stays as a mark: what still comes for it is nobody's.
    std::map<std::uint64_t, std::weak_ptr<hub>> hubs_;
    /// What came for communicators that this process does not have yet.
    std::map<std::uint64_t, std::vector<parcel>> early_;
};

}  // namespace evenkeel::comm::mpi
