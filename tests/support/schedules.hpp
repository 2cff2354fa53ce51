// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/pipeline/schedule.hpp>

namespace evenkeel::test {

inline instruction make(instruction_kind kind, std::size_t stage, std::size_t number) {
    return {kind, to_id<stage_id>(stage), static_cast<std::uint32_t>(number)};
}

/// What a device computes, as it is drawn: "F1 F2 S1 B1 B2".
inline std::string drawn_row(schedule const& pipeline, std::size_t device, bool with_transfers = false) {
    std::string row;
    for (auto const& one : pipeline[to_id<device_id>(device)]) {
        if (with_transfers || !is_transfer(one.kind)) {
            row.append(row.empty() ? "" : " ").append(drawn_name(one));
        }
    }
    return row;
}

/// Pipelines run in the dullest way there is, without looking at them first: what has been done is a set, every device
/// is asked in turn whether its next instruction can run, until nothing moves.
class dull_run {
  public:
    explicit dull_run(std::span<schedule const> pipelines) : pipelines_{pipelines}, states_(pipelines.size()) {
        for (std::size_t p = 0; p < pipelines.size(); ++p) {
            states_[p].next.assign(pipelines[p].offsets.begin(), pipelines[p].offsets.end() - 1);
            states_[p].next_forward.resize(pipelines[p].stages);
            states_[p].waits.resize(pipelines[p].syncs());
        }
        for (bool moved = true; moved;) {
            moved = false;
            for (std::size_t p = 0; p < pipelines.size(); ++p) {
                moved = advance(p) || moved;
            }
        }
    }

    /// Whether every pass of every micro-batch was made exactly once and all devices came to their ends.
    [[nodiscard]] bool ended() const {
        for (std::size_t p = 0; p < pipelines_.size(); ++p) {
            if (!std::ranges::equal(states_[p].next, std::span{pipelines_[p].offsets}.subspan(1)) ||
                !made_every_pass(p) || pipelines_[p].syncs() != pipelines_[0].syncs() ||
                !std::ranges::all_of(states_[p].links, [](auto const& link) { return link.second.empty(); })) {
                return false;
            }
        }
        return true;
    }

  private:
    using enum instruction_kind;

    struct state {
        std::set<std::tuple<instruction_kind, std::size_t, std::size_t>> done;
        std::map<std::pair<bool, std::size_t>, std::deque<std::size_t>> links;  // down?, lower stage
        std::vector<std::size_t> next;
        std::vector<std::size_t> next_forward;
        std::vector<bool> waits;  // per group

        [[nodiscard]] bool has(instruction_kind kind, std::size_t stage, std::size_t number) const {
            return done.contains({kind, stage, number});
        }
        [[nodiscard]] bool graded(std::size_t stage, std::size_t number) const {
            return has(backward, stage, number) || has(input_gradient, stage, number);
        }
        bool take(bool down, std::size_t lower, std::size_t number) {
            auto& link = links[{down, lower}];
            if (link.empty() || link.front() != number) {
                return false;
            }
            link.pop_front();
            return true;
        }
    };

    bool advance(std::size_t p) {
        bool moved = false;
        for (std::size_t device = 0; device < pipelines_[p].devices(); ++device) {
            auto& position = states_[p].next[device];
            while (position < pipelines_[p].offsets[device + 1] && try_one(p, pipelines_[p].instructions[position])) {
                ++position;
                moved = true;
            }
        }
        return moved;
    }

    bool try_one(std::size_t p, instruction const& one) {
        auto& now = states_[p];
        std::size_t const stage = to_index(one.stage);
        std::size_t const number = one.number;
        if (now.has(one.kind, stage, number)) {
            return false;
        }
        switch (one.kind) {
            case forward:
                if (number != now.next_forward[stage] || !has_input(p, one)) {
                    return false;
                }
                ++now.next_forward[stage];
                break;
            case backward:
            case input_gradient:
                if (now.graded(stage, number) || !now.has(forward, stage, number) || !has_gradient(p, one)) {
                    return false;
                }
                break;
            case weight_gradient:
                if (!now.has(input_gradient, stage, number)) {
                    return false;
                }
                break;
            case send_activation:
                if (!now.has(forward, stage, number)) {
                    return false;
                }
                now.links[{true, stage}].push_back(number);
                break;
            case send_gradient:
                if (!now.graded(stage, number)) {
                    return false;
                }
                now.links[{false, stage - 1}].push_back(number);
                break;
            case receive_activation:
                if (!now.take(true, stage - 1, number)) {
                    return false;
                }
                break;
            case receive_gradient:
                if (!now.take(false, stage, number)) {
                    return false;
                }
                break;
            case batch_sync:
                if (!may_sync(p, one)) {
                    return false;
                }
                break;
        }
        now.done.insert({one.kind, stage, number});
        return true;
    }

    [[nodiscard]] bool has_input(std::size_t p, instruction const& one) const {
        std::size_t const stage = to_index(one.stage);
        if (stage == 0) {
            return true;
        }
        bool const apart = pipelines_[p].device_of(to_id<stage_id>(stage - 1)) != pipelines_[p].device_of(one.stage);
        return apart ? states_[p].has(receive_activation, stage, one.number)
                     : states_[p].has(forward, stage - 1, one.number);
    }

    [[nodiscard]] bool has_gradient(std::size_t p, instruction const& one) const {
        auto const& own = pipelines_[p];
        std::size_t const stage = to_index(one.stage);
        if (stage + 1 == own.stages) {
            return own.group == 0 || states_[p].has(batch_sync, stage, one.number / own.group);
        }
        bool const apart = own.device_of(to_id<stage_id>(stage + 1)) != own.device_of(one.stage);
        return apart ? states_[p].has(receive_gradient, stage, one.number) : states_[p].graded(stage + 1, one.number);
    }

    /// A device that waits stays; those that come later let it go.
    bool may_sync(std::size_t p, instruction const& one) {
        auto const& own = pipelines_[p];
        std::size_t const stage = to_index(one.stage);
        std::size_t const number = one.number;
        for (std::size_t member = number * own.group; member < (number + 1) * own.group; ++member) {
            if (!states_[p].has(forward, stage, member)) {
                return false;
            }
        }
        if (number > 0 && !states_[p].has(batch_sync, stage, number - 1)) {
            return false;
        }
        states_[p].waits[number] = true;
        return std::ranges::all_of(
            states_, [&](state const& other) { return other.waits.size() > number && other.waits[number]; });
    }

    [[nodiscard]] bool made_every_pass(std::size_t p) const {
        auto const& now = states_[p];
        for (std::size_t stage = 0; stage < pipelines_[p].stages; ++stage) {
            for (std::size_t number = 0; number < pipelines_[p].micro_batches; ++number) {
                bool const whole = now.has(backward, stage, number);
                bool const input = now.has(input_gradient, stage, number);
                bool const weights = now.has(weight_gradient, stage, number);
                if (!now.has(forward, stage, number) || (whole ? input || weights : !(input && weights))) {
                    return false;
                }
            }
        }
        return true;
    }

    std::span<schedule const> pipelines_;
    std::vector<state> states_;
};

/// Whether pipelines, run in the dullest way there is, make every pass of every micro-batch exactly once and come to
/// their ends.
inline bool runs_to_the_end(std::span<schedule const> pipelines) { return dull_run{pipelines}.ended(); }

}  // namespace evenkeel::test
