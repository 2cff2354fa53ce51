// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <evenkeel/comm/error.hpp>
#include <evenkeel/comm/executor.hpp>
#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/fingerprint.hpp>
#include <evenkeel/pipeline/validate.hpp>

#include "courier.hpp"

namespace evenkeel::comm {

namespace {

constexpr std::string_view constructor = "pipeline_executor";

/// More than any host has, and little enough that nothing overflows.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 40U;

/// @param features  The bytes of a group of the pipelines before it; those of this one are added.
void require_bytes(placed_pipeline const& own, std::string const& name, std::uint64_t& features) {
    for (std::size_t stage = 0; stage < own.boundary_bytes.size(); ++stage) {
        if (own.boundary_bytes[stage] > most_bytes) {
            throw_invalid(constructor, name + element(".boundary_bytes", stage), own.boundary_bytes[stage],
                          "at most 2^40");
        }
    }
    if (own.schedule.group == 0) {
        if (own.feature_bytes != 0) {
            throw_invalid(constructor, name + ".feature_bytes", own.feature_bytes, "0 without batch-syncs");
        }
        return;
    }
    if (own.feature_bytes > (most_bytes - features) / own.schedule.group) {
        throw_invalid(constructor, name + ".feature_bytes", own.feature_bytes,
                      "at most 2^40 for the groups of all pipelines together; this one's is of " +
                          std::to_string(own.schedule.group));
    }
    features += own.feature_bytes * own.schedule.group;
}

void require_pipelines(std::span<placed_pipeline const> pipelines, world_size world) {
    std::vector<schedule> schedules;
    std::vector<bool> taken(world.value);
    std::uint64_t features = 0;
    for (std::size_t number = 0; number < pipelines.size(); ++number) {
        auto const& own = pipelines[number];
        auto const name = element("pipelines", number);
        schedules.push_back(own.schedule);
        if (own.schedule.devices() != own.schedule.stages) {
            throw_invalid(constructor, name + ".schedule.stages", own.schedule.stages,
                          "one for each of " + std::to_string(own.schedule.devices()) + " devices");
        }
        for (auto const& one : own.schedule.instructions) {
            if (one.kind == instruction_kind::input_gradient || one.kind == instruction_kind::weight_gradient) {
                throw_invalid(constructor, name + ".schedule", drawn_name(one), "whole backwards only");
            }
        }
        if (own.ranks.size() != own.schedule.devices()) {
            throw_invalid(constructor, name + ".ranks.size()", own.ranks.size(),
                          "one for each of " + std::to_string(own.schedule.devices()) + " devices");
        }
        for (std::size_t device = 0; device < own.ranks.size(); ++device) {
            std::size_t const rank = to_index(own.ranks[device]);
            auto const place = name + element(".ranks", device);
            if (rank >= world.value) {
                throw_invalid(constructor, place, rank, "a world rank below " + std::to_string(world.value));
            }
            if (taken[rank]) {
                throw_invalid(constructor, place, rank, "every world rank at most once");
            }
            taken[rank] = true;
        }
        if (own.boundary_bytes.size() + 1 != own.schedule.stages) {
            throw_invalid(constructor, name + ".boundary_bytes.size()", own.boundary_bytes.size(),
                          "one for each stage but the last");
        }
        require_bytes(own, name, features);
    }
    require_valid(constructor, schedules);
}

std::uint64_t fingerprint_of(std::span<placed_pipeline const> pipelines) {
    fingerprint hash;
    hash.add(pipelines.size());
    for (auto const& own : pipelines) {
        hash.add(own.schedule.stages).add(own.schedule.micro_batches).add(own.schedule.group);
        for (auto const& one : own.schedule.instructions) {
            hash.add(static_cast<std::uint64_t>(one.kind)).add(to_index(one.stage)).add(one.number);
        }
        for (auto const offset : own.schedule.offsets) {
            hash.add(offset);
        }
        for (auto const rank : own.ranks) {
            hash.add(to_index(rank));
        }
        for (auto const bytes : own.boundary_bytes) {
            hash.add(bytes);
        }
        hash.add(own.feature_bytes);
    }
    return hash.value();
}

/// Buffers of one size, taken as they are needed and kept for the next time.
class buffer_pool {
  public:
    using buffer = std::vector<std::byte>*;

