// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/pipeline/detail/run.hpp>
#include <evenkeel/pipeline/schedule.hpp>
#include <evenkeel/pipeline/simulation.hpp>
#include <evenkeel/pipeline/times.hpp>

namespace evenkeel::detail {

/// Watches a `runner` and notes when each instruction starts and ends.
class clock {
  public:
    clock(std::span<schedule const> pipelines, std::span<pipeline_times const> times)
        : pipelines_{pipelines}, times_{times}, states_(pipelines.size()) {
        result_.pipelines.resize(pipelines.size());
        for (std::size_t number = 0; number < pipelines.size(); ++number) {
            auto const& pipeline = pipelines[number];
            auto& line = result_.pipelines[number];
            line.drawn = fingerprint_of(pipeline);
            line.intervals.resize(pipeline.instructions.size());
            line.busy.resize(pipeline.devices());
            line.peak_in_flight.resize(pipeline.devices());
            states_[number].devices.resize(pipeline.devices());
            states_[number].channels.resize(2 * pipeline.stages);
        }
    }

    void run(place const& here, instruction const& one) {
        using enum instruction_kind;
        auto& device = states_[here.pipeline].devices[here.device];
        auto const& times = times_[here.pipeline].stages[to_index(one.stage)];
        switch (one.kind) {
            case forward:
                ++device.in_flight;
                raise(here, device.in_flight);
                compute(here, times.forward);
                break;
            case backward:
                --device.in_flight;
                compute(here, times.backward);
                break;
            case input_gradient: compute(here, times.input_gradient); break;
            case weight_gradient:
                --device.in_flight;
                compute(here, times.weight_gradient);
                break;
            case send_activation:
            case send_gradient: send(here, one); break;
            default: receive(here, one);
        }
    }

    void meet(std::span<place const> places) {
        double start = 0;
        for (auto const& there : places) {
            start = std::max(start, states_[there.pipeline].devices[there.device].free_at);
        }
        for (auto const& there : places) {
            states_[there.pipeline].devices[there.device].free_at = start;
            compute(there, times_[there.pipeline].gather + times_[there.pipeline].sync);
        }
    }

    [[nodiscard]] simulation finish() {
        for (auto& line : result_.pipelines) {
            for (auto const& one : line.intervals) {
                line.end = std::max(line.end, one.end);
            }
            result_.end = std::max(result_.end, line.end);
        }
        for (auto& line : result_.pipelines) {
            for (double const busy : line.busy) {
                line.bubble.push_back(result_.end - busy);
            }
        }
        return std::move(result_);
    }

  private:
    struct device_state {
        double free_at = 0;
        std::size_t in_flight = 0;
    };

    struct channel_state {
        double free_at = 0;
        std::vector<double> arrivals;  ///< in the order of the sends
        std::size_t received = 0;
    };

    struct pipeline_state {
        std::vector<device_state> devices;
        std::vector<channel_state> channels;
    };

    void compute(place const& here, double length) {
        double& free_at = states_[here.pipeline].devices[here.device].free_at;
        note(here, {free_at, free_at + length});
        result_.pipelines[here.pipeline].busy[here.device] += length;
        free_at += length;
    }

    void send(place const& here, instruction const& one) {
        auto const& times = times_[here.pipeline];
        auto& channel = states_[here.pipeline].channels[channel_of(one)];
        double& free_at = states_[here.pipeline].devices[here.device].free_at;
        double on_the_wire = 0;
        if (!times.boundary_bytes.empty()) {
            // Half of the channel is the boundary: one for each direction.
            on_the_wire = static_cast<double>(times.boundary_bytes[channel_of(one) / 2]) / times.link.bandwidth;
        }
        double const leaves = std::max(free_at, channel.free_at);
        channel.free_at = leaves + on_the_wire;
        double const arrives = channel.free_at + times.link.latency;
        channel.arrivals.push_back(arrives);
        note(here, {leaves, arrives});
        if (!times.link.overlaps) {
            result_.pipelines[here.pipeline].busy[here.device] += arrives - free_at;
            free_at = arrives;
        }
    }

    void receive(place const& here, instruction const& one) {
        auto& channel = states_[here.pipeline].channels[channel_of(one)];
        double& free_at = states_[here.pipeline].devices[here.device].free_at;
        double const there = std::max(free_at, channel.arrivals[channel.received++]);
        note(here, {free_at, there});
        free_at = there;
    }

    void note(place const& here, interval when) { result_.pipelines[here.pipeline].intervals[here.position] = when; }

    void raise(place const& here, std::size_t in_flight) {
        auto& peak = result_.pipelines[here.pipeline].peak_in_flight[here.device];
        peak = std::max(peak, in_flight);
    }

    std::span<schedule const> pipelines_;
    std::span<pipeline_times const> times_;
    std::vector<pipeline_state> states_;
    simulation result_;
};

}  // namespace evenkeel::detail
