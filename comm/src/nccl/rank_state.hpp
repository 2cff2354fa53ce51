// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <evenkeel/comm/deadline.hpp>
#include <evenkeel/core/topology.hpp>

#include "../fault.hpp"
#include "operation.hpp"
#include "parley.hpp"
#include "wire.hpp"

namespace evenkeel::comm::nccl {

/// How one rank reaches the others.
struct lines {
    int device = 0;
    own_stream stream;
    std::unique_ptr<nccl::wire> wire;
    std::unique_ptr<nccl::parley> parley;
};

/// One rank of one communicator of GPUs: what is on its way, in the order of the calls, and the fault that ended it.
///
/// Ranks must give the wire the same work in the same order, so an operation begins when the one before it is over.
class rank_state {
  public:
    rank_state(world_rank rank, evenkeel::topology nodes, lines to_others);
    rank_state(rank_state const&) = delete;
    rank_state& operator=(rank_state const&) = delete;
    ~rank_state();

    [[nodiscard]] evenkeel::topology const& topology() const noexcept { return topology_; }
    [[nodiscard]] int device() const noexcept { return lines_.device; }
    [[nodiscard]] nccl::parley& parley() const noexcept { return *lines_.parley; }

    void begin(std::shared_ptr<operation> one);
    /// Carries operations on in order, until `one` is over or nothing can be done without waiting.
    /// @return whether it is over. @throws comm::error
    [[nodiscard]] bool ready(operation const& one);
    /// @throws comm::error
    void wait(operation const& one, deadline until);
    /// Ends the communicator: its rank's part in `one` will not be waited for.
    void give_up(operation const& one) noexcept;
    /// Ends the communicator and those that were split from it, and tells the others.
    void fail(fault why) noexcept;
    /// Likewise, because of what went wrong on this rank: the errors of the others name it.
    void fail_here(std::string_view operation, std::string_view what) noexcept;
    /// Likewise, because of what this rank says.
    void abort(std::string_view reason, std::optional<world_rank> culprit) noexcept;
    /// @throws comm::error  the fault, if there is one.
    void require_alive();
    /// Ends with this one. @throws comm::error  if this one has ended.
    void adopt(std::shared_ptr<rank_state> const& child);

  private:
    /// Who finds a fault; this rank may find it in itself.
    enum class finder { itself, this_rank, another_rank, all_ranks };

    void end(fault why, finder by) noexcept;
    void drain() noexcept;
    void drive(operation const& target);
    /// @return whether it is over
    bool advance(operation& one);
    void greet(operation& one);
    /// What all have said decides what comes next.
    void judge(operation& one);
    void move(operation& one);
    /// @return whether something arrives in host memory
    bool land(operation& one);
    void split(operation& one);
    void rethrow(operation const& one) const;

    world_rank rank_;
    evenkeel::topology topology_;
    lines lines_;
    event reached_;
    growing_buffer staging_{growing_buffer::where::device};
    std::deque<std::shared_ptr<operation>> under_way_;
    std::optional<fault> fault_;
    std::vector<std::weak_ptr<rank_state>> children_;
};

}  // namespace evenkeel::comm::nccl