    void resize(std::size_t bytes) { bytes_ = bytes; }

    buffer take() {
        if (free_.empty()) {
            all_.push_back(std::make_unique<std::vector<std::byte>>(bytes_));
            free_.push_back(all_.back().get());
        }
        buffer const taken = free_.back();
        free_.pop_back();
        return taken;
    }
    void give_back(buffer one) { free_.push_back(one); }

    /// After a step that failed, nobody uses any.
    void take_all_back() {
        free_.clear();
        for (auto const& one : all_) {
            free_.push_back(one.get());
        }
    }

  private:
    std::size_t bytes_ = 0;
    std::vector<std::unique_ptr<std::vector<std::byte>>> all_;
    std::vector<buffer> free_;
};

std::span<std::byte const> reading(buffer_pool::buffer one) {
    return one == nullptr ? std::span<std::byte const>{} : std::span<std::byte const>{*one};
}

std::span<std::byte> writing(buffer_pool::buffer one) {
    return one == nullptr ? std::span<std::byte>{} : std::span<std::byte>{*one};
}

/// The way to or from one neighbour: a communicator of two, so that a message needs no other rank.
class link {
  public:
    /// @param ranks  Of the two, in the world; outlives the link.
    void open(std::unique_ptr<communicator> pair, std::span<world_rank const> ranks, std::size_t bytes) {
        pair_ = std::move(pair);
        ranks_ = ranks;
        buffers.resize(bytes);
    }

    [[nodiscard]] std::span<world_rank const> ranks() const noexcept { return ranks_; }

    [[nodiscard]] pending send(std::span<std::byte const> bytes) const {
        std::array const message{outgoing{peer(), bytes}};
        return pair_->exchange(bytes.empty() ? std::span<outgoing const>{} : std::span{message}, {});
    }
    [[nodiscard]] pending receive(std::span<std::byte> bytes) const {
        std::array const message{incoming{peer(), bytes}};
        return pair_->exchange({}, bytes.empty() ? std::span<incoming const>{} : std::span{message});
    }

    buffer_pool buffers;

  private:
    [[nodiscard]] world_rank peer() const { return to_id<world_rank>(1 - to_index(pair_->rank())); }

    std::unique_ptr<communicator> pair_;
    std::span<world_rank const> ranks_;
};

/// The receiving end: one message is awaited ahead of the schedule.
class inbox {
  public:
    void open(std::unique_ptr<communicator> pair, std::span<world_rank const> ranks, std::size_t bytes,
              std::size_t per_step) {
        link_.open(std::move(pair), ranks, bytes);
        per_step_ = per_step;
    }

    void begin_step(courier& by) {
        posted_ = 0;
        next_ = nullptr;
        link_.buffers.take_all_back();
        post(by);
    }

    buffer_pool::buffer receive(courier& by, deadline until) {
        by.wait(ticket_, until);
        auto const arrived = next_;
        post(by);
        return arrived;
    }

    void give_back(buffer_pool::buffer one) {
        if (one != nullptr) {
            link_.buffers.give_back(one);
        }
    }

  private:
    void post(courier& by) {
        if (posted_ == per_step_) {
            return;
        }
        ++posted_;
        next_ = link_.buffers.take();
        ticket_ = by.post(link_.ranks(), [this, room = writing(next_)] { return link_.receive(room); });
    }

    link link_;
    std::size_t per_step_ = 0;
    std::size_t posted_ = 0;
    buffer_pool::buffer next_ = nullptr;
    courier::ticket ticket_ = 0;
};

/// The sending end: a buffer comes back when its message has gone.
class outbox {
  public:
    void open(std::unique_ptr<communicator> pair, std::span<world_rank const> ranks, std::size_t bytes) {
        link_.open(std::move(pair), ranks, bytes);
    }

