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

}  // namespace

schedule_options parse_schedule_options(int count, char const* const* arguments,
                                        std::function<void(CLI::App&)> const& add_more) {
    auto result = schedule_options{};
    auto from = asked{};
    auto json = std::optional<std::filesystem::path>{};
    auto plot = std::optional<std::filesystem::path>{};
    auto trace = std::optional<std::filesystem::path>{};
    auto csv = std::optional<std::filesystem::path>{};

    auto app = CLI::App{
        "Draws a pipeline schedule, simulates it and says how long it takes and what it keeps in memory. Several "
        "pipelines that meet at their batch-syncs are given as lists, --stages 2,4 say."};
    app.name("draw_schedule");
    app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);

    auto const add = [&](auto& list, std::string const& help, std::string const& type, std::string const& standard,
                         auto const& read) {
        app.add_option_function<std::string>(
               list.option,
               [&list, read](std::string const& text) {
                   list.values.clear();
                   for (auto const& cell : cells_of(text)) {
                       list.values.push_back(read(cell));
                   }
               },
               help)
            ->type_name(type)
            ->default_str(standard);
    };
    auto const number = [&](listed<std::uint64_t>& list, std::uint64_t least, std::uint64_t most,
                            std::string const& help) {
        add(list, help, "N", list.values.empty() ? "" : fmt::to_string(list.values[0]),
            [&list, least, most](std::string const& cell) { return whole_number(list.option, cell, least, most); });
    };
    auto const time = [&](listed<double>& list, std::string const& help) {
        add(list, help, "TIME", list.values.empty() ? "" : fmt::to_string(list.values[0]),
            [&list](std::string const& cell) { return time_of(list.option, cell); });
    };

    app.add_option_function<std::string>(
           "--schedule",
           [&](std::string const& text) {
               if (std::find(names.begin(), names.end(), text) == names.end()) {
                   refuse("--schedule", fmt::format("one of: {}", fmt::join(names, ", ")), in_quotes(text));
               }
               result.schedule = text;
           },
           fmt::format("{}", fmt::join(names, ", ")))
        ->type_name("NAME")
        ->default_str(result.schedule);
    number(from.stages, 1, most_stages, "Stages of the pipeline, each on a device of its own");
    number(from.micro_batches, 0, most_micro_batches, "Micro-batches between two updates of the weights");
    number(from.group, 1, most_micro_batches, "Micro-batches per batch-sync (gpipe_sync, distmm_pipe)");
    number(from.flush, 1, most_micro_batches,
           "Micro-batches between two flushes of gpipe_sync; left out, the groups that give every stage work");
    number(from.chunks, 1, most_stages, "Parts into which interleaved cuts each stage");
    time(from.forward, "A stage's forward of one micro-batch");
    time(from.backward, "A stage's backward of one micro-batch");
    time(from.weight_gradient, "What zero_bubble_h1 can put off of --backward; left out, half of it");
    time(from.sync, "A batch-sync (gpipe_sync, distmm_pipe)");
    time(from.latency, "From one stage to the next");
    add_path(app, "--json", json, "Write the timeline as JSON");
    add_path(app, "--plot", plot, "Write the timeline as SVG");
    add_path(app, "--trace", trace, "Write the timeline for chrome://tracing and ui.perfetto.dev; a unit is 1 ms");
    add_path(app, "--csv", csv, "Write the schedule as PyTorch's pipelining reads it; batch-syncs are cells as 3S0");

    if (add_more) {
        add_more(app);
    }
    parse(app, count, arguments);
    auto const pipelines = count_pipelines(from);
    if (pipelines > 1 && !syncs(result.schedule)) {
        refuse("--schedule", "gpipe_sync or distmm_pipe for several pipelines", result.schedule);
    }
    if (pipelines > 1 && csv) {
        refuse("--csv", "a single pipeline, which is what PyTorch knows", fmt::to_string(pipelines));
    }
    for (auto pipeline = std::size_t{0}; pipeline < pipelines; ++pipeline) {
        result.pipelines.push_back(draw(result.schedule, from, pipeline));
        result.times.push_back(times_of(from, result.pipelines.back(), pipeline));
        if (result.pipelines.back().syncs() != result.pipelines.front().syncs()) {
            refuse("--group", fmt::format("as many groups in every pipeline, {}", result.pipelines.front().syncs()),
                   fmt::to_string(result.pipelines.back().syncs()));
        }
    }
    result.stages_per_device = result.pipelines[0].stages / result.pipelines[0].devices();

    auto const outputs = std::array{output_path{"--json", json}, output_path{"--plot", plot},
                                    output_path{"--trace", trace}, output_path{"--csv", csv}};
    auto files = open_outputs(outputs);
    result.json = std::move(files[0]);
    result.plot = std::move(files[1]);
    result.trace = std::move(files[2]);
    result.csv = std::move(files[3]);
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
