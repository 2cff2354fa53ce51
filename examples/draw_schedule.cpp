// SPDX-License-Identifier: Apache-2.0
// Draws a pipeline schedule: who works on which micro-batch when, how long a step takes, how many micro-batches each
// stage holds. Prints a table; writes the timeline as JSON, SVG and Chrome trace and the schedule as PyTorch's CSV.
// `--help` lists the options.
#include <fmt/format.h>

#include <evenkeel/pipeline/chrome_trace.hpp>
#include <evenkeel/pipeline/pytorch_csv.hpp>
#include <evenkeel/pipeline/simulate.hpp>

#include "support/program.hpp"
#include "support/schedule_options.hpp"
#include "support/schedule_report.hpp"
#include "support/timeline_plot.hpp"

namespace {

using namespace evenkeel::examples;

bool draw_schedule(schedule_options const& options) {
    auto const simulated = evenkeel::simulate(options.pipelines, options.times);
    print(to_table(options.pipelines, simulated, headline(options)));
    if (options.json) {
        options.json->write(to_json(options.pipelines, simulated));
    }
    if (options.plot) {
        options.plot->write(
            to_svg({.title = fmt::format("A step of {} ends at {:.6g}", options.schedule, simulated.end),
                    .subtitle = headline(options),
                    .pipelines = options.pipelines,
                    .simulated = simulated}));
    }
    if (options.trace) {
        options.trace->write(evenkeel::to_chrome_trace(options.pipelines, simulated, {.microseconds = 1000}));
    }
    if (options.csv) {
        options.csv->write(evenkeel::to_pytorch_csv(options.pipelines.front()));
    }
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    return run_program("draw_schedule", [&] { return draw_schedule(parse_schedule_options(argc, argv)); });
}
