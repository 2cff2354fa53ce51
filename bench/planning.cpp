// SPDX-License-Identifier: Apache-2.0
#include "planning.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <evenkeel/core/infeasible.hpp>
#include <evenkeel/parallel/plan_cluster.hpp>

#include "examples/support/plan_presets.hpp"

namespace evenkeel::bench {
namespace {

/// Six towers from 350M to 1.05B parameters, every tensor- and pipeline-parallel degree allowed.
examples::plan_input six_towers(std::size_t nodes) {
    auto result = examples::preset_of("clip_1.1b").input;
    auto const tower = result.model.submodules.front();
    result.model.submodules.clear();
    for (std::size_t i = 0; i < 6; ++i) {
        auto one = tower;
        one.name = fmt::format("tower {}", i);
        one.layers = 24 + 8 * i % 16;
        one.parameters = static_cast<double>(i % 3 + 1) * 350e6;
        one.tokens = 77 + 120.0 * static_cast<double>(i);
        one.tp = one.pp = {};
        result.model.submodules.push_back(std::move(one));
    }
    result.cluster.nodes = nodes;
    result.batch = {32 * result.cluster.gpus().value};
    result.model.interaction.batch = result.cluster.gpus().value;
    return result;
}

void add_row(std::string_view subject, std::string_view model, examples::plan_preset preset, plan_options options) {
    auto const name = fmt::format("plan_cluster/{}/{}/{}x{}", subject, model, preset.input.cluster.nodes,
                                  preset.input.cluster.gpus_per_node);
    auto const run = [preset = std::move(preset), options](benchmark::State& state) {
        auto const& [of, cluster, batch] = preset.input;
        cluster_plan plan;
        for (auto _ : state) {
            plan = plan_cluster(of, cluster, batch, options);
        }
        state.counters["step"] = plan.seconds();
        state.counters["gap"] = plan.score.gap();
        if (plan.colocated) {
            state.counters["speed_up"] = plan.colocated->seconds / plan.seconds();
        }
        if (preset.paper_speed_up) {
            state.counters["paper"] = *preset.paper_speed_up;
        }
    };
    benchmark::RegisterBenchmark(name.c_str(), run)->Unit(benchmark::kMillisecond);
}

void add_model(std::string_view name, examples::plan_preset const& preset) {
    add_row("evenkeel", name, preset, {});
    plan_options const paper{.rule = partition_rule::paper, .placement = {.effort = 0}};
    try {
        static_cast<void>(plan_cluster(preset.input.model, preset.input.cluster, preset.input.batch, paper));
    } catch (infeasible const&) {
        return;  // what holds one sample need not hold all that have to meet
    }
    add_row("paper_rule", name, preset, paper);
}

}  // namespace

void add_planning_rows() {
    for (auto const name : examples::plan_preset_names()) {
        add_model(name, examples::preset_of(name));
    }
    add_model("six", {.input = six_towers(8)});
    add_model("six", {.input = six_towers(128)});
}

}  // namespace evenkeel::bench
