// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <algorithm>
#include <array>
#include <functional>
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
    CLI::App app{"Times exchanges between ranks and checks every byte."};
    app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    std::optional<std::filesystem::path> json;
    auto const add = [&](std::string const& name, std::string const& help, auto take) {
        return app.add_option_function<std::string>(name, take, help);
    };
    auto const add_size = [&](std::string const& name, std::string const& option, std::uint64_t& target,
                              std::string const& help) {
        add(name, help, [&target, option](std::string const& text) {
            target = size_in(option, text);
        })->type_name("SIZE");
    };
    auto const add_count = [&](std::string const& name, std::string const& option, std::size_t& target,
                               std::uint64_t least, std::string const& help) {
        add(name, help, [&target, option, least](std::string const& text) {
            target = whole_number(option, text, least, 1'000'000);
        })->type_name("COUNT");
    };
    std::size_t check = 1;
    std::size_t measure = 1;
    add_size("-b,--minbytes", "-b", result.smallest, "Bytes per rank to begin with: K, M, G are powers of 1024 [1K]");
    add_size("-e,--maxbytes", "-e", result.largest, "and to end with [1M]");
    add_count("-f,--stepfactor", "-f", result.factor, 2, "Each size is so many times the one before [4]");
    add_count("-n,--iters", "-n", result.iterations, 1, "Exchanges per round [20]");
    add_count("-w,--warmup_iters", "-w", result.warmup, 0, "Exchanges before the first round [5]");
    add_count("-c,--check", "-c", check, 0, "0: leave the bytes unchecked [1]");
    add_count("--rounds", "--rounds", result.rounds, 1,
              "Rounds in which the algorithms take turns; the median is told [5]");
    app.add_option("--backend", result.backend,
                   fmt::format("What moves the bytes: {} [threads]", fmt::join(known_backends(), ", ")));
    add_count("--ranks", "--ranks", result.ranks, 1, "[8]");
    add_count("--ranks-per-node", "--ranks-per-node", result.ranks_per_node, 0, "0: all ranks on one node [0]");
    add("--algorithm", fmt::format("Some of {}, separated by commas [all]", fmt::join(known_subjects, ", ")),
        [&](std::string const& text) { result.subjects = subjects_in(text); })
        ->type_name("NAMES");
    examples::add_path(app, "--matrix", result.matrix,
                       "Bytes from each rank (row) to each (column), separated by blanks, instead of equal blocks");
    examples::add_path(app, "--lengths", result.lengths, "Lengths of samples: the exchange that a plan for them needs");
    app.add_option("--plan", result.plan,
                   "scratch: no regard to homes; relabel: on other ranks; stay: move little [scratch]");
    app.add_option("--phase", result.phase, "The phase that is planned [llm]");
    add_count("--samples", "--samples", result.samples_per_rank, 1, "Samples per rank [40]");
    add_size("--bytes-per-token", "--bytes-per-token", result.bytes_per_token, "[1K]");
    add_count("--measure", "--measure", measure, 0, "0: automatic reckons with defaults, not with measured links [1]");
    add("--pack", "Times packing samples of so many bytes out of 256M, beside one memcpy, and nothing else",
        [&](std::string const& text) { result.pack = size_in("--pack", text); })
        ->type_name("SIZE");
    examples::add_path(app, "--json", json, "Writes one object per row");
    examples::parse(app, count, arguments);

    result.check = check != 0;
    result.measure = measure != 0;
    if (result.largest < result.smallest) {
        refuse("-e", fmt::format("at least the {} bytes of -b", result.smallest), fmt::to_string(result.largest));
    }
    if (auto const known = known_backends(); std::ranges::find(known, result.backend) == known.end()) {
        refuse("--backend", fmt::format("one of {}", fmt::join(known, ", ")), examples::in_quotes(result.backend));
    }
    constexpr std::array<std::string_view, 3> known_plans{"scratch", "relabel", "stay"};
    if (std::ranges::find(known_plans, result.plan) == known_plans.end()) {
        refuse("--plan", fmt::format("one of {}", fmt::join(known_plans, ", ")), examples::in_quotes(result.plan));
    }
    if (result.ranks_per_node == 0) {
        result.ranks_per_node = result.ranks;
    }
    if (result.ranks % result.ranks_per_node != 0) {
        refuse("--ranks-per-node", fmt::format("a divisor of the {} ranks", result.ranks),
               fmt::to_string(result.ranks_per_node));
    }
    if (result.pack && (*result.pack == 0 || *result.pack > (std::uint64_t{1} << 28U))) {
        refuse("--pack", "a size from 1 to 256M", fmt::to_string(*result.pack));
    }
    if (result.matrix && result.lengths) {
        refuse("--matrix", "either this or --lengths", "both");
    }
    if (result.subjects.empty()) {
        for (auto const name : known_subjects) {
            if (name != "alltoallv" || result.backend == "mpi") {
                result.subjects.emplace_back(name);
            }
        }
    }
    if (result.backend != "mpi" && std::ranges::find(result.subjects, "alltoallv") != result.subjects.end()) {
        refuse("--algorithm", "alltoallv with --backend mpi alone", result.backend);
    }
    auto const files = std::array{examples::output_path{.option = "--json", .path = json}};
    auto const inputs = std::array{examples::output_path{.option = "--matrix", .path = result.matrix},
                                   examples::output_path{.option = "--lengths", .path = result.lengths}};
    result.json = std::move(examples::open_outputs(files, inputs).front());
    return result;
}

}  // namespace evenkeel::perf
