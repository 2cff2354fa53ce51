// SPDX-License-Identifier: Apache-2.0
#include "orchestrate.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <evenkeel/orchestrate.hpp>

#include "batches.hpp"
#include "examples/support/balanced_step.hpp"
#include "examples/support/llm_only.hpp"
#include "examples/support/random.hpp"
#include "examples/support/trace.hpp"
#include "examples/support/tri_modal.hpp"
#include "measure.hpp"

namespace evenkeel::bench {
namespace {

using drawing = std::function<examples::trace(std::size_t rows, std::uint64_t seed)>;

/// Into how many units the tokens of a sample are split, by the name of the encoder and the row.
using splitting = std::function<std::size_t(std::string const& encoder, std::size_t row, std::uint64_t tokens)>;

std::size_t whole(std::string const& /*encoder*/, std::size_t /*row*/, std::uint64_t /*tokens*/) { return 1; }

/// Every fourth sample has two to eight images.
std::size_t images(std::string const& encoder, std::size_t row, std::uint64_t tokens) {
    bool const several = encoder == "image" && row % 4 == 0;
    return several ? std::min<std::size_t>(2 + row / 4 % 7, tokens) : 1;
}

/// Video in units of at most 1024 tokens.
std::size_t clips(std::string const& encoder, std::size_t /*row*/, std::uint64_t tokens) {
    return encoder == "video" ? (tokens + 1023) / 1024 : 1;
}

/// Rows of the made-up mixture, of which another share is text alone.
examples::trace tri_modal_with_text(std::size_t rows, std::uint64_t seed, std::uint64_t percent) {
    // Three in ten are, so that this is enough of either kind.
    auto const all = examples::tri_modal(4 * rows + 1000, seed);
    std::array<std::vector<std::size_t>, 2> kinds;
    for (std::size_t row = 0; row < all.rows(); ++row) {
        kinds.at(all[row][1] + all[row][2] == 0 ? 1 : 0).push_back(row);
    }
    examples::trace result{.columns = all.columns, .lengths = {}};
    examples::random_source random{seed};
    std::array<std::size_t, 2> next{};
    for (std::size_t row = 0; row < rows; ++row) {
        std::size_t const kind = random.uniform() * 100 < static_cast<double>(percent) ? 1 : 0;
        auto const of = all[kinds.at(kind).at(next.at(kind)++)];
        result.lengths.insert(result.lengths.end(), of.begin(), of.end());
    }
    return result;
}

/// A step, drawn and described.
struct task {
    step_samples samples;
    std::vector<phase> phases;
    topology cluster;
};

task task_of(examples::trace const& trace, shape const& shape, splitting const& split, phase_method method,
             double tolerance) {
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
            std::uint64_t const tokens = trace[row][column];
            units.push_back(tokens > 0 ? split(trace.columns[column], row, tokens) : 0);
            for (std::size_t unit = 0; unit < units.back(); ++unit) {
                inputs.lengths.push_back(tokens * (unit + 1) / units.back() - tokens * unit / units.back());
            }
        }
        inputs.units = units_of(units);
        result.samples.inputs.push_back(std::move(inputs));
        add_phase(trace.columns[column]);
    }
    add_phase("llm");
    return result;
}

planned_step const& joint(orchestrate_workspace& space, task const& task) {
    return orchestrate(space, task.samples, task.phases, task.cluster);
}

/// Only the LLM balanced: encoders run where their samples are.
planned_step const& llm_only(orchestrate_workspace& space, task const& task) {
    auto const given = examples::llm_only(task.samples, task.phases, task.cluster);
    return orchestrate(space, task.samples, given, task.cluster);
}

