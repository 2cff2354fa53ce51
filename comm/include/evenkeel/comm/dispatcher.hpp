// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/comm/deadline.hpp>
#include <evenkeel/comm/dispatcher_fields.hpp>
#include <evenkeel/comm/dispatcher_record.hpp>
#include <evenkeel/comm/dispatcher_statistics.hpp>
#include <evenkeel/comm/dispatcher_step.hpp>
#include <evenkeel/orchestrate/options.hpp>
#include <evenkeel/orchestrate/phase.hpp>

namespace evenkeel::comm {

/// How a dispatcher works. All but the callbacks is the same on every rank.
///
/// Callbacks are called on the dispatcher's thread, `log` on that of the caller; what they throw surfaces on `wait`,
/// and so does one that has not returned by the deadline. Its return is what the dispatcher's destructor still waits
/// for. Without overlap they run within `wait`, which lasts as long as they do.
struct dispatcher_options {
    orchestrate_options plan = {};

    /// Whether a step is prepared on a thread of the dispatcher's own. Otherwise in `wait`, and nothing is hidden;
    /// then steps are waited for in the order of their `prepare`, by one thread at a time.
    bool overlap = true;

    std::uint64_t first_step = 0;

    /// Gathers `mine.size()` bytes of every rank into `all`, in order of rank: for trainers that have a cheap way for
    /// small messages, such as Gloo. Default: over the communicator.
    std::function<void(std::span<std::byte const> mine, std::span<std::byte> all)> gather = {};

    /// The same ranks over a backend of devices, such as NCCL: then outputs and gradients move over it, in device
    /// memory and on the caller's stream. It is only split. Default: they move over the communicator, on the host.
    communicator* outputs = nullptr;

    /// Gives room for what arrives of a field, such as from a tensor; lives as long as the step. Default: buffers of
    /// the dispatcher's own, which only grow.
    std::function<std::span<std::byte>(std::size_t field, std::size_t bytes)> allocate = {};

    /// Is told about every step that `wait` returns. What it throws is nothing to the other ranks: the step is there,
    /// and can be waited for again.
    std::function<void(step_statistics const&)> log = {};
};

/// Balancing that hides behind the step: while one step computes, the next one's lengths are gathered, its phases are
/// planned and its raw inputs moved.
///
///     evenkeel::comm::dispatcher dispatch{world, phases, 30s};            // lives as long as training
///     auto next = dispatch.prepare(samples, fields);                      // returns at once
///     for (std::size_t number = 0; number < steps; ++number) {
///         auto step = next.wait(30s);                                     // waits if the last step was shorter
///         if (number + 1 < steps) {                                       // who drops a step ends it for all ranks
///             next = dispatch.prepare(samples_of_next_step, fields_of_next_step);
///         }
///         auto const images = step.arrived(0);                            // encode them, then
///         step.forward(vision, outputs).wait(30s);                        // to the LLM; gradients come back with
///         step.backward(vision, gradients).wait(30s);
///     }
///
/// Batch post-balancing as in OrchMLLM (arXiv 2503.23830). All raw fields of all phases travel in one message per peer,
/// of sizes that follow from the plan. Steps are prepared one after the other in the order of the calls, over a
/// communicator of their own, so operations have one order on every rank, whatever the timing.
///
/// At most two steps exist at a time: the one that computes and the next. Nothing is thrown out of the thread: what
/// goes wrong surfaces on `wait`, on every rank, and from then on in `prepare`. The step that computes can still be
/// brought to its end where ranks merely disagreed or one was refused, else its transfers fail as well. One object per
/// rank, used by one thread at a time; steps may be used by others. Over MPI, a trainer that calls MPI itself needs
/// `MPI_THREAD_MULTIPLE`.
class dispatcher {
  public:
    /// Collective over `world`, which is one of the host and only used here; blocks. The LLM is the last of `phases`.
    ///
    /// @throws std::invalid_argument  if there is no phase, or `options.outputs` is of other ranks.
    /// @throws comm::error            as `communicator::split`.
    dispatcher(communicator& world, std::vector<phase> phases, deadline until, dispatcher_options options = {});
    dispatcher(dispatcher&&) noexcept;
    dispatcher& operator=(dispatcher&&) noexcept;
    /// Gives up what is on its way, and joins the thread.
    ~dispatcher();

    /// Begins to prepare a step. Collective: every rank calls it for the same step, also one without samples.
    ///
    /// @param samples  Read before the call returns.
    /// @param fields   The same on every rank but for the buffers, which belong to the step until its `wait` returns.
    /// @throws std::invalid_argument  if two steps exist already.
    /// @throws                        what has gone wrong before.
    [[nodiscard]] prepared_step prepare(drawn_samples const& samples, std::span<step_field const> fields);

    /// Prepares a step that was recorded, with its plans and number; the next to be prepared is the one after it.
    /// Collective, likewise. No length is gathered.
    ///
    /// The record is read before the call returns. `wait` throws `std::invalid_argument` if it does not belong to these
    /// phases and ranks.
    [[nodiscard]] prepared_step replay(step_record const& record, std::span<step_field const> fields);

    /// Whether nothing has gone wrong so far.
    [[nodiscard]] bool usable() const;

  private:
    std::shared_ptr<dispatcher_core> core_;
};

}  // namespace evenkeel::comm
