// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <ranges>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "devices.hpp"
#include "examples/support/command_line.hpp"
#include "examples/support/processes.hpp"
#include "examples/support/text.hpp"

namespace evenkeel::perf {

using examples::refuse;
using examples::whole_number;

namespace {

#ifdef EVENKEEL_PERF_MPI
constexpr std::array<std::string_view, 5> known_subjects{"flat", "two_hop", "spread", "automatic", "alltoallv"};
#else
constexpr std::array<std::string_view, 4> known_subjects{"flat", "two_hop", "spread", "automatic"};
#endif

std::vector<std::string_view> known_backends() {
    std::vector<std::string_view> all(examples::backends().begin(), examples::backends().end());
    std::ranges::copy(device_backends(), std::back_inserter(all));
    return all;
}

std::vector<std::string> subjects_in(std::string_view text) {
    std::vector<std::string> result;
    for (auto rest = text; !rest.empty();) {
        auto const end = std::min(rest.find(','), rest.size());
        auto const name = rest.substr(0, end);
        if (std::ranges::find(known_subjects, name) == known_subjects.end()) {
            refuse("--algorithm", fmt::format("some of {}", fmt::join(known_subjects, ", ")),
                   examples::in_quotes(name));
        }
        result.emplace_back(name);
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return result;
}

std::uint64_t count_in(std::string_view option, std::string_view text, std::uint64_t least) {
    return whole_number(option, text, least, 1'000'000);
}

void add_size(CLI::App& app, std::string const& names, std::string const& option, std::uint64_t& target,
              std::string const& help) {
    app.add_option_function<std::string>(
           names, [&target, option](std::string const& text) { target = size_in(option, text); }, help)
        ->type_name("SIZE");
}

template <class Number>
void add_count(CLI::App& app, std::string const& names, std::string const& option, Number& target, std::uint64_t least,
               std::string const& help) {
    app.add_option_function<std::string>(
           names, [&target, option, least](std::string const& text) { target = count_in(option, text, least); }, help)
        ->type_name("COUNT");
}

/// Off with 0, on with any other number.
void add_switch(CLI::App& app, std::string const& names, std::string const& option, bool& target,
                std::string const& help) {
    app.add_option_function<std::string>(
           names, [&target, option](std::string const& text) { target = count_in(option, text, 0) != 0; }, help)
        ->type_name("COUNT");
}

/// The letters are those of nccl-tests.
void add_sizes(CLI::App& app, options& to) {
    add_size(app, "-b,--minbytes", "-b", to.smallest, "Bytes per rank to begin with: K, M, G are powers of 1024 [1K]");
    add_size(app, "-e,--maxbytes", "-e", to.largest, "and to end with [1M]");
    add_count(app, "-f,--stepfactor", "-f", to.factor, 2, "Each size is so many times the one before [4]");
}

void add_rounds(CLI::App& app, options& to) {
    add_count(app, "-n,--iters", "-n", to.iterations, 1, "Exchanges per round [20]");
    add_count(app, "-w,--warmup_iters", "-w", to.warmup, 0, "Exchanges before the first round [5]");
    add_switch(app, "-c,--check", "-c", to.check, "0: leave the bytes unchecked [1]");
    add_count(app, "--rounds", "--rounds", to.rounds, 1,
              "Rounds in which the algorithms take turns; the median is told [5]");
}

void add_ranks(CLI::App& app, options& to) {
    app.add_option("--backend", to.backend,
                   fmt::format("What moves the bytes: {} [threads]", fmt::join(known_backends(), ", ")));
    add_count(app, "--ranks", "--ranks", to.ranks, 1, "[8]");
    add_count(app, "--ranks-per-node", "--ranks-per-node", to.ranks_per_node, 0, "0: all ranks on one node [0]");
    app.add_option_function<std::string>(
           "--algorithm", [&to](std::string const& text) { to.subjects = subjects_in(text); },
           fmt::format("Some of {}, separated by commas [all]", fmt::join(known_subjects, ", ")))
        ->type_name("NAMES");
}

/// What the ranks send each other.
void add_traffic(CLI::App& app, options& to) {
    examples::add_path(app, "--matrix", to.matrix,
                       "Bytes from each rank (row) to each (column), separated by blanks, instead of equal blocks");
    examples::add_path(app, "--lengths", to.lengths, "Lengths of samples: the exchange that a plan for them needs");
    app.add_option("--plan", to.plan,
                   "scratch: no regard to homes; relabel: on other ranks; stay: move little [scratch]");
    app.add_option("--phase", to.phase, "The phase that is planned [llm]");
    add_count(app, "--samples", "--samples", to.samples_per_rank, 1, "Samples per rank [40]");
    add_size(app, "--bytes-per-token", "--bytes-per-token", to.bytes_per_token, "[1K]");
    add_switch(app, "--measure", "--measure", to.measure,
               "0: automatic reckons with defaults, not with measured links [1]");
    app.add_option_function<std::string>(
           "--pack", [&to](std::string const& text) { to.pack = size_in("--pack", text); },
           "Times packing samples of so many bytes out of 256M, beside one memcpy, and nothing else")
        ->type_name("SIZE");
}

void check_together(options& to) {
    if (to.largest < to.smallest) {
        refuse("-e", fmt::format("at least the {} bytes of -b", to.smallest), fmt::to_string(to.largest));
    }
    if (auto const known = known_backends(); std::ranges::find(known, to.backend) == known.end()) {
        refuse("--backend", fmt::format("one of {}", fmt::join(known, ", ")), examples::in_quotes(to.backend));
    }
    constexpr std::array<std::string_view, 3> known_plans{"scratch", "relabel", "stay"};
    if (std::ranges::find(known_plans, to.plan) == known_plans.end()) {
        refuse("--plan", fmt::format("one of {}", fmt::join(known_plans, ", ")), examples::in_quotes(to.plan));
    }
    if (to.ranks_per_node == 0) {
        to.ranks_per_node = to.ranks;
    }
    if (to.ranks % to.ranks_per_node != 0) {
        refuse("--ranks-per-node", fmt::format("a divisor of the {} ranks", to.ranks),
               fmt::to_string(to.ranks_per_node));
    }
    if (to.pack && (*to.pack == 0 || *to.pack > (std::uint64_t{1} << 28U))) {
        refuse("--pack", "a size from 1 to 256M", fmt::to_string(*to.pack));
    }
    if (to.matrix && to.lengths) {
        refuse("--matrix", "either this or --lengths", "both");
    }
    if (to.subjects.empty()) {
        for (auto const name : known_subjects) {
            if (name != "alltoallv" || to.backend == "mpi") {
                to.subjects.emplace_back(name);
            }
        }
    }
    if (to.backend != "mpi" && std::ranges::find(to.subjects, "alltoallv") != to.subjects.end()) {
        refuse("--algorithm", "alltoallv with --backend mpi alone", to.backend);
    }
}

}  // namespace

std::uint64_t size_in(std::string_view option, std::string_view text) {
    auto digits = text;
    std::uint64_t unit = 1;
    if (!text.empty()) {
        auto const letter = std::string_view{"KMG"}.find(text.back());
        if (letter != std::string_view::npos) {
            unit = std::uint64_t{1} << (10 * (letter + 1));
            digits.remove_suffix(1);
        }
    }
    return whole_number(option, digits, 0, (std::uint64_t{1} << 40U) / unit) * unit;
}

options parse_options(int count, char const* const* arguments) {
    options result;
    std::optional<std::filesystem::path> json;
    CLI::App app{"Times exchanges between ranks and checks every byte."};
    app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    add_sizes(app, result);
    add_rounds(app, result);
    add_ranks(app, result);
    add_traffic(app, result);
    examples::add_path(app, "--json", json, "Writes one object per row");
    examples::parse(app, count, arguments);

    check_together(result);
    auto const files = std::array{examples::output_path{.option = "--json", .path = json}};
    auto const inputs = std::array{examples::output_path{.option = "--matrix", .path = result.matrix},
                                   examples::output_path{.option = "--lengths", .path = result.lengths}};
    result.json = std::move(examples::open_outputs(files, inputs).front());
    return result;
}

}  // namespace evenkeel::perf
