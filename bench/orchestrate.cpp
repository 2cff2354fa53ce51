// SPDX-License-Identifier: Apache-2.0
#include "orchestrate.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <evenkeel/orchestrate.hpp>

#include "batches.hpp"
#include "examples/support/balanced_step.hpp"
#include "examples/support/trace.hpp"
#include "examples/support/tri_modal.hpp"
#include "measure.hpp"

namespace evenkeel::bench {
namespace {

using drawing = std::function<examples::trace(std::size_t rows, std::uint64_t seed)>;

/// A step, drawn and described.
struct task {
    step_samples samples;
    std::vector<phase> phases;
    topology cluster;
};

task task_of(examples::trace const& trace, shape const& shape, phase_method method, double tolerance) {
    task result{.samples = {}, .phases = {}, .cluster = uniform_topology({shape.ranks}, {8})};
    auto const ranks = flat_group({shape.ranks});
    auto const add_phase = [&](std::string const& name) {
        auto const bytes = examples::bytes_per_token(name);
        result.phases.push_back({.name = name,
                                 .group = ranks,
                                 .bytes_in = bytes.in,
                                 .bytes_out = bytes.out,
                                 .method = method,
                                 .tolerance = tolerance});
    };
    result.samples.counts.assign(shape.ranks, shape.per_rank);
    result.samples.text.assign(trace.rows(), 0);
    for (std::size_t column = 0; column < trace.columns.size(); ++column) {
        if (trace.columns[column] == "text") {
            for (std::size_t row = 0; row < trace.rows(); ++row) {
                result.samples.text[row] = trace[row][column];
            }
            continue;
        }
        encoder_inputs inputs;
        std::vector<std::size_t> units;
        for (std::size_t row = 0; row < trace.rows(); ++row) {
            units.push_back(trace[row][column] > 0 ? 1 : 0);
            if (units.back() == 1) {
                inputs.lengths.push_back(trace[row][column]);
            }
        }
        inputs.units = units_of(units);
        result.samples.inputs.push_back(std::move(inputs));
        add_phase(trace.columns[column]);
    }
    add_phase("llm");
    return result;
}

planned_step joint(task const& task) { return orchestrate(task.samples, task.phases, task.cluster); }

/// Each phase as if there were no other, then all of them as they are.
planned_step each_alone(task const& task) {
    auto given = task.phases;
    std::size_t const llm = given.size() - 1;
    auto const plan_of = [&](std::size_t number, step_samples const& samples, std::vector<phase> const& phases) {
        given[number].given = orchestrate(samples, phases, task.cluster).phases.front().plan;
        given[number].method = phase_method::given;
    };
    auto sequences = task.samples.text;
    for (std::size_t encoder = 0; encoder < llm; ++encoder) {
        auto const& inputs = task.samples.inputs[encoder];
        step_samples const samples{.counts = task.samples.counts, .text = task.samples.text, .inputs = {inputs}};
        auto follower = task.phases[llm];
        follower.method = phase_method::stay;
        follower.tolerance = 1e9;
        plan_of(encoder, samples, {task.phases[encoder], follower});
        for (std::size_t sample = 0; sample < sequences.size(); ++sample) {
            for (std::size_t unit = inputs.units.offsets[sample]; unit < inputs.units.offsets[sample + 1]; ++unit) {
                sequences[sample] += inputs.lengths[unit];
            }
        }
    }
    plan_of(llm, {.counts = task.samples.counts, .text = sequences}, {task.phases[llm]});
    return orchestrate(task.samples, given, task.cluster);
}

double median(std::vector<double> values) {
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

double ratio(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// What the steps of a row move.
struct verdict_of_steps {
    std::vector<double> bytes;
    std::vector<double> over_bound;
    double busiest = 0;
    double embeddings = 0;
    double gap = 0;

    void add(task const& task, planned_step const& step) {
        auto const bound = bound_of(task.samples, task.phases, task.cluster, step);
        bytes.push_back(static_cast<double>(step.traffic.between_nodes) / 1e6);
        over_bound.push_back(ratio(step.traffic.between_nodes, bound.between_nodes));
        busiest = std::max(busiest, ratio(step.traffic.busiest_node, bound.busiest_node));
        std::uint64_t outputs = 0;
        for (auto const& one : step.traffic.outputs) {
            outputs += 2 * one.between_nodes;
        }
        embeddings = std::max(embeddings, ratio(outputs, step.traffic.between_nodes));
        for (auto const& phase : step.phases) {
            gap = std::max(gap, phase.quality.front().gap());
        }
    }

    void show(benchmark::State& state) const {
        state.counters["inter_node_mb"] = median(bytes);
        state.counters["over_bound"] = median(over_bound);
        state.counters["worst_over_bound"] = *std::max_element(over_bound.begin(), over_bound.end());
        state.counters["worst_busiest"] = busiest;
        state.counters["embeddings"] = embeddings;
        state.counters["gap"] = gap;
    }
};

void add_rows(std::string const& workload, shape const& shape, drawing const& draw) {
    struct subject {
        std::string_view name;
        phase_method method;
        double tolerance;
        planned_step (*plan)(task const&);
    };
    constexpr std::array subjects{subject{"evenkeel", phase_method::stay, 1e-3, joint},
                                  subject{"evenkeel_3e-3", phase_method::stay, 3e-3, joint},
                                  subject{"alone", phase_method::stay, 1e-3, each_alone},
                                  subject{"published", phase_method::relabel, 0, each_alone}};
    for (auto const& subject : subjects) {
        auto const name = fmt::format("orchestrate/{}/{}/{}x{}", subject.name, workload, shape.ranks, shape.per_rank);
        benchmark::RegisterBenchmark(name.c_str(),
                                     [=](benchmark::State& state) {
                                         task now;
                                         planned_step step;
                                         verdict_of_steps found;
                                         measure_seeds(
                                             state, std::max<std::size_t>(102'400, shape.samples()),
                                             [&](std::size_t seed) {
                                                 now = task_of(draw(shape.samples(), seed), shape, subject.method,
                                                               subject.tolerance);
                                             },
                                             [&] { step = subject.plan(now); }, [&] { found.add(now, step); });
                                         found.show(state);
                                     })
            ->UseManualTime()
            ->Iterations(1)
            ->Unit(benchmark::kMicrosecond);
    }
}

}  // namespace

void add_orchestrate_rows() {
    for (shape const shape : {bench::shape{64, 40}, bench::shape{256, 40}, bench::shape{2560, 40}}) {
        add_rows("tri_modal", shape,
                 [](std::size_t rows, std::uint64_t seed) { return examples::tri_modal(rows, seed); });
    }
}

void add_orchestrate_rows(std::filesystem::path const& folder) {
    std::vector<std::filesystem::path> files;
    for (auto const& entry : std::filesystem::directory_iterator{folder}) {
        if (entry.path().extension() == ".csv") {
            files.push_back(entry.path());
        }
    }
    std::ranges::sort(files);
    for (auto const& file : files) {
        auto const all = examples::read_trace(file);
        if (all.columns.size() < 2 || all.rows() == 0) {
            continue;
        }
        for (shape const shape : {bench::shape{64, 40}, bench::shape{256, 40}}) {
            add_rows(file.stem().string(), shape, [all](std::size_t rows, std::uint64_t seed) {
                examples::trace window{.columns = all.columns, .lengths = {}};
                for (std::size_t row = 0; row < rows; ++row) {
                    auto const of = all[((seed - 1) * rows + row) % all.rows()];
                    window.lengths.insert(window.lengths.end(), of.begin(), of.end());
                }
                return window;
            });
        }
    }
}

}  // namespace evenkeel::bench
