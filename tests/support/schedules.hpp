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

/// Runs pipelines in the dullest way there is, without looking at them first: what has been done is a set, every device
/// is asked in turn whether its next instruction can run, until nothing moves.
///
/// @return  Whether every pass of every micro-batch was made exactly once and all devices came to their ends.
inline bool runs_to_the_end(std::span<schedule const> pipelines) {
    using enum instruction_kind;
    struct state {
        std::set<std::tuple<instruction_kind, std::size_t, std::size_t>> done;
        std::map<std::pair<bool, std::size_t>, std::deque<std::size_t>> links;  // down?, lower stage
        std::vector<std::size_t> next;
        std::vector<std::size_t> next_forward;
        std::vector<bool> waits;  // per group
    };
    std::vector<state> states(pipelines.size());
    for (std::size_t p = 0; p < pipelines.size(); ++p) {
        states[p].next.assign(pipelines[p].offsets.begin(), pipelines[p].offsets.end() - 1);
        states[p].next_forward.resize(pipelines[p].stages);
        states[p].waits.resize(pipelines[p].syncs());
    }
    auto const try_one = [&](std::size_t p, instruction const& one) {
        auto const& own = pipelines[p];
        auto& now = states[p];
        std::size_t const stage = to_index(one.stage);
        std::size_t const number = one.number;
        bool const last = stage + 1 == own.stages;
        bool const apart_before = stage > 0 && own.device_of(to_id<stage_id>(stage - 1)) != own.device_of(one.stage);
        bool const apart_after = !last && own.device_of(to_id<stage_id>(stage + 1)) != own.device_of(one.stage);
        auto const has = [&](instruction_kind kind, std::size_t of_stage) {
            return now.done.contains({kind, of_stage, number});
        };
        auto const graded = [&](std::size_t of_stage) {
            return has(backward, of_stage) || has(input_gradient, of_stage);
        };
        auto const take = [&](bool down, std::size_t lower) {
            auto& link = now.links[{down, lower}];
            if (link.empty() || link.front() != number) {
                return false;
            }
            link.pop_front();
            return true;
        };
        if (one.kind != batch_sync && now.done.contains({one.kind, stage, number})) {
            return false;
        }
        switch (one.kind) {
            case forward:
                if (number != now.next_forward[stage] ||
                    (stage > 0 && !(apart_before ? has(receive_activation, stage) : has(forward, stage - 1)))) {
                    return false;
                }
                ++now.next_forward[stage];
                break;
            case backward:
            case input_gradient:
                if (graded(stage) || !has(forward, stage) ||
                    (!last && !(apart_after ? has(receive_gradient, stage) : graded(stage + 1))) ||
                    (last && own.group != 0 && !now.done.contains({batch_sync, stage, number / own.group}))) {
                    return false;
                }
                break;
            case weight_gradient:
                if (!has(input_gradient, stage)) {
                    return false;
                }
                break;
            case send_activation:
                if (!has(forward, stage)) {
                    return false;
                }
                now.links[{true, stage}].push_back(number);
                break;
            case send_gradient:
                if (!graded(stage)) {
                    return false;
                }
                now.links[{false, stage - 1}].push_back(number);
                break;
            case receive_activation: return take(true, stage - 1) && now.done.insert({one.kind, stage, number}).second;
            case receive_gradient: return take(false, stage) && now.done.insert({one.kind, stage, number}).second;
            case batch_sync:
                if (now.done.contains({batch_sync, stage, number})) {
                    return false;
                }
                for (std::size_t member = number * own.group; member < (number + 1) * own.group; ++member) {
                    if (!now.done.contains({forward, stage, member})) {
                        return false;
                    }
                }
                if (number > 0 && !now.done.contains({batch_sync, stage, number - 1})) {
                    return false;
                }
                // A device that waits stays; those that come later let it go.
                now.waits[number] = true;
                if (!std::ranges::all_of(states, [&](state const& other) {
                        return other.waits.size() > number && other.waits[number];
                    })) {
                    return false;
                }
                break;
        }
        now.done.insert({one.kind, stage, number});
        return true;
    };
    for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t p = 0; p < pipelines.size(); ++p) {
            for (std::size_t device = 0; device < pipelines[p].devices(); ++device) {
                auto& position = states[p].next[device];
                while (position < pipelines[p].offsets[device + 1] && try_one(p, pipelines[p].instructions[position])) {
                    ++position;
                    moved = true;
                }
            }
        }
    }
    for (std::size_t p = 0; p < pipelines.size(); ++p) {
        auto const& own = pipelines[p];
        for (std::size_t device = 0; device < own.devices(); ++device) {
            if (states[p].next[device] != own.offsets[device + 1]) {
                return false;
            }
        }
        auto const& done = states[p].done;
        for (std::size_t stage = 0; stage < own.stages; ++stage) {
            for (std::size_t number = 0; number < own.micro_batches; ++number) {
                bool const whole = done.contains({backward, stage, number});
                bool const parts =
                    done.contains({input_gradient, stage, number}) && done.contains({weight_gradient, stage, number});
                bool const part =
                    done.contains({input_gradient, stage, number}) || done.contains({weight_gradient, stage, number});
                if (!done.contains({forward, stage, number}) || (whole ? part : !parts)) {
                    return false;
                }
            }
        }
        for (auto const& link : states[p].links) {
            if (!link.second.empty()) {
                return false;
            }
        }
        if (own.syncs() != pipelines[0].syncs()) {
            return false;
        }
    }
    return true;
}

}  // namespace evenkeel::test