    void begin_step() {
        leaving_.clear();
        link_.buffers.take_all_back();
    }

    buffer_pool::buffer take(courier& by) {
        while (!leaving_.empty() && by.done(leaving_.front().second)) {
            link_.buffers.give_back(leaving_.front().first);
            leaving_.pop_front();
        }
        return link_.buffers.take();
    }

    void send(courier& by, buffer_pool::buffer full) {
        leaving_.emplace_back(full,
                              by.post(link_.ranks(), [this, bytes = reading(full)] { return link_.send(bytes); }));
    }

    void end_step(courier& by, deadline until) {
        for (auto const& [unused, ticket] : leaving_) {
            by.wait(ticket, until);
        }
    }

  private:
    link link_;
    std::deque<std::pair<buffer_pool::buffer, courier::ticket>> leaving_;
};

/// The features of a group, or their gradients, as the interaction sees them.
struct group_buffers {
    buffer_pool::buffer features = nullptr;
    buffer_pool::buffer gradient = nullptr;
    std::size_t backwards = 0;  ///< that have used their part of it
};

}  // namespace

class pipeline_executor::state {
  public:
    state(communicator& world, std::span<placed_pipeline const> pipelines, deadline until) : world_{world} {
        agree_on(pipelines, until);
        for (std::size_t number = 0; number < pipelines.size(); ++number) {
            for (std::size_t device = 0; device < pipelines[number].ranks.size(); ++device) {
                if (pipelines[number].ranks[device] == world.rank()) {
                    own_ = part{number, to_id<device_id>(device)};
                    pipeline_ = pipelines[number];
                }
            }
        }
        try {
            connect(pipelines, until);
            if (own_) {
                courier_ = std::make_unique<courier>(world);
            }
        } catch (std::exception const& error) {
            // The other ranks have agreed and count on this one.
            world.abort(error.what());
            throw;
        }
    }

    void run(pipeline_stage& stage, deadline until) {
        if (!own_) {
            return;
        }
        try {
            step(stage, until);
        } catch (std::exception const& error) {
            courier_->abort(error.what());
            throw;
        } catch (...) {
            courier_->abort("an exception that is no std::exception");
            throw;
        }
    }

    [[nodiscard]] std::optional<part> own() const noexcept { return own_; }
    [[nodiscard]] std::span<interval const> last_run() const noexcept { return times_; }

  private:
    /// Nobody waits for a rank that refuses its pipelines, or holds others.
    void agree_on(std::span<placed_pipeline const> pipelines, deadline until) {
        std::exception_ptr refusal;
        try {
            require_pipelines(pipelines, world_.size());
        } catch (...) {
            refusal = std::current_exception();
        }
        statement const mine{
            .operation = constructor, .value = fingerprint_of(pipelines), .refused = refusal != nullptr};
        try {
            world_.exchange({}, {}, {}, mine).wait(until);
        } catch (comm::error const&) {
            // It names this rank, which knows more.
            if (refusal == nullptr) {
                throw;
            }
        }
        if (refusal != nullptr) {
            std::rethrow_exception(refusal);
        }
    }

