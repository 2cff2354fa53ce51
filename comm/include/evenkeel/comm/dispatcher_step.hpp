// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include <evenkeel/comm/deadline.hpp>
#include <evenkeel/comm/dispatcher_fields.hpp>
#include <evenkeel/comm/dispatcher_record.hpp>
#include <evenkeel/comm/dispatcher_statistics.hpp>
#include <evenkeel/comm/pending.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/orchestrate/samples.hpp>
#include <evenkeel/orchestrate/step.hpp>

namespace evenkeel::comm {

class dispatcher_core;
struct dispatcher_slot;

/// A step whose raw inputs are where they belong. It ends when this object and its transfers are gone; then its memory
/// serves a later step.
///
/// `forward` and `backward` use communicators of their own: one thread may be in each, also another one every time.
class dispatched_step {
  public:
    dispatched_step(std::shared_ptr<dispatcher_core> core, dispatcher_slot& slot) noexcept;
    dispatched_step(dispatched_step&&) noexcept;
    dispatched_step& operator=(dispatched_step&&) noexcept;
    ~dispatched_step();

    [[nodiscard]] std::uint64_t number() const noexcept;
    /// Of samples, plans and layouts: what the ranks have compared before anything moved.
    [[nodiscard]] std::uint64_t hash() const noexcept;
    /// What all ranks have drawn.
    [[nodiscard]] step_samples const& samples() const noexcept;
    [[nodiscard]] planned_step const& plan() const noexcept;
    [[nodiscard]] step_statistics const& statistics() const noexcept;

    /// What has arrived of a field, in the order of the layout of its phase: `plan().phases[phase].layout`.
    ///
    /// @throws std::invalid_argument  if the step has no such field.
    [[nodiscard]] std::span<std::byte> arrived(std::size_t field) const;

    /// How many rows of its outputs this rank has, before and after `forward`: known before anything moves.
    ///
    /// @param micro_batch  Of it alone; default: of all.
    /// @throws std::invalid_argument  if there is no such encoder or micro-batch.
    /// @throws std::overflow_error    if there are more rows than 64 bits count.
    [[nodiscard]] output_rows rows_of(std::size_t encoder, std::optional<micro_batch_id> micro_batch = {}) const;

    /// Moves what `encoder` has put out on to the LLM, in the order of its samples there; all fields in one message per
    /// peer. May be repeated, as by activation checkpointing: the same bytes go the same way.
    ///
    /// Collective: every rank must call it for the same encoders in the same order, also one without units.
    ///
    /// @param fields  The same on every rank but for the buffers, which belong to the transfer until its `wait`
    ///                returns.
    /// @return        Its `wait` throws as that of `all_to_all`.
    [[nodiscard]] pending forward(std::size_t encoder, std::span<output_field const> fields,
                                  output_options const& options = {});

    /// Moves gradients of outputs back from the LLM to the encoder, likewise.
    [[nodiscard]] pending backward(std::size_t encoder, std::span<output_field const> fields,
                                   output_options const& options = {});

    /// The step as a value, to be written down and replayed.
    [[nodiscard]] step_record record() const;

  private:
    void leave() noexcept;

    std::shared_ptr<dispatcher_core> core_;
    dispatcher_slot* slot_;
};

/// A step on its way: what `dispatcher::prepare` returns.
class prepared_step {
  public:
    prepared_step(std::shared_ptr<dispatcher_core> core, dispatcher_slot& slot) noexcept;
    prepared_step(prepared_step&&) noexcept;
    prepared_step& operator=(prepared_step&&) noexcept;
    /// A step that nobody has waited for is given up, and with it the dispatchers of all ranks.
    ~prepared_step();

    /// Whether `wait` would return at once, with the step or with an error.
    [[nodiscard]] bool ready() const;

    /// Blocks until the raw inputs of this rank have arrived. Once.
    ///
    /// @throws comm::error  on every rank, if one failed, disagreed or did not come before `until`; names it.
    /// @throws what planning throws, or `std::invalid_argument` on the rank whose samples, fields or buffers do not
    ///         fit. After any of these no step can be prepared; `can_go_on()` of an error tells whether the step in use
    ///         can still be.
    [[nodiscard]] dispatched_step wait(deadline until);

  private:
    void leave() noexcept;

    std::shared_ptr<dispatcher_core> core_;
    dispatcher_slot* slot_;
};

}  // namespace evenkeel::comm
