// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/comm/deadline.hpp>
#include <evenkeel/core/topology.hpp>

#include "../fault.hpp"
#include "operation.hpp"

namespace evenkeel::comm::nccl {

/// One rank of one NCCL communicator: what is on its way, in the order of the calls, and the fault that ended it.
///
/// Ranks must give NCCL the same work in the same order, so an operation begins when the one before it is over.
class rank_state {
  public:
    /// Takes over `comm`, which does not block.
    rank_state(ncclComm_t comm, world_rank rank, evenkeel::topology nodes, int device);
    rank_state(rank_state const&) = delete;
    rank_state& operator=(rank_state const&) = delete;
    ~rank_state();

    [[nodiscard]] evenkeel::topology const& topology() const noexcept { return topology_; }
    [[nodiscard]] int device() const noexcept { return device_; }

    void begin(std::shared_ptr<operation> one);
    /// Carries operations on in order, until `one` is over or nothing can be done without waiting.
    /// @return whether it is over. @throws comm::error
    [[nodiscard]] bool ready(operation const& one);
    /// @throws comm::error
    void wait(operation const& one, deadline until);
    /// Ends the communicator: its rank's part in `one` will not be waited for.
    void give_up(operation const& one) noexcept;
    void fail(fault fault) noexcept;

  private:
    void drive(operation const& target);
    /// @return whether it is over
    bool advance(operation& one);
    void greet(operation& one);
    /// What all have said. @return whether bytes move
    bool judge(operation& one);
    void move(operation& one);
    void bring_home(operation& one);
    void split(operation& one);
    [[nodiscard]] bool settled(ncclComm_t comm) const;
    void rethrow(operation const& one) const;

    ncclComm_t comm_;  ///< null after a fault
    world_rank rank_;
    evenkeel::topology topology_;
    int device_;
    cudaStream_t stream_ = nullptr;
    event reached_;
    growing_buffer greetings_{growing_buffer::where::device};
    growing_buffer greetings_here_{growing_buffer::where::host};
    growing_buffer staging_{growing_buffer::where::device};
    std::deque<std::shared_ptr<operation>> under_way_;
    ncclComm_t splitting_ = nullptr;
    std::optional<fault> fault_;
    std::vector<std::weak_ptr<rank_state>> children_;
};

/// Waits for what a call that does not block has begun. @throws failure, also when the deadline passes
void settle(ncclComm_t comm, deadline until, char const* call);

}  // namespace evenkeel::comm::nccl
