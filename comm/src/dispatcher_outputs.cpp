// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>

#include <evenkeel/comm/error.hpp>
#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/fingerprint.hpp>

#include "copier.hpp"
#include "dispatcher_core.hpp"

namespace evenkeel::comm {

namespace {

/// Outputs or gradients on their way, in memory of the slot.
class moving_outputs final : public transfer {
  public:
    /// @param finishes  Whose own stream this is on; null where it is on the caller's, or there is none.
    moving_outputs(std::shared_ptr<dispatcher_core> core, dispatcher_slot& slot, output_transfer& memory, pending inner,
                   communicator& over, std::exception_ptr refusal, std::shared_ptr<copier> finishes)
        : core_{std::move(core)},
          slot_{slot},
          memory_{memory},
          inner_{std::move(inner)},
          over_{over},
          refusal_{std::move(refusal)},
          finishes_{std::move(finishes)} {}

    bool ready() override {
        if (!done_) {
            complete([&] {
                pass_on_the_end();
                done_ = inner_.ready();
            });
        }
        return done_;
    }

    void wait(deadline until) override {
        if (!done_) {
            complete([&] {
                constexpr std::chrono::microseconds look_interval{30};
                for (; core_->outputs_on_device() && !inner_.ready() && !until.passed();) {
                    pass_on_the_end();
                    std::this_thread::sleep_for(look_interval);
                }
                inner_.wait(until);
                done_ = true;
            });
        }
    }

    static void* operator new(std::size_t, output_transfer& memory) noexcept { return memory.object.data(); }
    static void operator delete(void*, output_transfer&) noexcept {}
    /// The memory is the slot's, and the slot goes with the core.
    static void operator delete(moving_outputs* self, std::destroying_delete_t) noexcept {
        auto const core = std::move(self->core_);
        auto& slot = self->slot_;
        auto& memory = self->memory_;
        self->~moving_outputs();
        core->release(slot, memory);
    }

  private:
    template <class Step>
    void complete(Step step) {
        try {
            step();
        } catch (error const& caught) {
            if (!caught.can_go_on()) {
                core_->fail(std::current_exception(), false);
            } else if (refusal_ != nullptr) {
                std::rethrow_exception(refusal_);
            }
            throw;
        }
        if (done_) {
            memory_.load.unpack();
            if (finishes_ != nullptr) {
                finishes_->finish_own_stream();
            }
        }
    }

    /// What the dispatcher's thread cannot, as this is not its communicator.
    void pass_on_the_end() {
        if (core_->outputs_on_device()) {
            if (auto const fault = core_->end()) {
                dispatcher_core::tell(over_, fault);
            }
        }
    }