    /// Splits the world into pairs of neighbours, a pair for each direction, and into the last stages.
    void connect(std::span<placed_pipeline const> pipelines, deadline until) {
        // Boundaries of the same parity have no rank in common, so one split makes them all.
        for (std::size_t const parity : {0u, 1u}) {
            for (bool const down : {true, false}) {
                std::uint32_t color = 0;
                std::optional<std::uint32_t> mine;
                std::uint32_t key = 0;
                for (std::size_t number = 0; number < pipelines.size(); ++number) {
                    for (std::size_t lower = parity; lower + 1 < pipelines[number].ranks.size(); lower += 2) {
                        ++color;
                        for (std::uint32_t const end : {0u, 1u}) {
                            if (pipelines[number].ranks[lower + end] == world_.rank()) {
                                mine = color;
                                key = end;
                            }
                        }
                    }
                }
                // All others are left over together.
                auto pair = world_.split(mine.value_or(0), key, until);
                if (mine) {
                    open(std::move(pair), key == 0, down);
                }
            }
        }
        bool const is_last = own_ && to_index(own_->device) + 1 == pipeline_.ranks.size();
        auto last = world_.split(is_last ? 1 : 0, own_ ? static_cast<std::uint32_t>(own_->pipeline) : 0, until);
        if (!is_last) {
            return;
        }
        meeting_ = std::move(last);
        std::size_t total = 0;
        for (auto const& other : pipelines) {
            meeting_ranks_.push_back(other.ranks.back());
            counts_.push_back(other.feature_bytes * other.schedule.group);
            total += counts_.back();
        }
        gathered_.resize(total);
        std::size_t first = 0;
        for (auto const count : counts_) {
            parts_.push_back(std::span<std::byte const>{gathered_}.subspan(first, count));
            first += count;
        }
        groups_.resize(pipeline_.schedule.syncs());
        group_buffers_.resize(pipeline_.feature_bytes * pipeline_.schedule.group);
    }

    void open(std::unique_ptr<communicator> pair, bool is_lower, bool down) {
        std::size_t const device = to_index(own_->device);
        std::size_t const lower = is_lower ? device : device - 1;
        auto const ranks = std::span<world_rank const>{pipeline_.ranks}.subspan(lower, 2);
        std::size_t const bytes = pipeline_.boundary_bytes[lower];
        std::size_t const per_step = pipeline_.schedule.micro_batches;
        if (is_lower) {
            down ? activations_out_.open(std::move(pair), ranks, bytes)
                 : gradients_in_.open(std::move(pair), ranks, bytes, per_step);
        } else {
            down ? activations_in_.open(std::move(pair), ranks, bytes, per_step)
                 : gradients_out_.open(std::move(pair), ranks, bytes);
        }
    }

    void step(pipeline_stage& stage, deadline until) {
        using clock = std::chrono::steady_clock;
        auto const started = clock::now();
        auto const seconds = [&] { return std::chrono::duration<double>{clock::now() - started}.count(); };
        auto const instructions = pipeline_.schedule[own_->device];
        times_.assign(instructions.size(), {});
        held_.assign(pipeline_.schedule.micro_batches, {});
        groups_.assign(groups_.size(), {});
        group_buffers_.take_all_back();
        activations_out_.begin_step();
        gradients_out_.begin_step();
        if (!is_first()) {
            activations_in_.begin_step(*courier_);
        }
        if (!is_last()) {
            gradients_in_.begin_step(*courier_);
        }
        for (std::size_t position = 0; position < instructions.size(); ++position) {
            times_[position].start = seconds();
            run(instructions[position], stage, until);
            times_[position].end = seconds();
        }
        activations_out_.end_step(*courier_, until);
        gradients_out_.end_step(*courier_, until);
    }

    void run(instruction const& one, pipeline_stage& stage, deadline until) {
        auto const number = one.number;
        switch (one.kind) {
            case instruction_kind::receive_activation:
                held_[number].input = activations_in_.receive(*courier_, until);
                break;
            case instruction_kind::forward: forward(number, stage); break;
            case instruction_kind::send_activation:
                activations_out_.send(*courier_, std::exchange(held_[number].output, nullptr));
                break;
            case instruction_kind::batch_sync: sync(number, stage, until); break;
            case instruction_kind::receive_gradient:
                held_[number].output_gradient = gradients_in_.receive(*courier_, until);
                break;
            case instruction_kind::backward: backward(number, stage); break;
            case instruction_kind::send_gradient:
                gradients_out_.send(*courier_, std::exchange(held_[number].input_gradient, nullptr));
                break;
            default: break;
        }
    }

    void forward(std::uint32_t number, pipeline_stage& stage) {
        auto& held = held_[number];
        std::span<std::byte> output;
        if (!is_last()) {
            held.output = activations_out_.take(*courier_);
            output = writing(held.output);
        } else if (has_syncs()) {
            auto& group = groups_[number / pipeline_.schedule.group];
            if (group.features == nullptr) {
                group.features = group_buffers_.take();
            }
            output = part_of(group.features, number);
        }
        stage.forward(number, reading(held.input), output);
    }

