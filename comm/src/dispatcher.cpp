// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include <evenkeel/comm/dispatcher.hpp>
#include <evenkeel/core/errors.hpp>

#include "dispatcher_core.hpp"

namespace evenkeel::comm {

dispatcher::dispatcher(communicator& world, std::vector<phase> phases, deadline until, dispatcher_options options)
    : core_{std::make_shared<dispatcher_core>(world, std::move(phases), until, std::move(options))} {
    core_->start();
}

dispatcher::dispatcher(dispatcher&&) noexcept = default;

dispatcher& dispatcher::operator=(dispatcher&& other) noexcept {
    if (this != &other) {
        if (core_ != nullptr) {
            core_->stop();
        }
        core_ = std::move(other.core_);
    }
    return *this;
}

dispatcher::~dispatcher() {
    if (core_ != nullptr) {
        core_->stop();
    }
}

prepared_step dispatcher::prepare(drawn_samples const& samples, std::span<step_field const> fields) {
    return {core_, core_->prepare(samples, fields)};
}

prepared_step dispatcher::replay(step_record const& record, std::span<step_field const> fields) {
    return {core_, core_->replay(record, fields)};
}

bool dispatcher::usable() const { return core_->usable(); }

prepared_step::prepared_step(std::shared_ptr<dispatcher_core> core, dispatcher_slot& slot) noexcept
    : core_{std::move(core)}, slot_{&slot} {}

prepared_step::prepared_step(prepared_step&& other) noexcept
    : core_{std::move(other.core_)}, slot_{std::exchange(other.slot_, nullptr)} {}

prepared_step& prepared_step::operator=(prepared_step&& other) noexcept {
    if (this != &other) {
        leave();
        core_ = std::move(other.core_);
        slot_ = std::exchange(other.slot_, nullptr);
    }
    return *this;
}

prepared_step::~prepared_step() { leave(); }

void prepared_step::leave() noexcept {
    if (auto* const slot = std::exchange(slot_, nullptr)) {
        core_->give_up(*slot);
    }
}

bool prepared_step::ready() const { return slot_ == nullptr || core_->ready(*slot_); }

dispatched_step prepared_step::wait(deadline until) {
    if (slot_ == nullptr) {
        throw_invalid("wait", "step", "one that was waited for already", "one on its way");
    }
    core_->wait(*slot_, until);
    return {std::move(core_), *std::exchange(slot_, nullptr)};
}

dispatched_step::dispatched_step(std::shared_ptr<dispatcher_core> core, dispatcher_slot& slot) noexcept
    : core_{std::move(core)}, slot_{&slot} {}

dispatched_step::dispatched_step(dispatched_step&& other) noexcept
    : core_{std::move(other.core_)}, slot_{std::exchange(other.slot_, nullptr)} {}

dispatched_step& dispatched_step::operator=(dispatched_step&& other) noexcept {
    if (this != &other) {
        leave();
        core_ = std::move(other.core_);
        slot_ = std::exchange(other.slot_, nullptr);
    }
    return *this;
}

dispatched_step::~dispatched_step() { leave(); }

void dispatched_step::leave() noexcept {
    if (auto* const slot = std::exchange(slot_, nullptr)) {
        core_->leave(*slot);
    }
}

std::uint64_t dispatched_step::number() const noexcept { return slot_->number; }
std::uint64_t dispatched_step::hash() const noexcept { return slot_->hash; }
step_samples const& dispatched_step::samples() const noexcept { return slot_->samples; }
planned_step const& dispatched_step::plan() const noexcept { return *slot_->plan; }
step_statistics const& dispatched_step::statistics() const noexcept { return slot_->statistics; }

std::span<std::byte> dispatched_step::arrived(std::size_t field) const {
    auto const& all = slot_->arrived;
    if (field >= all.size()) {
        throw_invalid("arrived", "field", field, "one of the " + std::to_string(all.size()) + " fields");
    }
    return all[field];
}

output_rows dispatched_step::rows_of(std::size_t encoder, std::optional<micro_batch_id> micro_batch) const {
    return core_->rows_of(*slot_, encoder, micro_batch);
}

pending dispatched_step::forward(std::size_t encoder, std::span<output_field const> fields,
                                 output_options const& options) {
    return core_->move_outputs(core_, *slot_, dispatcher_core::direction::forward, encoder, fields, options);
}

pending dispatched_step::backward(std::size_t encoder, std::span<output_field const> fields,
                                  output_options const& options) {
    return core_->move_outputs(core_, *slot_, dispatcher_core::direction::backward, encoder, fields, options);
}

step_record dispatched_step::record() const {
    step_record result{.number = slot_->number, .hash = slot_->hash, .samples = slot_->samples};
    for (auto const& phase : slot_->plan->phases) {
        result.plans.push_back(phase.plan);
    }
    return result;
}

}  // namespace evenkeel::comm
