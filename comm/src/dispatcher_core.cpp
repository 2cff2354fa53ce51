// SPDX-License-Identifier: Apache-2.0
#include "dispatcher_core.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <evenkeel/comm/error.hpp>
#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/fingerprint.hpp>
#include <evenkeel/orchestrate/orchestrate.hpp>
#include <evenkeel/orchestrate/workspace.hpp>
#include <evenkeel/rearrange/units.hpp>

namespace evenkeel::comm {

namespace {

/// Between two looks at a transfer: short where somebody waits for it, else long, for the processor has other work.
constexpr std::chrono::microseconds short_pause{30};
constexpr std::chrono::microseconds long_pause{200};
/// Looks without a pause, for the others are often about to come.
constexpr int first_looks = 20;

struct step_is_given_up : std::runtime_error {
    using std::runtime_error::runtime_error;
};
constexpr auto dropped = "a prepared step was dropped without a wait";

double seconds_since(deadline::clock::time_point start) {
    return std::chrono::duration<double>{deadline::clock::now() - start}.count();
}

std::uint64_t tokens_out(phase const& encoder, std::uint64_t tokens) {
    return tokens / encoder.tokens_per_output + (tokens % encoder.tokens_per_output != 0 ? 1 : 0);
}

std::uint64_t word_of(std::optional<double> tolerance) {
    // No tolerance is below 0, so that stands for none.
    return std::bit_cast<std::uint64_t>(tolerance.value_or(-1));
}

std::uint64_t fingerprint_of(std::vector<phase> const& phases, dispatcher_options const& options,
                             topology const& nodes) {
    fingerprint all;
    for (auto const node : nodes.nodes_of_ranks) {
        all.add(std::uint64_t{to_index(node)});
    }
    all.add(options.plan.micro_batches.value).add(static_cast<std::uint64_t>(options.plan.deal));
    for (auto const& one : phases) {
        all.add(one.name).add(one.bytes_in).add(one.bytes_out).add(one.tokens_per_output).add(one.pad_to);
        all.add(std::uint64_t{one.trained}).add(static_cast<std::uint64_t>(one.method)).add(one.effort);
        all.add(word_of(one.tolerance)).add(std::uint64_t{one.group.members.size()});
        for (auto const member : one.group.members) {
            all.add(std::uint64_t{to_index(member)});
        }
        for (auto const offset : one.group.offsets) {
            all.add(std::uint64_t{offset});
        }
    }
    return all.value();
}

std::uint64_t fingerprint_of(step_samples const& samples, planned_step const& plan) {
    fingerprint all;
    auto const add = [&](auto const& values) {
        all.add(std::uint64_t{values.size()});
        for (auto const value : values) {
            all.add(std::uint64_t{value});
        }
    };
    add(samples.counts);
    add(samples.text);
    add(samples.labels);
    for (auto const& inputs : samples.inputs) {
        add(inputs.units.offsets);
        add(inputs.lengths);
        add(inputs.starts);
    }
    for (auto const& one : plan.phases) {
        all.add(one.plan).add(one.layout);
    }
    return all.value();
}

void require_fields(std::span<step_field const> fields, std::size_t phases) {
    for (std::size_t number = 0; number < fields.size(); ++number) {
        if (fields[number].phase >= phases) {
            throw_invalid("prepare", element("fields", number) + ".phase", fields[number].phase,
                          "one of the " + std::to_string(phases) + " phases");
        }
    }
}

}  // namespace

dispatcher_core::dispatcher_core(communicator& world, std::vector<phase> phases, deadline until,
                                 dispatcher_options options)
    : phases_{std::move(phases)}, options_{std::move(options)}, next_number_{options_.first_step} {
    if (phases_.empty()) {
        throw_invalid("dispatcher", "phases.size()", 0, "at least the LLM");
    }
    job_ = fingerprint_of(phases_, options_, world.topology());
    if (options_.plan.planned) {
        // It is the caller's, too, and may stall as any other.
        options_.plan.planned = [this, told = std::move(options_.plan.planned)](std::size_t phase) {
            call_back(raw_->rank(), [&] { told(phase); });
        };
    }
    auto const key = static_cast<std::uint32_t>(to_index(world.rank()));
    auto& outputs = options_.outputs != nullptr ? *std::exchange(options_.outputs, nullptr) : world;
    if (outputs.rank() != world.rank() || outputs.topology() != world.topology()) {
        throw_invalid(
            "dispatcher", "options.outputs",
            "rank " + std::to_string(to_index(outputs.rank())) + " of " + std::to_string(outputs.size().value),
            "rank " + std::to_string(key) + " of the same " + std::to_string(world.size().value));
    }
    raw_ = world.split(0, key, until);
    forward_ = outputs.split(0, key, until);
    backward_ = outputs.split(0, key, until);
    outputs_on_device_ = outputs.device_copier() != nullptr;
    // A rank that fails from here on ends them all, and must not do so where another one is about to have them.
    world.barrier().wait(until);
    for (auto& slot : slots_) {
        slot.planning = std::make_unique<orchestrate_workspace>();
    }
}

dispatcher_core::~dispatcher_core() {
    stop();
    if (outputs_on_device_ && end_ != nullptr) {
        tell(*forward_, end_);
        tell(*backward_, end_);
    }
}

void dispatcher_core::start() {
    if (options_.overlap) {
        thread_ = std::thread{[this] { work(); }};
    }
}

void dispatcher_core::stop() noexcept {
    {
        std::lock_guard const lock{mutex_};
        stopping_ = true;
    }
    to_thread_.notify_all();
    if (thread_.joinable()) {
        thread_.join();
    }
}

bool dispatcher_core::usable() {
    std::lock_guard const lock{mutex_};
    return fault_ == nullptr && !stopping_;
}

dispatcher_slot& dispatcher_core::take_slot(std::span<step_field const> fields) {
    dispatcher_slot* slot = nullptr;
    {
        std::lock_guard const lock{mutex_};
        if (fault_ != nullptr) {
            std::rethrow_exception(fault_);
        }
        for (auto& one : slots_) {
            if (one.users == 0 && slot == nullptr) {
                slot = &one;
            }
        }
    }
    if (slot == nullptr) {
        throw_invalid("prepare", "steps that exist", slots_.size(), "at most one beside the step that is prepared");
    }
    slot->refusal = nullptr;
    slot->recorded.reset();
    slot->field_count = fields.size();
    if (slot->fields.size() < fields.size()) {
        slot->fields.resize(fields.size());
        slot->memory.resize(fields.size());
    }
    slot->arrived.resize(fields.size());
    for (std::size_t number = 0; number < fields.size(); ++number) {
        slot->fields[number].name = fields[number].name;
        slot->fields[number].what = fields[number];
        slot->arrived[number] = {};
    }
    return *slot;
}

void dispatcher_core::enqueue(dispatcher_slot& slot) {
    {
        std::lock_guard const lock{mutex_};
        slot.users = 1;
        // Something may have gone wrong elsewhere since the slot was taken.
        slot.at = fault_ == nullptr ? dispatcher_slot::stage::queued : dispatcher_slot::stage::failed;
        if (fault_ == nullptr) {
            queue_[queued_++] = &slot;
        }
    }
    to_thread_.notify_all();
}

dispatcher_slot& dispatcher_core::prepare(drawn_samples const& samples, std::span<step_field const> fields) {
    auto& slot = take_slot(fields);
    slot.number = next_number_;
    step_metadata::claim const mine{.number = slot.number, .job = job_};
    try {
        require_fields(fields, phases_.size());
        require_drawn(samples, encoders());
        slot.metadata.write(samples, mine);
    } catch (std::exception const&) {
        slot.refusal = std::current_exception();
        slot.metadata.refuse(mine);
    }
    ++next_number_;
    enqueue(slot);
    return slot;
}

dispatcher_slot& dispatcher_core::replay(step_record const& record, std::span<step_field const> fields) {
    auto& slot = take_slot(fields);
    slot.number = record.number;
    slot.recorded = record;
    try {
        require_fields(fields, phases_.size());
    } catch (std::exception const&) {
        slot.refusal = std::current_exception();
    }
    next_number_ = record.number + 1;
    enqueue(slot);
    return slot;
}

bool dispatcher_core::ready(dispatcher_slot const& slot) {
    std::lock_guard const lock{mutex_};
    return slot.at == dispatcher_slot::stage::done || slot.at == dispatcher_slot::stage::failed;
}

void dispatcher_core::wait(dispatcher_slot& slot, deadline until) {
    auto const start = deadline::clock::now();
    {
        std::unique_lock lock{mutex_};
        auto const over = [&] { return slot.at != dispatcher_slot::stage::queued; };
        while (!options_.overlap && !over()) {
            lock.unlock();
            process_next(until);
            lock.lock();
        }
        ++waiting_;
        to_thread_.notify_all();
        if (!to_callers_.wait_until(lock, until.at(), over)) {
            // The operation under way knows best who did not come.
            ++expired_;
            to_thread_.notify_all();
            to_callers_.wait(lock, [&] { return over() || in_callback_; });
            --expired_;
            if (!over()) {
                abandon(lock, std::make_exception_ptr(error{"prepare", raw_->rank(), culprit_,
                                                            "the deadline passed before a callback returned"}));
            }
        }
        --waiting_;
        if (slot.at == dispatcher_slot::stage::failed) {
            std::rethrow_exception(fault_);
        }
    }
    slot.statistics.seconds_waiting = seconds_since(start);
    if (options_.log) {
        options_.log(slot.statistics);
    }
}

void dispatcher_core::give_up(dispatcher_slot& slot) noexcept {
    std::unique_lock lock{mutex_};
    if (slot.at == dispatcher_slot::stage::queued && options_.overlap) {
        dropped_ = true;
        to_thread_.notify_all();
        auto const over = [&] { return slot.at != dispatcher_slot::stage::queued; };
        to_callers_.wait(lock, [&] { return over() || in_callback_; });
        if (!over()) {
            abandon(lock, std::make_exception_ptr(step_is_given_up{dropped}));
        }
    }
    if (slot.at == dispatcher_slot::stage::queued || slot.at == dispatcher_slot::stage::done) {
        // Nothing of it is on its way, but the steps of the ranks would no longer be the same ones.
        lock.unlock();
        fail(std::make_exception_ptr(step_is_given_up{dropped}), false);
        lock.lock();
    }
    --slot.users;
}

void dispatcher_core::leave(dispatcher_slot& slot) noexcept {
    std::lock_guard const lock{mutex_};
    --slot.users;
}

void dispatcher_core::work() noexcept {
    while (true) {
        {
            std::unique_lock lock{mutex_};
            to_thread_.wait(lock, [&] { return stopping_ || queued_ > 0; });
            if (stopping_ && queued_ == 0) {
                return;
            }
        }
        process_next(std::chrono::seconds{0});
    }
}

void dispatcher_core::process_next(deadline until) noexcept {
    dispatcher_slot* slot = nullptr;
    {
        std::lock_guard const lock{mutex_};
        if (queued_ == 0) {
            return;
        }
        slot = queue_[0];
        queue_[0] = queue_[1];
        --queued_;
    }
    std::exception_ptr fault;
    bool told = false;
    try {
        process(*slot, until);
    } catch (error const& caught) {
        fault = std::current_exception();
        told = caught.can_go_on();
    } catch (...) {
        fault = std::current_exception();
        told = slot->refusal != nullptr;
    }
    if (fault != nullptr) {
        fail(std::move(fault), told);
    }
    {
        std::lock_guard const lock{mutex_};
        slot->at = fault_ == nullptr ? dispatcher_slot::stage::done : dispatcher_slot::stage::failed;
    }
    to_callers_.notify_all();
}

void dispatcher_core::tell(communicator& others, std::exception_ptr const& fault) noexcept {
    try {
        std::rethrow_exception(fault);
    } catch (error const& caught) {
        others.abort(caught.reason(), caught.peer());
    } catch (std::exception const& caught) {
        others.abort(caught.what());
    } catch (...) {
        others.abort("an exception that is no std::exception");
    }
}

std::exception_ptr dispatcher_core::end() {
    std::lock_guard const lock{mutex_};
    return end_;
}

void dispatcher_core::fail(std::exception_ptr fault, bool told) noexcept {
    if (!told) {
        // Each by itself: what communicators inherit from the one they were split from names no rank.
        tell(*raw_, fault);
        if (!outputs_on_device_) {
            // Else whoever moves outputs does, for it alone may call those.
            tell(*forward_, fault);
            tell(*backward_, fault);
        }
    }
    {
        std::lock_guard const lock{mutex_};
        if (!told && end_ == nullptr) {
            end_ = fault;
        }
        if (fault_ == nullptr) {
            fault_ = std::move(fault);
        }
        for (std::size_t number = 0; number < queued_; ++number) {
            queue_[number]->at = dispatcher_slot::stage::failed;
        }
        queued_ = 0;
    }
    to_callers_.notify_all();
}

void dispatcher_core::abandon(std::unique_lock<std::mutex>& lock, std::exception_ptr fault) noexcept {
    abandoned_ = true;
    // At once: the callback may return meanwhile, and would say that it is too late.
    fault_ = fault_ == nullptr ? fault : fault_;
    end_ = end_ == nullptr ? fault : end_;
    lock.unlock();
    fail(std::move(fault), false);
    lock.lock();
    for (auto& slot : slots_) {
        slot.at = slot.at == dispatcher_slot::stage::queued ? dispatcher_slot::stage::failed : slot.at;
    }
}

template <class Callback>
void dispatcher_core::call_back(std::optional<world_rank> culprit, Callback callback) {
    auto const is_in = [&](bool inside) {
        std::lock_guard const lock{mutex_};
        in_callback_ = inside && options_.overlap;
        culprit_ = culprit;
        return abandoned_;
    };
    is_in(true);
    to_callers_.notify_all();
    std::exception_ptr thrown;
    try {
        callback();
    } catch (...) {
        thrown = std::current_exception();
    }
    if (is_in(false)) {
        throw step_is_given_up{"a callback returned too late"};
    }
    if (thrown != nullptr) {
        std::rethrow_exception(thrown);
    }
}

void dispatcher_core::complete(pending& transfer, deadline until) {
    if (!options_.overlap) {
        transfer.wait(until);
        return;
    }
    for (int looks = 0; !transfer.ready(); ++looks) {
        std::unique_lock lock{mutex_};
        if (looks < first_looks) {
            lock.unlock();
            std::this_thread::yield();
            lock.lock();
        } else {
            to_thread_.wait_for(lock, waiting_ > 0 ? short_pause : long_pause,
                                [&] { return stopping_ || dropped_ || expired_ > 0; });
        }
        if (stopping_ || dropped_) {
            throw step_is_given_up{dropped_ ? dropped : "the dispatcher was destroyed while it prepared a step"};
        }
        if (expired_ > 0) {
            lock.unlock();
            transfer.wait(std::chrono::seconds{0});
            return;
        }
    }
}

void dispatcher_core::gather(dispatcher_slot& slot, deadline until) {
    std::size_t const ranks = raw_->size().value;
    auto const mine = slot.metadata.words();
    // What fits goes along at once; the room grows with the longest, alike on every rank.
    while (true) {
        block_.resize(block_words_);
        blocks_.resize(checked_multiply(block_words_, ranks, "prepare: the lengths of all ranks"));
        std::ranges::copy(mine.first(std::min(mine.size(), block_words_)), block_.begin());
        if (options_.gather) {
            call_back(std::nullopt, [&] {
                options_.gather(std::as_bytes(std::span{block_}), std::as_writable_bytes(std::span{blocks_}));
            });
        } else {
            auto transfer =
                raw_->all_gather(std::as_bytes(std::span{block_}), std::as_writable_bytes(std::span{blocks_}));
            complete(transfer, until);
        }
        std::uint64_t longest = 0;
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            longest = std::max(longest, step_metadata::length_of(std::span{blocks_}.subspan(rank * block_words_)));
        }
        if (longest <= block_words_) {
            return;
        }
        // Only a gather of the caller's that went wrong says so; twice as much would be no number.
        if (longest > std::uint64_t{1} << 63U) {
            throw_invalid("prepare", "the lengths of a rank", longest, "as many words as it has sent");
        }
        block_words_ = std::bit_ceil(longest);
    }
}

