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

#include <evenkeel/core/layout.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/cost/attention.hpp>
#include <evenkeel/cost/linear.hpp>
#include <evenkeel/solve/balance.hpp>
#include <evenkeel/solve/rebalance.hpp>

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

/// The rows of a file that a step draws, over again if there are too few.
template <class Of>
std::vector<std::uint64_t> lengths_of(std::filesystem::path const& folder, Of const& of, std::size_t step = 0) {
    for (auto const& phase : examples::phases_of(examples::read_trace(folder / (of.file + ".csv")))) {
        if (phase.name == of.phase) {
            examples::drawing const drawing{.ranks = 1, .samples_per_rank = of.ranks * of.per_rank};
            return drawing.lengths(step, 0, phase.lengths);
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
        {"mix_omni", "audio", 2560, 8, 279, 279, 0},
        {"mix_omni", "video", 64, 40, 47026, 47032},
        {"mix_omni", "video", 256, 40, 49623, 49629},
        {"nextqa", "video", 256, 8, 100'509, 100'510},
        {"nextqa", "video", 2560, 8, 97'015, 97'015},
        {"sroie_receipts", "image", 2560, 8, 32'464, 32'464},
        {"coco_captions_val2017", "image", 256, 8, 2787, 2787, 2e-3},
        {"coco_captions_val2017", "image", 2560, 8, 2787, 2790},
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

/// How close to its bound a phase comes in any of twelve steps.
struct closeness {
    std::string file;
    std::string phase;
    std::size_t ranks;
    std::size_t per_rank;
    std::uint64_t quadratic;
    double gap;
};

TEST(balance, comes_close_to_its_bound_in_every_step_of_a_real_trace_with_few_items_per_rank) {
    char const* const folder = std::getenv("EVENKEEL_TRACES");
    if (folder == nullptr) {
        GTEST_SKIP() << "EVENKEEL_TRACES names no folder of traces";
    }
    std::vector<closeness> const phases{
        {"coco_captions_val2017", "image", 256, 8, 0, 1.1e-3},
        {"mix_omni", "audio", 64, 40, 1, 1e-4},
        {"mix_omni", "audio", 256, 40, 1, 4e-4},
        {"mix_omni", "audio", 64, 16, 1, 1.1e-3},
        {"sroie_receipts", "image", 64, 16, 1, 1e-4},
        {"gsm8k_sft", "llm", 64, 16, 1, 1e-4},
        {"mix_omni", "audio", 256, 8, 1, 6e-3},
        {"coco_captions_val2017", "image", 256, 8, 1, 2.1e-3},
        {"mix_omni", "audio", 2560, 8, 0, 4e-3},
        {"mix_omni", "audio", 2560, 8, 1, 4e-3},
    };
    for (auto const& of : phases) {
        for (std::size_t step = 0; step < 12; ++step) {
            auto const lengths = lengths_of(folder, of, step);
            ASSERT_FALSE(lengths.empty()) << of.file << '.' << of.phase;
            auto const cost = attention_cost{.linear = 24'576, .quadratic = of.quadratic};
            EXPECT_LE(balance(lengths, rank_count{of.ranks}, cost).quality.gap(), of.gap)
                << of.file << '.' << of.phase << " on " << of.ranks << " ranks, step " << step;
        }
    }
}

/// Which share of the bytes of a phase may leave its node at most, and whether no plan from home gets to the target.
struct moved_share {
    std::string file;
    std::string phase;
    std::size_t ranks;
    std::size_t per_rank;
    double tolerance;
    double most;
    bool from_scratch = false;
};

TEST(rebalance, moves_little_of_every_sparse_real_trace_and_hardly_ever_plans_from_scratch) {
    char const* const folder = std::getenv("EVENKEEL_TRACES");
    if (folder == nullptr) {
        GTEST_SKIP() << "EVENKEEL_TRACES names no folder of traces";
    }
    std::vector<moved_share> const shares{
        {"mix_omni", "video", 64, 40, 1e-3, 0.0462},
        {"mix_omni", "video", 64, 40, 5e-3, 0.0425},
        {"mix_omni", "video", 256, 40, 1e-3, 0.0973},
        {"mix_omni", "video", 256, 40, 5e-3, 0.0750},
        {"mix_omni", "audio", 64, 40, 1e-3, 0.0436},
        {"mix_omni", "audio", 256, 40, 1e-3, 0.0402},
        {"mix_omni", "audio", 256, 8, 1e-3, 0.297, true},
        {"mix_omni", "audio", 256, 8, 5e-3, 0.270, true},
        {"sroie_receipts", "image", 256, 8, 1e-3, 0.46},
        {"sroie_receipts", "image", 256, 8, 5e-3, 0.41},
        {"coco_captions_val2017", "image", 256, 8, 1e-3, 0.0448},
        {"coco_captions_val2017", "image", 256, 8, 5e-3, 0.0229},
        {"omnibal_docvqa_train_10k", "image", 256, 8, 1e-3, 0.0702},
        {"omnibal_docvqa_train_10k", "llm", 256, 8, 1e-3, 0.0436},
        {"azure_llm_2023_code", "llm", 256, 4, 5e-3, 0.25},
        {"sroie_receipts", "llm", 256, 8, 1e-3, 0.43},
        {"sroie_receipts", "llm", 256, 8, 5e-3, 0.39},
    };
    for (auto const& of : shares) {
        auto const lengths = lengths_of(folder, of);
        ASSERT_FALSE(lengths.empty()) << of.file << '.' << of.phase;
        auto const home = home_layout(std::vector<std::size_t>(of.ranks, of.per_rank));
        auto const kept = rebalance(lengths, home, uniform_topology({of.ranks}, {8}), linear_cost{},
                                    {.tolerance = of.tolerance, .bounds = false});
        auto const name = of.file + "." + of.phase + " on " + std::to_string(of.ranks) + " ranks";
        EXPECT_LE(static_cast<double>(kept.between_nodes), of.most * static_cast<double>(kept.total)) << name;
        EXPECT_EQ(kept.from_scratch, of.from_scratch) << name;
    }
}

}  // namespace
}  // namespace evenkeel::brackets_test
