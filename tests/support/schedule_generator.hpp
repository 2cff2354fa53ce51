// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/pipeline/schedule.hpp>

#include "batches.hpp"
#include "schedules.hpp"

namespace evenkeel::test {

/// Draws pipelines that run: at every turn some device does something that it can do, and writes it down.
class schedule_generator {
  public:
    explicit schedule_generator(std::uint64_t seed) : random_{seed} {}

    std::vector<schedule> draw() {
        // Mostly one, for they are small enough to draw thousands; sometimes two or three.
        std::size_t const chance = below(8);
        pipelines_.assign(chance == 0 ? 3 : chance <= 2 ? 2 : 1, {});
        std::size_t const syncs = below(4);
        for (auto& own : pipelines_) {
            start(own, syncs);
        }
        while (step()) {
        }
        std::vector<schedule> result;
        for (auto const& own : pipelines_) {
            result.push_back(own.shape);
            for (auto const& row : own.rows) {
                auto& flat = result.back();
                flat.instructions.insert(flat.instructions.end(), row.begin(), row.end());
                flat.offsets[static_cast<std::size_t>(&row - own.rows.data()) + 1] = flat.instructions.size();
            }
        }
        return result;
    }

  private:
    struct growing {
        schedule shape;
        std::vector<std::vector<instruction>> rows;
        /// Per stage and micro-batch, what can be done; a turn takes one of them.
        std::vector<instruction> possible;
        std::vector<std::size_t> next_forward;
        std::vector<std::vector<bool>> forward_possible;
        std::map<std::pair<bool, std::size_t>, std::deque<std::size_t>> links;
        std::vector<std::size_t> forwards_of_group;
        std::size_t next_sync = 0;
    };

    std::size_t below(std::size_t bound) { return random_.up_to(bound - 1); }

    void start(growing& own, std::size_t syncs) {
        std::size_t const devices = 1 + below(3);
        own.shape.stages = devices * (below(4) == 0 ? 2 : 1);
        own.shape.group = syncs == 0 ? 0 : 1 + below(3);
        own.shape.micro_batches = syncs == 0 ? below(5) : syncs * own.shape.group;
        own.shape.offsets.assign(devices + 1, 0);
        own.rows.resize(devices);
        own.next_forward.resize(own.shape.stages);
        own.forward_possible.assign(own.shape.stages, std::vector<bool>(own.shape.micro_batches));
        own.forwards_of_group.resize(syncs);
        for (std::size_t number = 0; number < own.shape.micro_batches; ++number) {
            allow_forward(own, 0, number);
        }
    }

    /// Forwards keep the order of the micro-batches, so one that came early waits.
    void allow_forward(growing& own, std::size_t stage, std::size_t number) {
        own.forward_possible[stage][number] = true;
        if (number == own.next_forward[stage]) {
            own.possible.push_back(make(instruction_kind::forward, stage, number));
        }
    }

    void allow_gradient(growing& own, std::size_t stage, std::size_t number) {
        own.possible.push_back(
            make(below(3) == 0 ? instruction_kind::input_gradient : instruction_kind::backward, stage, number));
    }

    bool step() {
        std::size_t choices = 0;
        for (auto const& own : pipelines_) {
            choices += own.possible.size();
        }
        bool const meets = std::ranges::all_of(pipelines_, [](growing const& own) {
            return own.next_sync < own.forwards_of_group.size() &&
                   own.forwards_of_group[own.next_sync] == own.shape.group;
        });
        if (choices == 0 && !meets) {
            return false;
        }
        if (meets && (choices == 0 || below(4) == 0)) {
            for (auto& own : pipelines_) {
                meet(own);
            }
            return true;
        }
        std::size_t chosen = below(choices);
        for (auto& own : pipelines_) {
            if (chosen < own.possible.size()) {
                instruction const one = own.possible[chosen];
                own.possible.erase(own.possible.begin() + static_cast<std::ptrdiff_t>(chosen));
                run(own, one);
                return true;
            }
            chosen -= own.possible.size();
        }
        return false;
    }

    void meet(growing& own) {
        std::size_t const last = own.shape.stages - 1;
        write(own, make(instruction_kind::batch_sync, last, own.next_sync));
        for (std::size_t member = 0; member < own.shape.group; ++member) {
            allow_gradient(own, last, own.next_sync * own.shape.group + member);
        }
        ++own.next_sync;
    }

    static void write(growing& own, instruction const& one) {
        own.rows[to_index(own.shape.device_of(one.stage))].push_back(one);
    }

    void run(growing& own, instruction const& one) {
        using enum instruction_kind;
        std::size_t const stage = to_index(one.stage);
        std::size_t const number = one.number;
        bool const last = stage + 1 == own.shape.stages;
        write(own, one);
        switch (one.kind) {
            case forward:
                ++own.next_forward[stage];
                if (number + 1 < own.shape.micro_batches && own.forward_possible[stage][number + 1]) {
                    own.possible.push_back(make(forward, stage, number + 1));
                }
                if (!last) {
                    own.shape.sends_after(stage) ? own.possible.push_back(make(send_activation, stage, number))
                                                 : allow_forward(own, stage + 1, number);
                } else if (own.shape.group == 0) {
                    allow_gradient(own, stage, number);
                } else {
                    ++own.forwards_of_group[number / own.shape.group];
                }
                break;
            case backward:
            case input_gradient:
                if (one.kind == input_gradient) {
                    own.possible.push_back(make(weight_gradient, stage, number));
                }
                if (stage > 0) {
                    own.shape.sends_after(stage - 1) ? own.possible.push_back(make(send_gradient, stage, number))
                                                     : allow_gradient(own, stage - 1, number);
                }
                break;
            case send_activation: sent(own, true, stage, number); break;
            case send_gradient: sent(own, false, stage - 1, number); break;
            case receive_activation:
                arrived(own, true, stage - 1);
                allow_forward(own, stage, number);
                break;
            case receive_gradient:
                arrived(own, false, stage);
                allow_gradient(own, stage, number);
                break;
            default: break;
        }
    }

    /// Only the first of a link can be received.
    static void sent(growing& own, bool down, std::size_t lower, std::size_t number) {
        auto& link = own.links[{down, lower}];
        link.push_back(number);
        if (link.size() == 1) {
            offer(own, down, lower);
        }
    }
    static void arrived(growing& own, bool down, std::size_t lower) {
        auto& link = own.links[{down, lower}];
        link.pop_front();
        if (!link.empty()) {
            offer(own, down, lower);
        }
    }
    static void offer(growing& own, bool down, std::size_t lower) {
        std::size_t const number = own.links[{down, lower}].front();
        own.possible.push_back(down ? make(instruction_kind::receive_activation, lower + 1, number)
                                    : make(instruction_kind::receive_gradient, lower, number));
    }

    seeded random_;
    std::vector<growing> pipelines_;
};

}  // namespace evenkeel::test