void dispatcher_core::make_plan(dispatcher_slot& slot) {
    auto const& nodes = raw_->topology();
    if (slot.recorded) {
        auto const& record = *slot.recorded;
        if (record.plans.size() != phases_.size()) {
            throw_invalid("replay", "record.plans.size()", record.plans.size(),
                          "one for each of " + std::to_string(phases_.size()) + " phases");
        }
        slot.samples = record.samples;
        auto as_recorded = phases_;
        for (std::size_t number = 0; number < phases_.size(); ++number) {
            as_recorded[number].method = phase_method::given;
            as_recorded[number].given = record.plans[number];
        }
        auto options = options_.plan;
        options.micro_batch_of_sample.clear();
        slot.plan = &orchestrate(*slot.planning, slot.samples, as_recorded, nodes, options);
    } else {
        slot.plan = &orchestrate(*slot.planning, slot.samples, phases_, nodes, options_.plan);
    }
    slot.hash = fingerprint_of(slot.samples, *slot.plan);
    if (slot.recorded && slot.recorded->hash != slot.hash) {
        throw_invalid("replay", "record.hash", slot.recorded->hash,
                      std::to_string(slot.hash) + ", for these phases on these ranks");
    }

    slot.units_at_home.resize(encoders());
    slot.units_at_llm.resize(encoders());
    slot.output_rows.resize(phases_.size());
    auto& sequences = slot.output_rows.back();
    sequences.assign(slot.samples.text.begin(), slot.samples.text.end());
    for (std::size_t encoder = 0; encoder < encoders(); ++encoder) {
        auto const& units = slot.plan->units[encoder];
        expand(slot.plan->home, units, in_order_, slot.units_at_home[encoder]);
        expand(slot.plan->llm().layout, units, in_order_, slot.units_at_llm[encoder]);
        auto& rows = slot.output_rows[encoder];
        rows.clear();
        for (std::size_t sample = 0; sample < units.samples(); ++sample) {
            for (std::size_t unit = units.offsets[sample]; unit < units.offsets[sample + 1]; ++unit) {
                rows.push_back(tokens_out(phases_[encoder], slot.samples.inputs[encoder].lengths[unit]));
                sequences[sample] = checked_add(sequences[sample], rows.back(), "prepare: the length of a sample");
            }
        }
    }
}

