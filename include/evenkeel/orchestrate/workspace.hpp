// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <evenkeel/orchestrate/detail/amounts.hpp>
#include <evenkeel/orchestrate/detail/bound_space.hpp>
#include <evenkeel/orchestrate/detail/count_traffic.hpp>
#include <evenkeel/orchestrate/detail/dealing.hpp>
#include <evenkeel/orchestrate/detail/group_view.hpp>
#include <evenkeel/orchestrate/detail/joint.hpp>
#include <evenkeel/orchestrate/detail/micro_batches.hpp>
#include <evenkeel/orchestrate/detail/write_phase.hpp>
#include <evenkeel/orchestrate/step.hpp>

namespace evenkeel {

namespace detail {

/// What `orchestrate` remembers from step to step: memory, and which groups it has looked at.
struct step_room {
    step_amounts amounts;
    std::vector<group_view> views;    ///< of each phase
    std::vector<std::size_t> counts;  ///< of the samples that `step.home` is of
    sample_dealer dealer;
    step_slots slots;
    std::vector<phase_ranks> chosen;  ///< of each phase
    joint_choice choose;
    traffic_counter count;
    phase_writer write;
    bound_space bound;
    planned_step step;
};

}  // namespace detail

/// The memory that `orchestrate` works in. From the second step of the same phases and numbers of items on, it
/// allocates nothing, unless plans are given, or made from scratch where staying home failed. Phases with fewer than 14
/// items per rank, and steps with too little text alone to level the LLM, may need more memory than any step before;
/// that becomes rarer with every step.
///
///     evenkeel::orchestrate_workspace space;                                          // lives as long as training
///     auto const& step = evenkeel::orchestrate(space, samples, phases, cluster);      // valid until the next use
///
/// Results do not depend on what a workspace was used for before. It belongs to one thread at a time, and is too large
/// for some threads' stacks.
class orchestrate_workspace {
  public:
    /// For `orchestrate`.
    [[nodiscard]] detail::step_room& room() noexcept { return room_; }

  private:
    detail::step_room room_;
};

}  // namespace evenkeel
