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
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/topology.hpp>

#include "../fault.hpp"
#include "operation.hpp"
#include "process.hpp"

namespace evenkeel::comm::mpi {

/// One communicator on this process: the operations under way, and the fault that ended it.
///
/// The n-th call of each rank is the same operation, so operations are found by their number. A rank that comes to one
/// tells every other process. So every process knows who has come, and whom to name when a deadline passes.
class hub : public std::enable_shared_from_this<hub> {
  public:
    /// @param process_of  Per rank.
    hub(std::shared_ptr<process> process, std::shared_ptr<hub> parent, std::uint64_t context, evenkeel::topology nodes,
        std::vector<int> process_of);
    hub(hub const&) = delete;
    hub& operator=(hub const&) = delete;
    ~hub();

    [[nodiscard]] evenkeel::topology const& topology() const noexcept { return topology_; }
    [[nodiscard]] std::size_t size() const noexcept { return topology_.size().value; }
    /// The ranks of this process, in order.
    [[nodiscard]] std::span<world_rank const> ranks_here() const noexcept { return ranks_here_; }

    /// What `rank` has in its next operation, called `operation`.
    [[nodiscard]] std::shared_ptr<part> next_part(world_rank rank, std::string_view operation);
    /// The rank needs them no more, so that they may become others.
    void let_go(std::shared_ptr<part> part, std::shared_ptr<operation> operation) noexcept;
    /// `part.rank` comes to operation `number` and tells all others. @return null after a fault.
    [[nodiscard]] std::shared_ptr<operation> join(std::shared_ptr<part> part, std::uint64_t number, subject about,
                                                  std::uint64_t identity, std::span<std::byte const> bytes);
    /// Makes progress. @return whether `part` is through. @throws comm::error  the fault, if there is one.
    [[nodiscard]] bool ready(operation const& operation, part const& part);
    /// Blocks until `part` is through, a fault, or the deadline, which is a fault. @throws comm::error
    void wait(operation const& operation, part& part, deadline until);
    /// A rank of this process is through with operation `number` and has what it needs.
    void leave(std::uint64_t number);

    /// Ends the communicator because of what `rank` did: "rank 2" and `did`. Without words where memory lacks for them.
    void fail(std::string_view operation, world_rank rank, std::string_view did) noexcept {
        fail_because_of(rank, operation, rank, did, {});
    }
    /// Likewise, but the errors name `culprit`. @param reason  What stands after `did`.
    void fail_because_of(std::optional<world_rank> culprit, std::string_view operation, world_rank rank,
                         std::string_view did, std::string_view reason) noexcept;
    /// @throws comm::error  the fault, as seen by `rank`, if there is one.
    void require_alive(world_rank rank) const;
    /// Likewise, after a look at what has come.
    void look(world_rank rank);

    /// The hub of the ranks that split off together in operation `number`, in the order of `members`.
    [[nodiscard]] std::shared_ptr<hub> child(std::uint64_t number, std::uint32_t color,
                                             std::span<world_rank const> members, evenkeel::topology const& nodes);

    // For the process, which holds the lock.

    void deliver(label const& label, std::span<std::byte const> piece);
    void end_fetch(fetch const& ended);
    /// The system does not let this process read there: the sender is asked to send it.
    void ask_for(fetch const& unread);
    void adopt(std::shared_ptr<hub> const& child);
    /// MPI itself complains, about `culprit` if that is a process.
    void fail_because_of_mpi(int culprit, char const* reason) noexcept;

  private:
    [[noreturn]] void raise(world_rank rank) const;
    void fail_locked(fault fault, bool tell) noexcept;
    void tell_all(fault const& fault) noexcept;
    void inherit(fault const& of_parent) noexcept;