std::span<std::uint64_t const> dispatcher_core::rows_of(dispatcher_slot const& slot, step_field const& field) const {
    switch (field.rows) {
        case field_rows::per_token:
            return field.phase < encoders() ? slot.samples.inputs[field.phase].lengths : slot.samples.text;
        case field_rows::per_output: return slot.output_rows[field.phase];
        default: return {};
    }
}

void dispatcher_core::make_cargo(dispatcher_slot& slot) {
    slot.raw.clear(raw_->rank());
    slot.cargo_of.resize(slot.field_count);
    auto const fields = std::span{slot.fields}.first(slot.field_count);
    for (std::size_t phase = 0; phase < phases_.size(); ++phase) {
        slot.raw.add_move(phase < encoders() ? slot.units_at_home[phase] : slot.plan->home,
                          slot.plan->phases[phase].layout);
        for (std::size_t number = 0; number < fields.size(); ++number) {
            auto const& field = fields[number].what;
            if (field.phase != phase) {
                continue;
            }
            slot.cargo_of[number] = slot.raw.size();
            slot.raw.add_field({.rows = rows_of(slot, field),
                                .row_bytes = row_bytes_of("prepare", number, field.columns, field.element_bytes),
                                .planes = field.planes,
                                .source = field.bytes});
        }
    }
    for (std::size_t number = 0; number < fields.size(); ++number) {
        std::size_t const in_cargo = slot.cargo_of[number];
        if (std::uint64_t const expected = slot.raw.source_bytes(in_cargo);
            fields[number].what.bytes.size() != expected) {
            throw_invalid("prepare", element("fields", number) + ".bytes.size()", fields[number].what.bytes.size(),
                          "the " + std::to_string(expected) + " bytes of this rank's items");
        }
        std::uint64_t const arriving = slot.raw.target_bytes(in_cargo);
        auto& room = slot.arrived[number];
        if (!options_.allocate) {
            room = slot.memory[number].take(arriving);
        } else if (arriving > 0) {
            call_back(raw_->rank(), [&] { room = options_.allocate(number, arriving); });
            if (room.size() < arriving) {
                throw_invalid("prepare", element("allocate", number) + ".size()", room.size(),
                              "room for " + std::to_string(arriving) + " bytes");
            }
            room = room.first(arriving);
        }
        slot.raw[in_cargo].target = room;
    }
    slot.raw.pack();
}

