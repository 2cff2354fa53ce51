// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "command_line.hpp"
#include "processes.hpp"
#include "text.hpp"
#include "tri_modal.hpp"

namespace evenkeel::examples {
namespace {

/// Each rank is a thread.
constexpr auto most_ranks = std::uint64_t{16'384};
constexpr auto most_bytes_per_token = std::uint64_t{1} << 30u;
constexpr auto most_samples = std::uint64_t{1} << 63u;
constexpr auto most_generated = std::uint64_t{1'000'000};

constexpr auto method_names = std::array<std::string_view, 4>{"scratch", "relabel", "stay", "llm_only"};

/// The words of "llm,image"; an empty one is one, too.
std::vector<std::string> words_of(std::string_view list) {
    auto result = std::vector<std::string>{};
    for (auto begin = std::size_t{0}; begin <= list.size();) {
        auto const end = std::min(list.find(',', begin), list.size());
        result.emplace_back(list.substr(begin, end - begin));
        begin = end + 1;
    }
    return result;
}

/// The two numbers of "1/256"; of "1", 1 and 1.
void set_scale(std::string const& text, payload_scale& scale) {
    auto const bar = text.find('/');
    if (bar == text.npos && text != "1") {
        refuse("--payload-scale", "a part A/B such as 1/256, or 1", in_quotes(text));
    }
    constexpr auto most = std::uint64_t{1'000'000};
    scale.numerator = whole_number("--payload-scale: numerator", text.substr(0, bar), 1, most);
    scale.denominator =
        bar == text.npos ? 1 : whole_number("--payload-scale: denominator", text.substr(bar + 1), 1, most);
    if (scale.numerator > scale.denominator) {
        refuse("--payload-scale", "at most 1", in_quotes(text));
    }
}

/// What is balanced, and over what. @return `--ranks-per-node`, which may be left out
CLI::Option const* add_samples_and_ranks(CLI::App& app, options& to) {
    add_path(
        app, "--lengths", to.lengths,
        "CSV of token lengths: the header names the columns, one row per sample; a cell of several units, 256+256+88, "
        "is balanced as a whole (default: made-up rows)");
    add_number(app, "--seed", to.seed, 0, no_limit, "Seed of the made-up rows of text, image and audio");
    add_number(app, "--ranks", to.ranks, 1, most_ranks, "How many ranks share the work");
    auto const* const nodes =
        add_number(app, "--ranks-per-node", to.ranks_per_node, 1, no_limit,
                   "Ranks that share fast links; left out, the largest divisor of the ranks up to 8");
    add_number(app, "--samples-per-rank", to.samples_per_rank, 1, no_limit, "Rows that each rank draws per step");
    add_number(app, "--steps", to.steps, 1, no_limit, "Training steps; rows repeat from the first when they run out");
    return nodes;
}

/// How it is balanced.
void add_methods(CLI::App& app, options& to) {
    add_choice(app, "--method", method_names,
               "How to balance: stay moves as little as possible, relabel and scratch plan without regard to where "
               "samples are, and relabel then chooses the ranks of the batches; llm_only balances the llm as stay "
               "does, and encoders run where their samples are then",
               [&to](std::size_t which) { to.method = static_cast<method>(which); })
        ->default_str(std::string{name_of(to.method)});
    app.add_flag("--compare", to.compare,
                 "Balance by every method and show the results side by side: in the rows of llm_only, what encoders "
                 "lose where only the llm is balanced");
    app.add_option_function<std::string>(
           "--phases", [&to](std::string const& text) { to.phases = words_of(text); },
           "Only these phases, separated by commas: llm,image (default: all); to the llm, what belongs to a phase left "
           "out is text")
        ->type_name("NAMES");
}

/// What moves, over what, and when.
void add_movement(CLI::App& app, options& to) {
    app.add_option_function<std::string>(
           "--backend",
           [&to](std::string const& text) {
               if (std::ranges::find(backends(), text) == backends().end()) {
                   auto const expected = fmt::format("one of: {}", fmt::join(backends(), ", "));
                   refuse("--backend", text == "mpi" ? expected + " (this build has no MPI)" : expected,
                          in_quotes(text));
               }
               to.backend = text;
           },
           fmt::format("What moves the bytes: {}", fmt::join(backends(), ", ")))
        ->type_name("NAME")
        ->default_str(to.backend);
    app.add_option_function<std::string>(
           "--payload-scale", [&to](std::string const& text) { set_scale(text, to.scale); },
           "How much of a token's bytes really travels: a part such as 1/256, rounded up, or 1 for all")
        ->type_name("A/B")
        ->default_str(fmt::format("{}/{}", to.scale.numerator, to.scale.denominator));
    app.add_option_function<std::string>(
           "--bytes-per-token",
           [&to](std::string const& text) {
               to.scale.fixed = whole_number("--bytes-per-token", text, 1, most_bytes_per_token);
           },
           "Let as many bytes travel with every token instead")
        ->type_name("N");
    static constexpr auto overlaps = std::array<std::string_view, 2>{"on", "off"};
    add_choice(app, "--overlap", overlaps,
               "Run the steps through a dispatcher as well and show what each rank waited: on prepares a step while "
               "the one before computes, which is a sleep of 20 ms, off does not",
               [&to](std::size_t which) { to.overlap = overlaps[which] == "on"; });
}

bool has_llm(options const& options) {
    return options.phases.empty() || std::ranges::find(options.phases, "llm") != options.phases.end();
}

void check_together(options& options, bool nodes_given, std::optional<std::filesystem::path> const& json,
                    std::optional<std::filesystem::path> const& plot) {
    if (!nodes_given) {
        while (options.ranks % options.ranks_per_node != 0) {
            --options.ranks_per_node;
        }
    }
    if (options.ranks % options.ranks_per_node != 0) {
        refuse("--ranks-per-node", fmt::format("a divisor of the {} ranks", options.ranks),
               fmt::to_string(options.ranks_per_node));
    }
    if (options.method == method::llm_only && !has_llm(options)) {
        refuse("--phases", "llm among them with --method llm_only",
               in_quotes(fmt::format("{}", fmt::join(options.phases, ","))));
    }
    if (options.method == method::llm_only && options.overlap) {
        refuse("--method", "scratch, relabel or stay with --overlap", in_quotes(name_of(options.method)));
    }
    auto const most = most_samples / options.ranks / options.steps;
    if (options.samples_per_rank > most) {
        refuse("--samples-per-rank",
               fmt::format("at most {} with --ranks {} and --steps {}", most, options.ranks, options.steps),
               fmt::to_string(options.samples_per_rank));
    }
    auto const outputs = std::array{output_path{"--json", json}, output_path{"--plot", plot}};
    auto files = open_outputs(outputs, std::array{output_path{"--lengths", options.lengths}});
    options.json = std::move(files[0]);
    options.plot = std::move(files[1]);
}

}  // namespace

options parse_options(int count, char const* const* arguments) {
    auto result = options{};
    auto json = std::optional<std::filesystem::path>{};
    auto plot = std::optional<std::filesystem::path>{};

    auto app = CLI::App{
        "Balances the samples of a training step over its ranks, moves their bytes there and checks every one."};
    app.name("balance_a_trace");
    app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    auto const* const nodes = add_samples_and_ranks(app, result);
    add_methods(app, result);
    add_movement(app, result);
    add_path(app, "--json", json, "Write the result as JSON");
    add_path(app, "--plot", plot, "Write the loads per rank, before and after, as SVG");

    parse(app, count, arguments);
    check_together(result, !nodes->empty(), json, plot);
    return result;
}

std::string_view name_of(method method) noexcept { return method_names.at(static_cast<std::size_t>(method)); }

std::vector<method> methods_of(options const& options) {
    if (!options.compare) {
        return {options.method};
    }
    std::vector result{method::scratch, method::relabel, method::stay};
    if (has_llm(options)) {
        result.push_back(method::llm_only);
    }
    return result;
}

std::vector<phase_lengths> chosen_phases(options const& options, std::span<phase_lengths const> all) {
    for (auto const& name : options.phases) {
        if (std::ranges::find(all, name, &phase_lengths::name) == all.end()) {
            auto names = std::vector<std::string>{};
            std::ranges::transform(all, std::back_inserter(names),
                                   [](auto const& phase) { return printable(phase.name); });
            refuse("--phases", fmt::format("some of: {}", fmt::join(names, ", ")), in_quotes(name));
        }
    }
    auto result = std::vector<phase_lengths>{};
    std::ranges::copy_if(all, std::back_inserter(result), [&](auto const& phase) {
        return options.phases.empty() || std::ranges::find(options.phases, phase.name) != options.phases.end();
    });
    return result;
}

trace read_or_generate(options const& options) {
    if (options.lengths) {
        return read_trace(*options.lengths);
    }
    auto const rows = std::min<std::uint64_t>(most_generated, options.drawing().samples() * options.steps);
    return tri_modal(rows, options.seed);
}

std::string headline(options const& options, trace const& trace) {
    auto const counted = [](std::size_t count, std::string_view noun) {
        return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
    };
    auto const source = options.lengths
                            ? fmt::format("lengths from {} ({})", printable(options.lengths->filename().string()),
                                          counted(trace.rows(), "row"))
                            : fmt::format("made-up lengths (seed {})", options.seed);
    return fmt::format("{} on {}, {} per rank, {}, backend {}, {}", counted(options.ranks, "rank"),
                       counted(options.ranks / options.ranks_per_node, "node"),
                       counted(options.samples_per_rank, "sample"), counted(options.steps, "step"), options.backend,
                       source);
}

}  // namespace evenkeel::examples
