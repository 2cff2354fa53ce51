// SPDX-License-Identifier: Apache-2.0
#include "schedule_options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <evenkeel/pipeline/distmm_pipe.hpp>
#include <evenkeel/pipeline/gpipe.hpp>
#include <evenkeel/pipeline/interleaved.hpp>
#include <evenkeel/pipeline/one_f_one_b.hpp>
#include <evenkeel/pipeline/zero_bubble.hpp>

#include "command_line.hpp"
#include "input_error.hpp"
#include "text.hpp"

namespace evenkeel::examples {
namespace {

constexpr auto names = std::array<std::string_view, 6>{"gpipe",       "gpipe_sync",     "one_f_one_b",
                                                       "interleaved", "zero_bubble_h1", "distmm_pipe"};
/// Enough for any cluster; more instructions than this fit into no picture and into no memory.
constexpr auto most_stages = std::uint64_t{100'000};
constexpr auto most_micro_batches = std::uint64_t{10'000'000};
constexpr auto most_instructions = std::uint64_t{100'000'000};

bool syncs(std::string_view schedule) { return schedule == "gpipe_sync" || schedule == "distmm_pipe"; }

/// The cells of "4,2"; one empty cell for an empty text.
std::vector<std::string> cells_of(std::string const& text) {
    auto cells = std::vector<std::string>{};
    auto first = std::size_t{0};
    for (auto comma = text.find(','); comma != text.npos; comma = text.find(',', first)) {
        cells.push_back(text.substr(first, comma - first));
        first = comma + 1;
    }
    cells.push_back(text.substr(first));
    return cells;
}

double time_of(std::string_view option, std::string_view text) {
    auto value = 0.0;
    auto const* const end = text.data() + text.size();
    auto const [stop, error] = std::from_chars(text.data(), end, value);
    constexpr auto longest = 1e15;
    if (error != std::errc{} || stop != end || !(value >= 0) || value > longest) {
        refuse(option, "a time from 0 to 1e15", in_quotes(text));
    }
    return value;
}

/// The values of one option: one for every pipeline, or one for all.
template <class Value>
struct listed {
    std::string option;
    std::vector<Value> values;

    [[nodiscard]] Value of(std::size_t pipeline) const { return values.size() == 1 ? values[0] : values[pipeline]; }
};

struct asked {
    listed<std::uint64_t> stages{"--stages", {4}};
    listed<std::uint64_t> micro_batches{"--micro-batches", {16}};
    listed<std::uint64_t> group{"--group", {4}};
    listed<std::uint64_t> flush{"--flush", {}};
    listed<std::uint64_t> chunks{"--chunks", {2}};
    listed<double> forward{"--forward", {1}};
    listed<double> backward{"--backward", {2}};
    listed<double> weight_gradient{"--weight-gradient", {}};
    listed<double> sync{"--sync", {1}};
    listed<double> latency{"--latency", {0}};
};

std::size_t count_pipelines(asked const& from) {
    auto most = std::size_t{1};
    auto const look = [&](auto const& list) { most = std::max(most, list.values.size()); };
    auto const each = [&](auto const& visit) {
        visit(from.stages), visit(from.micro_batches), visit(from.group), visit(from.flush), visit(from.chunks);
        visit(from.forward), visit(from.backward), visit(from.weight_gradient), visit(from.sync), visit(from.latency);
    };
    each(look);
    each([&](auto const& list) {
        if (list.values.size() > 1 && list.values.size() != most) {
            refuse(list.option, fmt::format("1 value or {}, one per pipeline", most),
                   fmt::to_string(list.values.size()));
        }
    });
    return most;
}

evenkeel::schedule draw(std::string_view name, asked const& from, std::size_t pipeline) {
    auto const stages = stage_count{from.stages.of(pipeline)};
    auto const micro_batches = micro_batch_count{from.micro_batches.of(pipeline)};
    auto const group = group_size{from.group.of(pipeline)};
    auto const chunks = name == "interleaved" ? from.chunks.of(pipeline) : 1;
    if (6 * stages.value * chunks * micro_batches.value > most_instructions) {
        refuse("--micro-batches",
               fmt::format("at most {} with {} stages", most_instructions / 6 / stages.value / chunks,
                           stages.value * chunks),
               fmt::to_string(micro_batches.value));
    }
    if (syncs(name) && micro_batches.value % group.value != 0) {
        refuse("--group", fmt::format("a divisor of the {} micro-batches", micro_batches.value),
               fmt::to_string(group.value));
    }
    if (name == "gpipe") {
        return gpipe(stages, micro_batches);
    }
    if (name == "one_f_one_b") {
        return one_f_one_b(stages, micro_batches);
    }
    if (name == "zero_bubble_h1") {
        return zero_bubble_h1(stages, micro_batches);
    }
    if (name == "interleaved") {
        if (micro_batches.value % stages.value != 0) {
            refuse("--micro-batches", fmt::format("a multiple of the {} stages", stages.value),
                   fmt::to_string(micro_batches.value));
        }
        return interleaved({stages.value}, {chunks * stages.value}, micro_batches);
    }
    if (name == "gpipe_sync") {
        if (from.flush.values.empty()) {
            return gpipe_sync(stages, micro_batches, group);
        }
        auto const flush = from.flush.of(pipeline);
        if (flush % group.value != 0) {
            refuse("--flush", fmt::format("a multiple of the {} micro-batches of a group", group.value),
                   fmt::to_string(flush));
        }
        return gpipe_sync(stages, micro_batches, group, micro_batch_count{flush});
    }
    return distmm_pipe(stages, micro_batches, group);
}

pipeline_times times_of(asked const& from, evenkeel::schedule const& drawn, std::size_t pipeline) {
    // A stage that is cut into parts shares its time among them.
    auto const parts = static_cast<double>(drawn.stages / drawn.devices());
    auto const backward = from.backward.of(pipeline);
    auto const weight = from.weight_gradient.values.empty() ? backward / 2 : from.weight_gradient.of(pipeline);
    if (weight > backward) {
        refuse("--weight-gradient", fmt::format("at most the {} of --backward, of which it is a part", backward),
               fmt::to_string(weight));
    }
    auto times = uniform_times({drawn.stages},
                               {.forward = from.forward.of(pipeline) / parts,
                                .backward = backward / parts,
                                .input_gradient = (backward - weight) / parts,
                                .weight_gradient = weight / parts},
                               from.sync.of(pipeline));
    times.link.latency = from.latency.of(pipeline);
    return times;
}

/// Adds an option that takes a list, one value or one per pipeline.
template <class Value, class Read>
void add_list(CLI::App& app, listed<Value>& list, std::string const& help, std::string const& type, Read read) {
    auto const take = [&list, read](std::string const& text) {
        list.values.clear();
        for (auto const& cell : cells_of(text)) {
            list.values.push_back(read(cell));
        }
    };
    app.add_option_function<std::string>(list.option, take, help)
        ->type_name(type)
        ->default_str(list.values.empty() ? "" : fmt::to_string(list.values[0]));
}

void add_lists(CLI::App& app, asked& to) {
    auto const number = [&](listed<std::uint64_t>& list, std::uint64_t least, std::uint64_t most,
                            std::string const& help) {
        add_list(app, list, help, "N", [&list, least, most](std::string const& cell) {
            return whole_number(list.option, cell, least, most);
        });
    };
    auto const time = [&](listed<double>& list, std::string const& help) {
        add_list(app, list, help, "TIME", [&list](std::string const& cell) { return time_of(list.option, cell); });
    };
    number(to.stages, 1, most_stages, "Stages of the pipeline, each on a device of its own");
    number(to.micro_batches, 0, most_micro_batches, "Micro-batches between two updates of the weights");
    number(to.group, 1, most_micro_batches, "Micro-batches per batch-sync (gpipe_sync, distmm_pipe)");
    number(to.flush, 1, most_micro_batches,
           "Micro-batches between two flushes of gpipe_sync; left out, the groups that give every stage work");
    number(to.chunks, 1, most_stages, "Parts into which interleaved cuts each stage");
    time(to.forward, "A stage's forward of one micro-batch");
    time(to.backward, "A stage's backward of one micro-batch");
    time(to.weight_gradient, "What zero_bubble_h1 can put off of --backward; left out, half of it");
    time(to.sync, "A batch-sync (gpipe_sync, distmm_pipe)");
    time(to.latency, "From one stage to the next");
}

struct asked_files {
    std::optional<std::filesystem::path> json = {};
    std::optional<std::filesystem::path> plot = {};
    std::optional<std::filesystem::path> trace = {};
    std::optional<std::filesystem::path> csv = {};

    void open(schedule_options& to) const {
        auto files = open_outputs(std::array{output_path{"--json", json}, output_path{"--plot", plot},
                                             output_path{"--trace", trace}, output_path{"--csv", csv}});
        to.json = std::move(files[0]);
        to.plot = std::move(files[1]);
        to.trace = std::move(files[2]);
        to.csv = std::move(files[3]);
    }
};

/// The pipelines that are asked for, and their times.
void draw_all(asked const& from, asked_files const& paths, schedule_options& to) {
    auto const pipelines = count_pipelines(from);
    if (pipelines > 1 && !syncs(to.schedule)) {
        refuse("--schedule", "gpipe_sync or distmm_pipe for several pipelines", to.schedule);
    }
    if (pipelines > 1 && paths.csv) {
        refuse("--csv", "a single pipeline, which is what PyTorch knows", fmt::to_string(pipelines));
    }
    for (auto pipeline = std::size_t{0}; pipeline < pipelines; ++pipeline) {
        to.pipelines.push_back(draw(to.schedule, from, pipeline));
        to.times.push_back(times_of(from, to.pipelines.back(), pipeline));
        if (to.pipelines.back().syncs() != to.pipelines.front().syncs()) {
            refuse("--group", fmt::format("as many groups in every pipeline, {}", to.pipelines.front().syncs()),
                   fmt::to_string(to.pipelines.back().syncs()));
        }
    }
    to.stages_per_device = to.pipelines[0].stages / to.pipelines[0].devices();
}

}  // namespace

schedule_options parse_schedule_options(int count, char const* const* arguments,
                                        std::function<void(CLI::App&)> const& add_more) {
    auto result = schedule_options{};
    auto from = asked{};
    auto paths = asked_files{};

    auto app = CLI::App{
        "Draws a pipeline schedule, simulates it and says how long it takes and what it keeps in memory. Several "
        "pipelines that meet at their batch-syncs are given as lists, --stages 2,4 say."};
    app.name("draw_schedule");
    app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    add_choice(app, "--schedule", names, fmt::format("{}", fmt::join(names, ", ")), [&](std::size_t which) {
        result.schedule = names[which];
    })->default_str(result.schedule);
    add_lists(app, from);
    add_path(app, "--json", paths.json, "Write the timeline as JSON");
    add_path(app, "--plot", paths.plot, "Write the timeline as SVG");
    add_path(app, "--trace", paths.trace,
             "Write the timeline for chrome://tracing and ui.perfetto.dev; a unit is 1 ms");
    add_path(app, "--csv", paths.csv,
             "Write the schedule as PyTorch's pipelining reads it; batch-syncs are cells as 3S0");
    if (add_more) {
        add_more(app);
    }
    parse(app, count, arguments);

    draw_all(from, paths, result);
    paths.open(result);
    return result;
}

std::string headline(schedule_options const& options) {
    auto const counted = [](std::size_t number, std::string_view noun) {
        return fmt::format("{} {}{}", number, noun, number == 1 ? "" : noun.ends_with("h") ? "es" : "s");
    };
    auto text = options.schedule + ": ";
    for (auto const& drawn : options.pipelines) {
        text += &drawn == options.pipelines.data() ? "" : "; ";
        text += counted(drawn.devices(), "stage");
        if (drawn.stages > drawn.devices()) {
            text += fmt::format(" of {} parts", drawn.stages / drawn.devices());
        }
        text += ", " + counted(drawn.micro_batches, "micro-batch");
        if (drawn.group != 0) {
            text += fmt::format(" in groups of {}", drawn.group);
        }
    }
    return text;
}

}  // namespace evenkeel::examples