    std::shared_ptr<dispatcher_core> core_;
    dispatcher_slot& slot_;
    output_transfer& memory_;
    pending inner_;
    communicator& over_;
    std::exception_ptr refusal_;
    std::shared_ptr<copier> finishes_;
    bool done_ = false;
};

static_assert(sizeof(moving_outputs) <= sizeof(output_transfer::object));

/// The device on which all buffers lie; null where they are on the host.
std::shared_ptr<copier> device_of(communicator& over, char const* function, std::span<output_field const> fields) {
    auto device = over.device_copier();
    if (device == nullptr) {
        return nullptr;
    }
    std::size_t there = 0;
    std::string here;
    for (std::size_t number = 0; number < fields.size(); ++number) {
        auto const look = [&](char const* buffer, std::span<std::byte const> bytes) {
            if (!bytes.empty() && device->reaches(bytes.data())) {
                ++there;
            } else if (!bytes.empty() && here.empty()) {
                here = element("fields", number) + buffer;
            }
        };
        look(".source", fields[number].source);
        look(".target", fields[number].target);
    }
    if (there > 0 && !here.empty()) {
        throw_invalid(function, here, "host memory", "device memory, as others of these fields have");
    }
    return there > 0 ? device : nullptr;
}

/// Adds the fields to what is loaded, and to the statement what ranks have to agree on about them.
///
/// @param rows  Of each unit.
/// @throws std::invalid_argument  if a buffer has not the size of this rank's units
void add_fields(char const* function, std::span<output_field const> fields, std::span<std::uint64_t const> rows,
                cargo& load, fingerprint& statement) {
    for (std::size_t number = 0; number < fields.size(); ++number) {
        auto const& field = fields[number];
        statement.add(field.name).add(field.columns).add(field.element_bytes).add(field.planes);
        load.add_field({.rows = rows,
                        .row_bytes = row_bytes_of(function, number, field.columns, field.element_bytes),
                        .planes = field.planes,
                        .source = field.source,
                        .target = field.target});
        auto const require = [&](char const* buffer, std::size_t found, std::uint64_t expected) {
            if (found != expected) {
                throw_invalid(function, element("fields", number) + buffer, found,
                              "the " + std::to_string(expected) + " bytes of this rank's units");
            }
        };
        require(".source.size()", field.source.size(), load.source_bytes(number));
        require(".target.size()", field.target.size(), load.target_bytes(number));
    }
}

}  // namespace

output_transfer& dispatcher_core::take_transfer(dispatcher_slot& slot) {
    std::lock_guard const lock{mutex_};
    auto found = std::ranges::find(slot.transfers, false, &output_transfer::taken);
    auto& transfer = found != slot.transfers.end() ? *found : slot.transfers.emplace_back();
    transfer.taken = true;
    ++slot.users;
    return transfer;
}

void dispatcher_core::release(dispatcher_slot& slot, output_transfer& transfer) noexcept {
    transfer.load.leave_device();
    std::lock_guard const lock{mutex_};
    transfer.taken = false;
    --slot.users;
}

void dispatcher_core::require_outputs(dispatcher_slot const& slot, char const* function, std::size_t encoder,
                                      std::optional<micro_batch_id> micro_batch) const {
    if (encoder >= encoders()) {
        throw_invalid(function, "encoder", encoder, "one of the " + std::to_string(encoders()) + " encoders");
    }
    std::size_t const micro_batches = slot.plan->llm().plan.micro_batches;
    if (micro_batch && to_index(*micro_batch) >= micro_batches) {
        throw_invalid(function, "micro_batch", to_index(*micro_batch),
                      "one of the " + std::to_string(micro_batches) + " micro-batches");
    }
}

output_rows dispatcher_core::rows_of(dispatcher_slot const& slot, std::size_t encoder,
                                     std::optional<micro_batch_id> micro_batch) const {
    require_outputs(slot, "rows_of", encoder, micro_batch);
    output_rows result;
    auto const& rows = slot.output_rows[encoder];
    auto const here = [&](place const& at) {
        return at.rank == raw_->rank() && (!micro_batch || at.micro_batch == *micro_batch);
    };
    for (std::size_t unit = 0; unit < rows.size(); ++unit) {
        auto const id = to_id<item_id>(unit);
        if (here(slot.plan->phases[encoder].layout[id])) {
            result.at_encoder = checked_add(result.at_encoder, rows[unit], "rows_of: the rows at the encoder");
        }
        if (here(slot.units_at_llm[encoder][id])) {
            result.at_llm = checked_add(result.at_llm, rows[unit], "rows_of: the rows at the LLM");
        }
    }
    return result;
}

pending dispatcher_core::move_outputs(std::shared_ptr<dispatcher_core> self, dispatcher_slot& slot, direction way,
                                      std::size_t encoder, std::span<output_field const> fields,
                                      output_options const& options) {
    bool const forward = way == direction::forward;
    char const* const name = forward ? "forward" : "backward";
    require_outputs(slot, name, encoder, options.micro_batch);
    auto& over = forward ? *forward_ : *backward_;
    if (auto const fault = end()) {
        if (outputs_on_device_) {
            tell(over, fault);
        }
        std::rethrow_exception(fault);
    }
    auto& memory = take_transfer(slot);
    auto& load = memory.load;
    auto on = options.on;
    std::shared_ptr<copier> finishes;
    std::exception_ptr refusal;
    fingerprint statement;
    statement.add(slot.number).add(slot.hash).add(std::uint64_t{encoder}).add(std::uint64_t{fields.size()});
    statement.add(options.micro_batch ? 1 + std::uint64_t{to_index(*options.micro_batch)} : 0);
    try {
        auto const& at_encoder = slot.plan->phases[encoder].layout;
        auto const& at_llm = slot.units_at_llm[encoder];
        load.clear(raw_->rank());
        if (auto device = device_of(over, name, fields)) {
            if (on == stream{}) {
                on = device->own_stream();
                finishes = device;
            }
            load.lie_on(std::move(device), on);
        }
        load.add_move(forward ? at_encoder : at_llm, forward ? at_llm : at_encoder, options.micro_batch);
        add_fields(name, fields, slot.output_rows[encoder], load, statement);
        load.pack();
    } catch (...) {
        refusal = std::current_exception();
        load.leave_out();
    }
    auto& moved = forward ? slot.statistics.output_bytes_sent : slot.statistics.gradient_bytes_sent;
    moved += load.bytes_sent();
    try {
        auto inner = over.exchange(load.sends(), load.receives(), on,
                                   {.operation = name, .value = statement.value(), .refused = refusal != nullptr});
        return pending{std::unique_ptr<transfer>{new (memory) moving_outputs{
            std::move(self), slot, memory, std::move(inner), over, std::move(refusal), std::move(finishes)}}};
    } catch (...) {
        release(slot, memory);
        throw;
    }
}

}  // namespace evenkeel::comm
