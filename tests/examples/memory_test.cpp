// SPDX-License-Identifier: Apache-2.0
#include "examples/support/memory.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "examples/support/input_error.hpp"
#include "tests/examples/temporary_folder.hpp"

namespace evenkeel::examples::memory_test {
namespace {

TEST(require_memory, lets_small_work_pass_and_says_how_much_too_large_the_other_is) {
    EXPECT_NO_THROW(require_memory("a step", 1e6));
    auto const said = complaint<input_error>([] { require_memory("a step", 2.5e18); });
    EXPECT_TRUE(said.starts_with("a step would take about 2.50 EB of memory, expected at most the ")) << said;
}

TEST(require_memory_for_step, counts_payload_and_samples) {
    auto const one = std::vector<phase_lengths>{{"llm", {1'000}}};
    auto const huge = std::vector<phase_lengths>{{"llm", {UINT64_MAX}}};
    auto const none = std::vector<phase_lengths>{{"llm", {0}}};

    auto wanted = options{};
    EXPECT_NO_THROW(require_memory_for_step(wanted, one));
    EXPECT_THROW(require_memory_for_step(wanted, huge), input_error);

    // Samples without length take memory too, on every rank.
    wanted.samples_per_rank = std::size_t{1} << 50u;
    EXPECT_THROW(require_memory_for_step(wanted, none), input_error);
    wanted.ranks = 16'384;
    wanted.samples_per_rank = 1'000'000;
    EXPECT_THROW(require_memory_for_step(wanted, none), input_error);
}

}  // namespace
}  // namespace evenkeel::examples::memory_test
