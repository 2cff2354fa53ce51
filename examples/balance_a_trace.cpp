// SPDX-License-Identifier: Apache-2.0
// The main job: balances batches of real or made-up samples over many ranks, in every phase of the training step, moves
// their bytes to where the plans say, checks each of them there and prints what that did. `--help` lists the options.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/core/topology.hpp>

#include "support/balanced_step.hpp"
#include "support/command_line.hpp"
#include "support/memory.hpp"
#include "support/options.hpp"
#include "support/overlapped_steps.hpp"
#include "support/phases.hpp"
#include "support/plot.hpp"
#include "support/processes.hpp"
#include "support/program.hpp"
#include "support/progress.hpp"
#include "support/report.hpp"
#include "support/summary.hpp"

namespace {

using namespace evenkeel::examples;

/// What all ranks have sent and checked, added up.
exchange_report sum_over_ranks(evenkeel::comm::communicator& world, exchange_report const& mine) {
    std::vector<exchange_report> all(world.size().value);
    world.all_gather(std::as_bytes(std::span{&mine, 1}), std::as_writable_bytes(std::span{all}))
        .wait(std::chrono::minutes{10});
    exchange_report sum;
    for (auto const& rank : all) {
        sum.bytes += rank.bytes;
        sum.inter_node_bytes += rank.inter_node_bytes;
        sum.wrong += rank.wrong;
    }
    return sum;
}

drawn_step drawn_by(evenkeel::world_rank rank, std::size_t step, options const& options,
                    std::vector<phase_lengths> const& phases) {
    auto const drawing = options.drawing();
    drawn_step drawn{.first_sample = step * drawing.samples(), .lengths = {}};
    for (auto const& phase : phases) {
        drawn.lengths.push_back(drawing.lengths(step, to_index(rank), phase.lengths));
    }
    return drawn;
}

/// What a rank does, next to the others. Rank 0 collects.
void run_rank(evenkeel::comm::communicator& world, options const& options, method how,
              std::vector<phase_lengths> const& phases, progress& bar, summary& collected, exchange_report& total) {
    bool const collects = world.rank() == evenkeel::world_rank{0};
    exchange_report mine;
    std::vector<std::string> names;
    for (auto const& phase : phases) {
        names.push_back(phase.name);
    }
    for (std::size_t step = 0; step < options.steps; ++step) {
        auto const drawn = drawn_by(world.rank(), step, options, phases);
        auto const outcome = balance_step(world, names, drawn, how, options.scale, mine);
        if (collects) {
            collected.add(outcome);
            bar.advance();
        }
    }
    auto const sum = sum_over_ranks(world, mine);
    if (collects) {
        total = sum;
    }
}

struct results {
    std::vector<report> reports;     ///< of each method
    std::vector<phase_loads> loads;  ///< of that which is drawn
    std::optional<waits_report> waits;
};

/// Balances all steps by every method that is asked for. The result is on the first process alone.
void run_methods(processes& all, options const& options, std::vector<phase_lengths> const& phases,
                 std::vector<std::string> const& names, results& to) {
    auto const methods = methods_of(options);
    auto bar = progress{"steps", options.steps * methods.size()};
    for (auto const how : methods) {
        summary collected{names};
        report result{.method = std::string{name_of(how)},
                      .ranks = options.ranks,
                      .ranks_per_node = options.ranks_per_node,
                      .samples = options.drawing().samples() * options.steps};
        all.run(evenkeel::uniform_topology({options.ranks}, {options.ranks_per_node}),
                [&](evenkeel::comm::communicator& world) {
                    run_rank(world, options, how, phases, bar, collected, result.exchange);
                });
        if (all.is_first()) {
            result.phases = collected.report();
            result.by_phase = collected.by_phase();
            result.composed_saving = collected.composed_saving();
            to.reports.push_back(std::move(result));
            if (how == options.method) {
                to.loads = collected.first_loads();
            }
        }
    }
}

/// Runs the steps through a dispatcher, too.
void run_dispatcher(processes& all, options const& options, std::vector<phase_lengths> const& phases,
                    std::vector<std::string> const& names, results& to) {
    all.run(evenkeel::uniform_topology({options.ranks}, {options.ranks_per_node}),
            [&](evenkeel::comm::communicator& world) {
                auto const draw = [&](std::size_t step) { return drawn_by(world.rank(), step, options, phases); };
                auto const report = run_overlapped(world, names, draw,
                                                   {.steps = options.steps,
                                                    .how = options.method,
                                                    .scale = options.scale,
                                                    .overlap = options.overlap.value()});
                if (world.rank() == evenkeel::world_rank{0}) {
                    to.waits = report;
                }
            });
}

void show(options const& options, std::string const& title, results const& of) {
    print(options.compare ? to_table(of.reports, title) : to_table(of.reports.front(), title));
    if (of.waits) {
        print(to_text(*of.waits));
    }
    if (options.json) {
        options.json->write(options.compare ? to_json(of.reports) : to_json(of.reports.front()));
    }
    if (options.plot) {
        options.plot->write(to_svg({.title = "Load per rank before and after balancing",
                                    .subtitle = title,
                                    .ranks_per_node = options.ranks_per_node,
                                    .phases = of.loads}));
    }
}

/// @return whether every byte arrived
bool balance_a_trace(processes& all, options const& options) {
    trace trace;
    std::vector<phase_lengths> phases;
    all.together([&] {
        if (options.ranks % all.count() != 0) {
            refuse("--ranks", "a multiple of the " + std::to_string(all.count()) + " processes",
                   std::to_string(options.ranks));
        }
        trace = read_or_generate(options);
        phases = chosen_phases(options, phases_of(trace));
        require_memory_for_step(options, phases);
    });
    std::vector<std::string> names;
    for (auto const& phase : phases) {
        names.push_back(phase.name);
    }
    results found;
    run_methods(all, options, phases, names, found);
    if (options.overlap) {
        run_dispatcher(all, options, phases, names, found);
    }
    if (!all.is_first()) {
        return true;
    }
    show(options, headline(options, trace), found);
    return (!found.waits || found.waits->wrong == 0) &&
           std::ranges::all_of(found.reports, [](report const& one) { return one.exchange.wrong == 0; });
}

}  // namespace

int main(int argc, char** argv) {
    processes all{argc, argv};
    return run_program(all, argc, argv, [&](options const& options) { return balance_a_trace(all, options); });
}