    void have_operations_for(std::size_t parts);
    void have_parts_for(std::size_t parts);
    [[nodiscard]] std::shared_ptr<part> new_part() const;
    void fit(operation& spare);
    void make_room_for(label const& label);
    [[nodiscard]] bool accept_arrival(operation& here, label const& label, std::span<std::byte const> piece);
    void lend_room(operation& here, label const& label);
    void take_back(contribution& told);
    [[nodiscard]] std::shared_ptr<operation> find(std::uint64_t number) const noexcept;
    [[nodiscard]] std::shared_ptr<operation> operation_at(std::uint64_t number);
    [[nodiscard]] label label_of(part const& from, std::uint64_t number, subject about, std::uint64_t total) const;
    [[nodiscard]] std::vector<world_rank> ranks_on(int process) const;
    [[nodiscard]] std::size_t position_here(world_rank rank) const;
    /// So many shipments a rank has in one operation: what it tells every other process, and a message for every rank.
    [[nodiscard]] std::size_t most_shipments() const noexcept { return others_.size() + size(); }
    /// A shipment for all that is still to be said about it, in memory that is used again.
    [[nodiscard]] std::shared_ptr<shipment> new_shipment(std::shared_ptr<part> const& sender, label const& label,
                                                         int process);
    void ship(std::shared_ptr<shipment> const& shipment);
    void ship_to_all(std::shared_ptr<part> const& sender, std::shared_ptr<operation> const& owner, label const& label,
                     std::span<std::byte const> bytes);
    void ship_with_early_messages(std::shared_ptr<part> const& sender, std::shared_ptr<operation> const& owner,
                                  label const& label, std::span<std::byte const> stated);
    [[nodiscard]] bool is_early(outgoing const& message) const;
    [[nodiscard]] bool is_offered(outgoing const& message) const;
    std::size_t bytes_with_early_messages(part const& sender, int other) const;
    void stage(part& sender);
    void unstage(part& sender) noexcept;
    void write_early_messages(part const& sender, int other, std::span<std::byte const> stated, std::byte* at) const;
    [[nodiscard]] bool accept_early_messages(operation const& here, std::uint64_t number, world_rank from);
    /// The rank that has or has not fetched what `label.to` has offered it. @return the part of that one, if it waits
    [[nodiscard]] std::shared_ptr<part> accept_answer(label const& label);
    void accept_wish(label const& label);
    void all_have_come(std::shared_ptr<operation> const& here, std::uint64_t number);
    void begin_messages(std::shared_ptr<part> const& part, std::uint64_t number);
    void begin_message(std::shared_ptr<part> const& part, std::uint64_t number, outgoing const& message);
    void begin_details(std::shared_ptr<operation> const& here, std::uint64_t number);
    void accept_message(label const& label, std::span<std::byte const> piece);
    [[nodiscard]] std::size_t lacks(operation const& here, part const& part) const;
    [[nodiscard]] fault lateness_of(operation const& here, part const& part) const;
    void close_lease() noexcept;

    std::shared_ptr<process> process_;
    std::shared_ptr<hub> parent_;  ///< kept alive, so that its fault gets here
    std::uint64_t context_;
    evenkeel::topology topology_;
    std::vector<int> process_of_;  ///< per rank
    std::vector<world_rank> ranks_here_;
    std::vector<int> others_;                             ///< the other processes
    std::optional<lease> lease_;                          ///< of what is offered here; ends with the first fault
    std::vector<std::shared_ptr<operation>> operations_;  ///< few, in no order
    std::vector<std::shared_ptr<operation>> spare_;       ///< over, to be used again
    std::size_t operations_kept_ = 0;                     ///< of both together
    std::vector<std::uint64_t> most_bytes_of_;            ///< per rank, room for what it has told at most
    std::vector<std::shared_ptr<part>> parts_;            ///< to be used again, where nobody else has one
    std::vector<std::size_t> parts_out_;                  ///< those that each rank of this process has
    std::vector<std::shared_ptr<shipment>> shipments_;    ///< likewise to be used again
    std::size_t next_shipment_ = 0;                       ///< where to look for one
    std::vector<std::vector<std::byte>> large_;           ///< memory for what is told in many bytes
    std::size_t large_bytes_ = 0;                         ///< of all of it
    std::optional<fault> fault_;
    std::vector<std::weak_ptr<hub>> children_;
};

}  // namespace evenkeel::comm::mpi