/// Each phase as if there were no other, then all of them as they are.
planned_step const& each_alone(orchestrate_workspace& space, task const& task) {
    auto given = task.phases;
    std::size_t const llm = given.size() - 1;
    for (std::size_t encoder = 0; encoder < llm; ++encoder) {
        step_samples const samples{
            .counts = task.samples.counts, .text = task.samples.text, .inputs = {task.samples.inputs[encoder]}};
        auto follower = task.phases[llm];
        follower.method = phase_method::stay;
        follower.tolerance = 1e9;
        given[encoder].given =
            orchestrate(samples, std::vector{task.phases[encoder], follower}, task.cluster).phases.front().plan;
    }
    given[llm].given = examples::plan_of_llm_alone(task.samples, task.phases, task.cluster);
    for (auto& phase : given) {
        phase.method = phase_method::given;
    }
    return orchestrate(space, task.samples, given, task.cluster);
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
    std::vector<double> composed;
    std::map<std::string, std::vector<double>> loads;
    double busiest = 0;
    double embeddings = 0;
    double gap = 0;

    void add(task const& task, planned_step const& step) {
        composed.push_back(over_going_home(task, step));
        for (std::size_t number = 0; number < step.phases.size(); ++number) {
            auto const& quality = step.phases[number].quality.front();
            loads[task.phases[number].name].push_back(ratio(quality.max_load, quality.lower_bound));
        }
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

    /// Bytes of outputs that leave their rank, over those that do if they go home first.
    static double over_going_home(task const& task, planned_step const& step) {
        std::uint64_t straight = 0;
        std::uint64_t past_home = 0;
        for (std::size_t encoder = 0; encoder < step.encoders(); ++encoder) {
            auto const owners = samples_of_units(step.units[encoder]);
            straight += step.traffic.outputs[encoder].moved;
            for (std::size_t unit = 0; unit < owners.size(); ++unit) {
                std::uint64_t const bytes = task.samples.inputs[encoder].lengths[unit] * task.phases[encoder].bytes_out;
                world_rank const home = step.home[owners[unit]].rank;
                past_home += home != step.phases[encoder].layout.places[unit].rank ? bytes : 0;
                past_home += home != step.llm().layout[owners[unit]].rank ? bytes : 0;
            }
        }
        return ratio(straight, past_home);
    }

    void show(benchmark::State& state) const {
        state.counters["composed"] = median(composed);
        for (auto const& [phase, over] : loads) {
            state.counters["load_" + phase] = median(over);
        }
        state.counters["inter_node_mb"] = median(bytes);
        state.counters["over_bound"] = median(over_bound);
        state.counters["worst_over_bound"] = *std::max_element(over_bound.begin(), over_bound.end());
        state.counters["worst_busiest"] = busiest;
        state.counters["embeddings"] = embeddings;
        state.counters["gap"] = gap;
    }
};

void add_rows(std::string const& workload, shape const& shape, drawing const& draw, splitting const& split,
              bool with_others) {
    struct subject {
        std::string_view name;
        phase_method method;
        double tolerance;
        planned_step const& (*plan)(orchestrate_workspace&, task const&);
    };
    constexpr std::array subjects{
        subject{"evenkeel", phase_method::stay, 1e-3, joint}, subject{"evenkeel_3e-3", phase_method::stay, 3e-3, joint},
        subject{"alone", phase_method::stay, 1e-3, each_alone}, subject{"llm_only", phase_method::stay, 1e-3, llm_only},
        subject{"published", phase_method::relabel, 0, each_alone},
        // From scratch, too, but the LLM's batches go where most of their outputs are.
        subject{"relabel", phase_method::relabel, 0, joint}, subject{"scratch", phase_method::scratch, 0, joint}};
    for (auto const& subject : subjects) {
        if ((subject.plan != joint || subject.method != phase_method::stay) && !with_others) {
            continue;
        }
        auto const name = fmt::format("orchestrate/{}/{}/{}x{}", subject.name, workload, shape.ranks, shape.per_rank);
        benchmark::RegisterBenchmark(
            name.c_str(),
            [=](benchmark::State& state) {
                task now;
                auto const space = std::make_unique<orchestrate_workspace>();
                planned_step const* step = nullptr;
                verdict_of_steps found;
                measure_seeds(
                    state, std::max<std::size_t>(102'400, shape.samples()),
                    [&](std::size_t seed) {
                        now = task_of(draw(shape.samples(), seed), shape, split, subject.method, subject.tolerance);
                    },
                    [&] { step = &subject.plan(*space, now); }, [&] { found.add(now, *step); });
                found.show(state);
            })
            ->UseManualTime()
            ->Iterations(1)
            ->Unit(benchmark::kMicrosecond);
    }
}

}  // namespace

void add_orchestrate_rows() {
    auto const draw = [](std::size_t rows, std::uint64_t seed) { return examples::tri_modal(rows, seed); };
    for (shape const shape : {bench::shape{64, 40}, bench::shape{256, 40}, bench::shape{2560, 40}}) {
        add_rows("tri_modal", shape, draw, whole, true);
    }
    add_rows("tri_modal", {16'384, 40}, draw, whole, false);
    for (std::uint64_t const percent : {30U, 20U, 10U, 5U, 2U, 0U}) {
        auto const scarce = [percent](std::size_t rows, std::uint64_t seed) {
            return tri_modal_with_text(rows, seed, percent);
        };
        for (shape const shape : {bench::shape{256, 40}, bench::shape{2560, 40}}) {
            add_rows(fmt::format("tri_modal_text{}", percent), shape, scarce, whole, false);
        }
    }
    add_rows("tri_modal_images", {2560, 40}, draw, images, false);
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
            auto const draw = [all](std::size_t rows, std::uint64_t seed) {
                examples::trace window{.columns = all.columns, .lengths = {}};
                for (std::size_t row = 0; row < rows; ++row) {
                    auto const of = all[((seed - 1) * rows + row) % all.rows()];
                    window.lengths.insert(window.lengths.end(), of.begin(), of.end());
                }
                return window;
            };
            add_rows(file.stem().string(), shape, draw, whole, true);
            if (std::ranges::find(all.columns, "video") != all.columns.end()) {
                add_rows(file.stem().string() + "_clips", shape, draw, clips, false);
            }
        }
    }
}

}  // namespace evenkeel::bench
