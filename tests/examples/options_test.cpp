// SPDX-License-Identifier: Apache-2.0
#include "examples/support/options.hpp"

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "examples/support/input_error.hpp"
#include "examples/support/processes.hpp"
#include "examples/support/tri_modal.hpp"
#include "tests/examples/temporary_folder.hpp"

namespace evenkeel::examples::options_test {
namespace {

options parsed(std::vector<std::string> const& words) {
    auto arguments = std::vector<char const*>{"balance_a_trace"};
    for (auto const& word : words) {
        arguments.push_back(word.c_str());
    }
    return parse_options(static_cast<int>(arguments.size()), arguments.data());
}

std::string refusal(std::vector<std::string> const& words) {
    return complaint<input_error>([&] { (void)parsed(words); });
}

TEST(options, have_the_documented_defaults) {
    auto const options = parsed({});

    EXPECT_FALSE(options.lengths);
    EXPECT_EQ(options.ranks, 64u);
    EXPECT_EQ(options.ranks_per_node, 8u);
    EXPECT_EQ(options.samples_per_rank, 40u);
    EXPECT_EQ(options.steps, 1u);
    EXPECT_EQ(options.method, method::stay);
    EXPECT_FALSE(options.compare);
    EXPECT_TRUE(options.phases.empty());
    EXPECT_EQ(options.backend, "threads");
    EXPECT_EQ(options.scale, payload_scale{});
    EXPECT_FALSE(options.overlap);
    EXPECT_FALSE(options.json);
    EXPECT_FALSE(options.plot);
}

TEST(options, are_read_from_the_command_line) {
    auto const folder = temporary_folder{};
    auto const options = parsed({"--lengths",
                                 "some.csv",
                                 "--seed=18446744073709551615",
                                 "--ranks",
                                 "12",
                                 "--ranks-per-node=4",
                                 "--samples-per-rank",
                                 "010",
                                 "--steps",
                                 "3",
                                 "--backend",
                                 "threads",
                                 "--payload-scale",
                                 "3/4",
                                 "--bytes-per-token",
                                 "2",
                                 "--json",
                                 (folder / "r.json").string(),
                                 "--plot",
                                 (folder / "p.svg").string()});

    EXPECT_EQ(options.lengths, "some.csv");
    EXPECT_EQ(options.seed, UINT64_MAX);
    EXPECT_EQ(options.ranks, 12u);
    EXPECT_EQ(options.ranks_per_node, 4u);
    EXPECT_EQ(options.samples_per_rank, 10u) << "a leading zero is no octal number";
    EXPECT_EQ(options.steps, 3u);
    EXPECT_EQ(options.scale, (payload_scale{.numerator = 3, .denominator = 4, .fixed = 2}));
    ASSERT_TRUE(options.json);
    EXPECT_TRUE(options.json->same_as(folder / "r.json"));
    ASSERT_TRUE(options.plot);
    EXPECT_TRUE(folder.names().empty());
}

TEST(options, let_a_part_of_the_payload_travel_or_all) {
    EXPECT_EQ(parsed({"--payload-scale", "1"}).scale, (payload_scale{.numerator = 1, .denominator = 1}));
    EXPECT_EQ(parsed({"--payload-scale", "2/2"}).scale, (payload_scale{.numerator = 2, .denominator = 2}));
}

TEST(options, choose_the_method) {
    EXPECT_EQ(parsed({"--method", "scratch"}).method, method::scratch);
    EXPECT_EQ(parsed({"--method", "relabel"}).method, method::relabel);
    EXPECT_EQ(methods_of(parsed({"--method=relabel"})), std::vector{method::relabel});
    EXPECT_EQ(methods_of(parsed({"--compare"})),
              (std::vector{method::scratch, method::relabel, method::stay, method::llm_only}));
    EXPECT_EQ(parsed({"--method", "llm_only"}).method, method::llm_only);
    EXPECT_EQ(name_of(method::llm_only), "llm_only");
    EXPECT_EQ(name_of(method::stay), "stay");
}

TEST(options, compare_what_only_an_llm_loses_where_there_is_an_llm) {
    EXPECT_EQ(methods_of(parsed({"--compare", "--phases", "image,llm"})).back(), method::llm_only);
    EXPECT_EQ(methods_of(parsed({"--compare", "--phases", "image"})).back(), method::stay);
}

TEST(options, run_the_dispatcher_with_or_without_overlap) {
    EXPECT_EQ(parsed({"--overlap", "on"}).overlap, true);
    EXPECT_EQ(parsed({"--overlap", "off"}).overlap, false);
    EXPECT_EQ(refusal({"--overlap", "yes"}), "--overlap: expected one of: on, off, got 'yes'");
}

TEST(options, choose_phases_which_keep_their_order) {
    auto const all = std::vector<phase_lengths>{{.name = "image"}, {.name = "audio"}, {.name = "llm"}};
    auto const names = [&](options const& options) {
        auto result = std::string{};
        for (auto const& phase : chosen_phases(options, all)) {
            result += phase.name + " ";
        }
        return result;
    };
    EXPECT_EQ(names(parsed({})), "image audio llm ");
    EXPECT_EQ(names(parsed({"--phases", "llm,image"})), "image llm ");
    for (auto const* const wrong : {"video", "", "llm,"}) {
        auto const options = parsed({"--phases", wrong});
        auto const got = std::string{wrong} == "video" ? "'video'" : "''";
        EXPECT_EQ(complaint<input_error>([&] { (void)chosen_phases(options, all); }),
                  std::string{"--phases: expected some of: image, audio, llm, got "} + got);
    }
}

TEST(options, take_the_last_of_several_values) { EXPECT_EQ(parsed({"--ranks", "8", "--ranks", "16"}).ranks, 16u); }

TEST(options, find_nodes_that_divide_the_ranks_unless_told) {
    EXPECT_EQ(parsed({"--ranks", "4"}).ranks_per_node, 4u);
    EXPECT_EQ(parsed({"--ranks", "12"}).ranks_per_node, 6u);
    EXPECT_EQ(parsed({"--ranks", "13"}).ranks_per_node, 1u);
    EXPECT_EQ(refusal({"--ranks", "12", "--ranks-per-node", "8"}),
              "--ranks-per-node: expected a divisor of the 12 ranks, got 8");
}

TEST(options, give_help_when_asked) {
    auto const help = complaint<help_wanted>([] { (void)parsed({"--help"}); });
    for (auto const* const option : {"--lengths", "--seed", "--ranks", "--ranks-per-node", "--samples-per-rank",
                                     "--steps", "--method", "--compare", "--phases", "--backend", "--payload-scale",
                                     "--bytes-per-token", "--overlap", "--json", "--plot", "llm_only"}) {
        EXPECT_NE(help.find(option), std::string::npos) << option;
    }
}

struct bad_line {
    std::vector<std::string> words;
    std::string said;
};

std::ostream& operator<<(std::ostream& out, bad_line const& line) {
    for (auto const& word : line.words) {
        out << word << ' ';
    }
    return out;
}

class bad_options : public testing::TestWithParam<bad_line> {};

TEST_P(bad_options, are_refused_in_one_line_that_says_what_was_expected) {
    EXPECT_EQ(refusal(GetParam().words), GetParam().said);
}

INSTANTIATE_TEST_SUITE_P(
    lines, bad_options,
    testing::Values(
        bad_line{{"--ranks", "0"}, "--ranks: expected a whole number from 1 to 16384, got 0"},
        bad_line{{"--ranks", "-3"}, "--ranks: expected a whole number from 1 to 16384, got -3"},
        bad_line{{"--ranks=-3"}, "--ranks: expected a whole number from 1 to 16384, got -3"},
        bad_line{{"--ranks", "many"}, "--ranks: expected a whole number from 1 to 16384, got 'many'"},
        bad_line{{"--ranks", "8.0"}, "--ranks: expected a whole number from 1 to 16384, got '8.0'"},
        bad_line{{"--ranks", "8 "}, "--ranks: expected a whole number from 1 to 16384, got '8 '"},
        bad_line{{"--ranks", "+8"}, "--ranks: expected a whole number from 1 to 16384, got '+8'"},
        bad_line{{"--ranks", "0x8"}, "--ranks: expected a whole number from 1 to 16384, got '0x8'"},
        bad_line{{"--ranks", ""}, "--ranks: expected a whole number from 1 to 16384, got ''"},
        bad_line{{"--ranks", "\n"}, "--ranks: expected a whole number from 1 to 16384, got '\\x0a'"},
        bad_line{{"--ranks", "18446744073709551617"},
                 "--ranks: expected a whole number from 1 to 16384, got 18446744073709551617"},
        bad_line{{"--ranks"}, "--ranks: expected a value, got none"},
        bad_line{{"--ranks", "8", "--json"}, "--json: expected a value, got none"},
        bad_line{{"--ranks", "--json"}, "--ranks: expected a whole number from 1 to 16384, got '--json'"},
        bad_line{{"--ranks-per-node", "0"}, "--ranks-per-node: expected a whole number of at least 1, got 0"},
        bad_line{{"--ranks", "10", "--ranks-per-node", "3"},
                 "--ranks-per-node: expected a divisor of the 10 ranks, got 3"},
        bad_line{{"--ranks-per-node", "128"}, "--ranks-per-node: expected a divisor of the 64 ranks, got 128"},
        bad_line{{"--samples-per-rank", "0"}, "--samples-per-rank: expected a whole number of at least 1, got 0"},
        bad_line{{"--samples-per-rank", "9223372036854775807", "--ranks", "4", "--steps", "2"},
                 "--samples-per-rank: expected at most 1152921504606846976 with --ranks 4 and --steps 2, got "
                 "9223372036854775807"},
        bad_line{{"--method", "luck"}, "--method: expected one of: scratch, relabel, stay, llm_only, got 'luck'"},
        bad_line{{"--method", "llm_only", "--overlap", "on"},
                 "--method: expected scratch, relabel or stay with --overlap, got 'llm_only'"},
        bad_line{{"--method", "llm_only", "--phases", "image,audio"},
                 "--phases: expected llm among them with --method llm_only, got 'image,audio'"},
        bad_line{{"--phases"}, "--phases: expected a value, got none"},
        bad_line{{"--steps", "0"}, "--steps: expected a whole number of at least 1, got 0"},
        bad_line{{"--payload-scale", "1/0"},
                 "--payload-scale: denominator: expected a whole number from 1 to 1000000, got 0"},
        bad_line{{"--payload-scale", "0/2"},
                 "--payload-scale: numerator: expected a whole number from 1 to 1000000, got 0"},
        bad_line{{"--payload-scale", "1/"},
                 "--payload-scale: denominator: expected a whole number from 1 to 1000000, got ''"},
        bad_line{{"--payload-scale", "0.5"}, "--payload-scale: expected a part A/B such as 1/256, or 1, got '0.5'"},
        bad_line{{"--payload-scale", "x"}, "--payload-scale: expected a part A/B such as 1/256, or 1, got 'x'"},
        bad_line{{"--payload-scale", "2"}, "--payload-scale: expected a part A/B such as 1/256, or 1, got '2'"},
        bad_line{{"--payload-scale", "3/2"}, "--payload-scale: expected at most 1, got '3/2'"},
        bad_line{{"--bytes-per-token", "0"}, "--bytes-per-token: expected a whole number from 1 to 1073741824, got 0"},
        bad_line{{"--seed", "x"}, "--seed: expected a whole number of at least 0, got 'x'"},
        bad_line{{"--rank", "8"}, "'--rank': unknown option, --help lists all options"},
        bad_line{{"-r8"}, "'-r8': unknown option, --help lists all options"},
        bad_line{{"mix.csv"}, "'mix.csv': unexpected argument, --help lists all options"},
        bad_line{{"--json", ""}, "--json: expected a file, got ''"},
        bad_line{{"--lengths", ""}, "--lengths: expected a file, got ''"},
        bad_line{{"--json", "/no/such/r.json"},
                 "--json: '/no/such/r.json' cannot be written: No such file or directory"},
        bad_line{{"--plot", "/"}, "--plot: '/' cannot be written: it names a folder"},
        bad_line{{"--plot", "/dev/null"}, "--plot: '/dev/null' cannot be written: it is no regular file"}));

TEST(options, name_the_backends_of_this_build) {
    bool const with_mpi = std::ranges::find(backends(), "mpi") != backends().end();
    EXPECT_EQ(refusal({"--backend", "carrier pigeon"}), std::string{"--backend: expected one of: threads"} +
                                                            (with_mpi ? ", mpi" : "") + ", got 'carrier pigeon'");
    if (with_mpi) {
        EXPECT_EQ(parsed({"--backend", "mpi"}).backend, "mpi");
    } else {
        EXPECT_EQ(refusal({"--backend", "mpi"}),
                  "--backend: expected one of: threads (this build has no MPI), got 'mpi'");
    }
}

TEST(options, refuse_two_outputs_in_one_file) {
    auto const folder = temporary_folder{};
    auto const one = (folder / "one").string();
    auto const same = (folder / "./one").string();
    EXPECT_EQ(refusal({"--json", one, "--plot", same}),
              "--plot: expected a file other than that of --json, got '" + printable(same) + "'");
}

TEST(options, refuse_to_write_over_the_lengths) {
    auto const folder = temporary_folder{};
    auto const file = folder.write("lengths", "text\n1\n").string();
    EXPECT_TRUE(refusal({"--lengths", file, "--json", file})
                    .starts_with("--json: expected a file other than that of --lengths"));
    EXPECT_EQ(folder.read("lengths"), "text\n1\n");
}

TEST(options, say_in_one_line_what_will_run) {
    auto const folder = temporary_folder{};
    auto const file = folder.write("mix.csv", "text\n1\n2\n").string();
    auto const options = parsed({"--lengths", file});

    EXPECT_EQ(headline(options, read_or_generate(options)),
              "64 ranks on 8 nodes, 40 samples per rank, 1 step, backend threads, lengths from mix.csv (2 rows)");
    EXPECT_EQ(headline(parsed({"--ranks", "1", "--samples-per-rank", "1", "--steps", "2", "--seed", "5"}), {}),
              "1 rank on 1 node, 1 sample per rank, 2 steps, backend threads, made-up lengths (seed 5)");
}

TEST(read_or_generate, makes_up_as_many_rows_as_are_drawn_and_never_too_many) {
    EXPECT_EQ(read_or_generate(parsed({"--ranks", "4", "--samples-per-rank", "5", "--steps", "6", "--seed", "9"})),
              tri_modal(120, 9));
    EXPECT_EQ(read_or_generate(parsed({"--ranks", "1", "--samples-per-rank", "9000000000000000000"})).rows(),
              1'000'000u);
}

}  // namespace
}  // namespace evenkeel::examples::options_test