std::uint64_t dispatcher_core::statement_of(dispatcher_slot const& slot) const {
    fingerprint all;
    all.add(slot.number).add(slot.hash).add(job_).add(std::uint64_t{slot.field_count});
    for (auto const& [name, field] : std::span{slot.fields}.first(slot.field_count)) {
        all.add(name).add(std::uint64_t{field.phase}).add(static_cast<std::uint64_t>(field.rows));
        all.add(field.columns).add(field.element_bytes).add(field.planes);
    }
    return all.value();
}

void dispatcher_core::note(dispatcher_slot& slot) {
    auto& all = slot.statistics;
    all.step = slot.number;
    all.samples = slot.samples.counts[to_index(raw_->rank())];
    all.imbalance.resize(phases_.size());
    for (std::size_t number = 0; number < phases_.size(); ++number) {
        double busiest = 0;
        double mean = 0;
        for (auto const& one : slot.plan->phases[number].quality) {
            busiest += static_cast<double>(one.max_load);
            mean += static_cast<double>(one.total_load) / static_cast<double>(one.ranks.value);
        }
        all.imbalance[number] = mean > 0 ? busiest / mean : 1;
    }
    all.bytes_sent = slot.raw.bytes_sent();
    all.bytes_between_nodes = slot.raw.bytes_sent_between(raw_->topology());
    all.bytes_received = slot.raw.bytes_received();
    all.bytes_kept = slot.raw.bytes_kept();
    all.output_bytes_sent = 0;
    all.gradient_bytes_sent = 0;
    all.seconds_gathering = 0;
    all.seconds_planning = 0;
}

