// SPDX-License-Identifier: Apache-2.0
#include "examples/support/program.hpp"

#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "examples/support/input_error.hpp"

namespace evenkeel::examples::program_test {
namespace {

struct outcome {
    int status = 0;
    std::string out;
    std::string err;
};

outcome run(std::vector<char const*> words, std::function<bool(options const&)> const& body) {
    words.insert(words.begin(), "balance_a_trace");
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    auto const status = run_program(processes{}, static_cast<int>(words.size()), words.data(), body);
    auto const out = testing::internal::GetCapturedStdout();
    return {.status = status, .out = out, .err = testing::internal::GetCapturedStderr()};
}

TEST(program, gives_the_body_its_options_and_makes_a_status_of_its_answer) {
    EXPECT_EQ(run({"--ranks", "8"}, [](options const& options) { return options.ranks == 8; }).status, 0);
    EXPECT_EQ(run({"--ranks", "8"}, [](options const& options) { return options.ranks != 8; }).status, 1);
}

TEST(program, says_bad_input_in_one_line_on_stderr_and_ends_with_2) {
    auto const [status, out, err] = run({"--ranks", "0"}, [](options const&) { return true; });
    EXPECT_EQ(status, 2);
    EXPECT_EQ(out, "");
    EXPECT_EQ(err, "balance_a_trace: --ranks: expected a whole number from 1 to 16384, got 0\n");

    auto const late = run({}, [](options const&) -> bool { throw input_error{"t.csv:1:1: bad\nfile"}; });
    EXPECT_EQ(late.status, 2);
    EXPECT_EQ(late.err, "balance_a_trace: t.csv:1:1: bad\\x0afile\n");
}

TEST(program, ends_with_1_when_something_else_goes_wrong) {
    auto const fault = run({}, [](options const&) -> bool { throw std::runtime_error{"rank 3:\nlost"}; });
    EXPECT_EQ(fault.status, 1);
    EXPECT_EQ(fault.err, "balance_a_trace: rank 3:\\x0alost\n");

    EXPECT_EQ(run({}, [](options const&) -> bool { throw std::bad_alloc{}; }).err,
              "balance_a_trace: out of memory; fewer ranks, samples or bytes per token need less\n");
    EXPECT_EQ(run({}, [](options const&) -> bool { throw 3; }).status, 1);
}

TEST(program, leaves_it_to_another_process_to_say_what_went_wrong_there) {
    auto const fault = run({}, [](options const&) -> bool { throw failed_elsewhere{2}; });
    EXPECT_EQ(fault.status, 2);
    EXPECT_EQ(fault.err, "");
}

TEST(program, prints_help_on_stdout_and_runs_nothing) {
    auto const [status, out, err] = run({"--help"}, [](options const&) -> bool { throw std::runtime_error{"ran"}; });
    EXPECT_EQ(status, 0);
    EXPECT_NE(out.find("--ranks-per-node"), std::string::npos);
    EXPECT_EQ(err, "");
}

}  // namespace
}  // namespace evenkeel::examples::program_test
