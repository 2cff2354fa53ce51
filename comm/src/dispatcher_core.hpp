// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/comm/dispatcher.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/orchestrate/step.hpp>

#include "dispatcher_cargo.hpp"
#include "dispatcher_metadata.hpp"

namespace evenkeel {
class orchestrate_workspace;
}

namespace evenkeel::comm {

/// A transfer of outputs or gradients, with its memory.
struct output_transfer {
    cargo load;
    bool taken = false;
    /// Room for the `transfer` that works on it, so that none is allocated.
    alignas(std::max_align_t) std::array<std::byte, 128> object{};
};

/// The memory of one step after the other. What the dispatcher's thread writes here, others read once the step is done.
struct dispatcher_slot {
    enum class stage : std::uint8_t { unused, queued, done, failed };

    struct stored_field {
        std::string name;
        step_field what;  ///< but for its name
    };

    // Guarded by the mutex of the core.
    stage at = stage::unused;
    std::size_t users = 0;  ///< the handle and the transfers that are on their way

    std::uint64_t number = 0;
    std::exception_ptr refusal;  ///< why this rank cannot take part
    std::optional<step_record> recorded;
    step_metadata metadata;
    std::vector<stored_field> fields;
    std::size_t field_count = 0;

    step_samples samples;
    std::unique_ptr<orchestrate_workspace> planning;
    planned_step const* plan = nullptr;  ///< in that memory
    std::uint64_t hash = 0;
    std::vector<layout> units_at_home;  ///< of each encoder
    std::vector<layout> units_at_llm;
    std::vector<std::vector<std::uint64_t>> output_rows;  ///< of each phase, per item

    cargo raw;
    std::vector<std::size_t> cargo_of;  ///< the number of each field in `raw`
    std::vector<growing_bytes> memory;  ///< of each field
    std::vector<std::span<std::byte>> arrived;
    step_statistics statistics;

    // Guarded by the mutex of the core.
    std::deque<output_transfer> transfers;
};

/// What a dispatcher and its steps share: the thread, the communicators, and two slots.
class dispatcher_core {
  public:
    dispatcher_core(communicator& world, std::vector<phase> phases, deadline until, dispatcher_options options);
    dispatcher_core(dispatcher_core const&) = delete;
    dispatcher_core& operator=(dispatcher_core const&) = delete;
    ~dispatcher_core();

    void start();
    void stop() noexcept;

    dispatcher_slot& prepare(drawn_samples const& samples, std::span<step_field const> fields);
    dispatcher_slot& replay(step_record const& record, std::span<step_field const> fields);
    [[nodiscard]] bool usable();

    [[nodiscard]] bool ready(dispatcher_slot const& slot);
    void wait(dispatcher_slot& slot, deadline until);
    /// A step that nobody has waited for.
    void give_up(dispatcher_slot& slot) noexcept;
    void leave(dispatcher_slot& slot) noexcept;

    enum class direction : bool { forward, backward };
    /// @param self  This object, for the transfer to keep.
    [[nodiscard]] pending move_outputs(std::shared_ptr<dispatcher_core> self, dispatcher_slot& slot, direction way,
                                       std::size_t encoder, std::span<output_field const> fields,
                                       output_options const& options);
    void release(dispatcher_slot& slot, output_transfer& transfer) noexcept;
    [[nodiscard]] output_rows rows_of(dispatcher_slot const& slot, std::size_t encoder,
                                      std::optional<micro_batch_id> micro_batch) const;

    /// Ends `others` for all ranks because of `fault`.
    static void tell(communicator& others, std::exception_ptr const& fault) noexcept;
    /// Why outputs no longer move; null: they do.
    [[nodiscard]] std::exception_ptr end();
    [[nodiscard]] bool outputs_on_device() const noexcept { return outputs_on_device_; }

    /// Nothing is prepared from here on. Unless every rank knows by itself, tells the others and ends all they share;
    /// if they know, nothing is on its way, and steps that are prepared can be brought to their end.
    void fail(std::exception_ptr fault, bool told) noexcept;

  private:
    void require_outputs(dispatcher_slot const& slot, char const* function, std::size_t encoder,
                         std::optional<micro_batch_id> micro_batch) const;
    /// Memory for one more movement of outputs, until `release`.
    [[nodiscard]] output_transfer& take_transfer(dispatcher_slot& slot);
    [[nodiscard]] dispatcher_slot& take_slot(std::span<step_field const> fields);
    void enqueue(dispatcher_slot& slot);
    /// Calls one of the caller's callbacks, which may stall: whoever waits then waits no longer than it said.
    ///
    /// @param culprit  Whom to name then; nobody where it may be that the callback waits for another rank.
    template <class Callback>
    void call_back(std::optional<world_rank> culprit, Callback callback);
    /// The dispatcher's thread is in a callback, and nobody waits for it any more. @param lock  Of the mutex, held.
    void abandon(std::unique_lock<std::mutex>& lock, std::exception_ptr fault) noexcept;
    void work() noexcept;
    /// One step from lengths to bytes. @throws what went wrong, after the others have been told
    void process(dispatcher_slot& slot, deadline until);
    void process_next(deadline until) noexcept;
    void gather(dispatcher_slot& slot, deadline until);
    void make_plan(dispatcher_slot& slot);
    void make_cargo(dispatcher_slot& slot);
    void note(dispatcher_slot& slot);
    [[nodiscard]] std::uint64_t statement_of(dispatcher_slot const& slot) const;
    void complete(pending& transfer, deadline until);
    [[nodiscard]] std::span<std::uint64_t const> rows_of(dispatcher_slot const& slot, step_field const& field) const;

    [[nodiscard]] std::size_t encoders() const noexcept { return phases_.size() - 1; }

    std::vector<phase> phases_;
    dispatcher_options options_;
    std::uint64_t job_ = 0;  ///< fingerprint of phases and options
    std::unique_ptr<communicator> raw_;
    std::unique_ptr<communicator> forward_;
    std::unique_ptr<communicator> backward_;
    bool outputs_on_device_ = false;
    std::uint64_t next_number_;

    // Of the thread, or of `wait` where there is none.
    std::vector<std::uint64_t> block_;
    std::vector<std::uint64_t> blocks_;
    std::size_t block_words_ = 64;
    std::vector<item_id> in_order_;

    std::mutex mutex_;
    std::condition_variable to_thread_;
    std::condition_variable to_callers_;
    std::array<dispatcher_slot, 2> slots_;
    std::array<dispatcher_slot*, 2> queue_{};
    std::size_t queued_ = 0;
    std::exception_ptr fault_;  ///< why nothing more is prepared
    std::exception_ptr end_;    ///< why outputs no longer move either
    std::size_t waiting_ = 0;
    std::size_t expired_ = 0;  ///< of those that wait, whose deadline is over
    bool dropped_ = false;
    bool in_callback_ = false;           ///< the thread is, and
    std::optional<world_rank> culprit_;  ///< whom to name if it stays there
    bool abandoned_ = false;             ///< it is to stop when it comes back
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace evenkeel::comm