    void sync(std::uint32_t number, pipeline_stage& stage, deadline until) {
        auto& group = groups_[number];
        auto const gathering = courier_->post(meeting_ranks_, [this, mine = reading(group.features)] {
            return meeting_->all_gather(mine, counts_, gathered_);
        });
        courier_->wait(gathering, until);
        // They are in the gathered batch now, and their place is what the gradient needs.
        group.gradient = std::exchange(group.features, nullptr);
        stage.interact(number, parts_, writing(group.gradient));
    }

    void backward(std::uint32_t number, pipeline_stage& stage) {
        auto& held = held_[number];
        std::span<std::byte const> output_gradient = reading(held.output_gradient);
        if (is_last() && has_syncs()) {
            output_gradient = part_of(groups_[number / pipeline_.schedule.group].gradient, number);
        }
        if (!is_first()) {
            held.input_gradient = gradients_out_.take(*courier_);
        }
        stage.backward(number, reading(held.input), output_gradient, writing(held.input_gradient));
        activations_in_.give_back(std::exchange(held.input, nullptr));
        gradients_in_.give_back(std::exchange(held.output_gradient, nullptr));
        if (is_last() && has_syncs()) {
            auto& group = groups_[number / pipeline_.schedule.group];
            if (++group.backwards == pipeline_.schedule.group) {
                group_buffers_.give_back(std::exchange(group.gradient, nullptr));
            }
        }
    }

    [[nodiscard]] std::span<std::byte> part_of(buffer_pool::buffer group, std::uint32_t number) const {
        return writing(group).subspan(number % pipeline_.schedule.group * pipeline_.feature_bytes,
                                      pipeline_.feature_bytes);
    }

    [[nodiscard]] bool is_first() const noexcept { return to_index(own_->device) == 0; }
    [[nodiscard]] bool is_last() const noexcept { return to_index(own_->device) + 1 == pipeline_.ranks.size(); }
    [[nodiscard]] bool has_syncs() const noexcept { return pipeline_.schedule.group != 0; }

    /// What one micro-batch has here between its instructions.
    struct micro_batch_buffers {
        buffer_pool::buffer input = nullptr;
        buffer_pool::buffer output = nullptr;
        buffer_pool::buffer output_gradient = nullptr;
        buffer_pool::buffer input_gradient = nullptr;
    };

    communicator& world_;
    placed_pipeline pipeline_;
    std::optional<part> own_;
    std::vector<interval> times_;
    inbox activations_in_;
    inbox gradients_in_;
    outbox activations_out_;
    outbox gradients_out_;
    std::vector<micro_batch_buffers> held_;
    std::unique_ptr<communicator> meeting_;
    std::vector<world_rank> meeting_ranks_;  ///< in the world
    std::vector<std::uint64_t> counts_;
    std::vector<std::byte> gathered_;
    std::vector<std::span<std::byte const>> parts_;
    buffer_pool group_buffers_;
    std::vector<group_buffers> groups_;
    std::unique_ptr<courier> courier_;  // last: it is stopped before the communicators and buffers it uses are gone
};

pipeline_executor::pipeline_executor(communicator& world, std::span<placed_pipeline const> pipelines, deadline until)
    : state_{std::make_unique<state>(world, pipelines, until)} {}
pipeline_executor::~pipeline_executor() = default;
pipeline_executor::pipeline_executor(pipeline_executor&&) noexcept = default;
pipeline_executor& pipeline_executor::operator=(pipeline_executor&&) noexcept = default;

void pipeline_executor::run(pipeline_stage& stage, deadline until) { state_->run(stage, until); }
std::optional<pipeline_executor::part> pipeline_executor::own() const noexcept { return state_->own(); }
std::span<interval const> pipeline_executor::last_run() const noexcept { return state_->last_run(); }

}  // namespace evenkeel::comm