void dispatcher_core::process(dispatcher_slot& slot, deadline until) {
    auto const start = deadline::clock::now();
    double gathering = 0;
    if (!slot.recorded) {
        gather(slot, until);
        if (slot.refusal != nullptr) {
            std::rethrow_exception(slot.refusal);
        }
        step_metadata::read(blocks_, raw_->rank(), raw_->size(), encoders(), slot.samples);
        gathering = seconds_since(start);
    }
    auto const planning = deadline::clock::now();
    double planned = 0;
    auto moving = planning;
    // From here on, whatever goes wrong on this rank, the others hear of it in the exchange.
    if (slot.refusal == nullptr) {
        try {
            make_plan(slot);
            planned = seconds_since(planning);
            moving = deadline::clock::now();
            make_cargo(slot);
        } catch (step_is_given_up const&) {
            throw;  // those who waited have told the others
        } catch (...) {
            slot.refusal = std::current_exception();
            slot.raw.leave_out();
        }
    }
    auto transfer = raw_->exchange(slot.raw.sends(), slot.raw.receives(), {},
                                   {.operation = "prepare",
                                    .value = slot.refusal == nullptr ? statement_of(slot) : 0,
                                    .refused = slot.refusal != nullptr});
    if (slot.refusal != nullptr) {
        try {
            complete(transfer, until);
        } catch (error const& caught) {
            if (!caught.can_go_on()) {
                throw;
            }
        }
        std::rethrow_exception(slot.refusal);
    }
    complete(transfer, until);
    slot.raw.unpack();
    note(slot);
    slot.statistics.seconds_gathering = gathering;
    slot.statistics.seconds_planning = planned;
    slot.statistics.seconds_moving = seconds_since(moving);
}

}  // namespace evenkeel::comm
