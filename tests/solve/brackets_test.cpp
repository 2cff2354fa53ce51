// SPDX-License-Identifier: Apache-2.0
// Sparse phases of real lengths, whose optimum is known or nearly: a load below a bracket is a bug of the search, a
// bound above it one of the proof.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/cost/linear.hpp>
#include <evenkeel/solve/balance.hpp>

#include "examples/support/phases.hpp"
#include "examples/support/trace.hpp"

namespace evenkeel::brackets_test {
namespace {

/// A phase whose optimum is from `least` to `most`, and how far above its bound a result may be.
struct bracket {
    std::string file;
    std::string phase;
    std::size_t ranks;
    std::size_t per_rank;
    std::uint64_t least;
    std::uint64_t most;
    double gap = 1e-3;
};

/// The first rows of a file, over again if there are too few.
std::vector<std::uint64_t> lengths_of(std::filesystem::path const& folder, bracket const& of) {
    for (auto const& phase : examples::phases_of(examples::read_trace(folder / (of.file + ".csv")))) {
        if (phase.name == of.phase) {
            examples::drawing const drawing{.ranks = 1, .samples_per_rank = of.ranks * of.per_rank};
            return drawing.lengths(0, 0, phase.lengths);
        }
    }
    return {};
}

TEST(balance, stays_inside_the_brackets_of_every_real_trace) {
    char const* const folder = std::getenv("EVENKEEL_TRACES");
    if (folder == nullptr) {
        GTEST_SKIP() << "EVENKEEL_TRACES names no folder of traces";
    }
    std::vector<bracket> const brackets{
        {"mix_omni", "audio", 64, 16, 531, 531},
        {"mix_omni", "audio", 64, 40, 1376, 1376},
        {"mix_omni", "audio", 256, 40, 1374, 1374},
        {"mix_omni", "audio", 256, 8, 275, 276, 8e-3},
        {"mix_omni", "audio", 2560, 8, 279, 279, 4e-3},
        {"mix_omni", "video", 64, 40, 47026, 47032},
        {"mix_omni", "video", 256, 40, 49623, 49629},
        {"nextqa", "video", 256, 8, 100'509, 100'510},
        {"nextqa", "video", 2560, 8, 97'015, 97'015},
        {"sroie_receipts", "image", 2560, 8, 32'464, 32'464},
        {"coco_captions_val2017", "image", 256, 8, 2787, 2787, 2e-3},
        {"coco_captions_val2017", "image", 2560, 8, 2787, 2790, 2e-3},
    };
    for (auto const& of : brackets) {
        auto const lengths = lengths_of(folder, of);
        ASSERT_FALSE(lengths.empty()) << of.file << '.' << of.phase;
        auto const quality = balance(lengths, rank_count{of.ranks}, linear_cost{}).quality;
        auto const name = of.file + "." + of.phase + " on " + std::to_string(of.ranks) + " ranks";
        EXPECT_GE(quality.max_load, of.least) << name;
        EXPECT_LE(quality.lower_bound, of.most) << name;
        EXPECT_LE(quality.gap(), of.gap) << name;
    }
}

}  // namespace
}  // namespace evenkeel::brackets_test
