// SPDX-License-Identifier: Apache-2.0
#include "examples/support/balanced_step.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/comm/threads.hpp>
#include <evenkeel/core/group.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/orchestrate.hpp>

#include "examples/support/tri_modal.hpp"

namespace evenkeel::examples::balanced_step_test {
namespace {

struct ran {
    std::vector<std::vector<phase_outcome>> outcomes;  ///< per rank
    exchange_report sum;
    std::vector<phase_bytes> bytes = {};
    std::uint64_t composed_saving = 0;
};

using by_rank = std::vector<std::vector<std::uint64_t>>;

/// One step on threads, `drawn[p][r]` the lengths of rank r in phase p, two ranks to a node.
ran run(std::vector<std::string> const& names, std::vector<by_rank> const& drawn, payload_scale const& scale,
        method how = method::stay) {
    ran result;
    result.outcomes.resize(drawn.front().size());
    std::vector<exchange_report> checked(result.outcomes.size());
    comm::run_threads(uniform_topology({checked.size()}, {2}), [&](comm::communicator& world) {
        auto const rank = to_index(world.rank());
        drawn_step mine{.first_sample = 100, .lengths = {}};
        for (auto const& phase : drawn) {
            mine.lengths.push_back(phase[rank]);
        }
        auto outcome = balance_step(world, names, mine, how, scale, checked[rank]);
        result.outcomes[rank] = std::move(outcome.phases);
        if (rank == 0) {
            result.bytes = std::move(outcome.bytes);
            result.composed_saving = outcome.composed_saving;
        }
    });
    for (auto const& one : checked) {
        result.sum.bytes += one.bytes;
        result.sum.inter_node_bytes += one.inter_node_bytes;
        result.sum.wrong += one.wrong;
    }
    return result;
}

/// The same of the LLM alone.
ran run(by_rank const& drawn, std::uint64_t bytes_per_token, method how = method::stay) {
    return run({"llm"}, {drawn}, {.fixed = bytes_per_token}, how);
}

TEST(balance_step, moves_inputs_outputs_gradients_and_text_of_a_whole_step) {
    // Rank 0 has all images; half of what the LLM gets is text.
    by_rank const images{{40, 40, 40}, {0}, {0}, {0}};
    by_rank const all{{50, 50, 50}, {60}, {70}, {80}};
    auto const done = run({"image", "llm"}, {images, all}, {});
    EXPECT_EQ(done.sum.wrong, 0U);
    ASSERT_EQ(done.outcomes[0].size(), 2U);
    EXPECT_EQ(done.outcomes[0][0].after.max_load, 40U);
    EXPECT_EQ(done.outcomes[0][1].after.total_load, 360U);
    ASSERT_EQ(done.bytes.size(), 2U);
    EXPECT_EQ(done.bytes[0].raw.total, 4704 * done.outcomes[0][0].moves.moved);
    EXPECT_EQ(done.bytes[0].raw.between_nodes, 4704 * done.outcomes[0][0].moves.between_nodes);
    EXPECT_EQ(done.bytes[1].raw, moving_bytes{});
    // What travels is a 256th of that, rounded up: 19 bytes of each image token, 28 of each output, 1 of each text
    // token.
    EXPECT_EQ(done.sum.bytes, done.bytes[0].raw.total / 4704 * 19 + done.bytes[0].output.total / 7168 * 28 +
                                  done.bytes[1].text.total / 8);
}

TEST(balance_step, counts_what_going_home_in_between_would_move) {
    by_rank const images{{40, 40, 40}, {0}, {0}, {0}};
    auto const scratch = run({"image", "llm"}, {images, images}, {}, method::scratch);
    // Encoder and LLM have the same plan, so that outputs stay where they are; home, they would travel twice, as would
    // their gradients.
    EXPECT_EQ(scratch.bytes[0].output.total, 0U);
    EXPECT_EQ(scratch.composed_saving, 4 * 7168 * scratch.outcomes[0][0].moves.moved);
}

TEST(balance_step, gives_no_unit_to_a_sample_without_tokens) {
    std::vector<std::string> const names{"image", "audio", "llm"};
    constexpr std::size_t ranks = 8;
    constexpr std::size_t per_rank = 6;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        auto const rows = tri_modal(ranks * per_rank, seed);
        std::vector<by_rank> drawn(3, by_rank(ranks));
        step_samples samples{.counts = std::vector<std::size_t>(ranks, per_rank), .inputs = {{}, {}}};
        std::vector<std::vector<std::size_t>> units(2);
        for (std::size_t row = 0; row < rows.rows(); ++row) {
            samples.text.push_back(rows[row][0]);
            for (std::size_t encoder = 0; encoder < 2; ++encoder) {
                std::uint64_t const tokens = rows[row][encoder + 1];
                drawn[encoder][row / per_rank].push_back(tokens);
                units[encoder].push_back(tokens > 0 ? 1 : 0);
                if (tokens > 0) {
                    samples.inputs[encoder].lengths.push_back(tokens);
                }
            }
            drawn[2][row / per_rank].push_back(rows[row][0] + rows[row][1] + rows[row][2]);
        }
        std::vector<phase> phases;
        for (auto const& name : names) {
            auto const bytes = bytes_per_token(name);
            phases.push_back(
                {.name = name, .group = flat_group({ranks}), .bytes_in = bytes.in, .bytes_out = bytes.out});
        }
        for (std::size_t encoder = 0; encoder < 2; ++encoder) {
            samples.inputs[encoder].units = units_of(units[encoder]);
        }
        auto const step = orchestrate(samples, phases, uniform_topology({ranks}, {2}));
        auto const done = run(names, drawn, {});

        EXPECT_EQ(done.sum.wrong, 0U);
        for (std::size_t encoder = 0; encoder < 2; ++encoder) {
            EXPECT_EQ(done.bytes[encoder].raw.total, step.traffic.raw[encoder].moved) << seed;
            EXPECT_EQ(done.bytes[encoder].output.total, 2 * step.traffic.outputs[encoder].moved) << seed;
        }
        EXPECT_EQ(done.bytes[2].text.total, step.traffic.text.moved) << seed;
    }
}

TEST(balance_step, shows_what_encoders_lose_where_only_the_llm_is_balanced) {
    // Every rank has as much for the LLM, but ranks 0 and 1 have all images, and rank 2 one empty sample.
    by_rank const images{{40, 40}, {40, 40}, {0, 0, 0}, {0, 0}};
    by_rank const all{{50, 50}, {50, 50}, {50, 50, 0}, {50, 50}};
    auto const joint = run({"image", "llm"}, {images, all}, {});
    auto const only = run({"image", "llm"}, {images, all}, {}, method::llm_only);

    EXPECT_EQ(joint.outcomes[0][0].after.max_load, 40U);
    EXPECT_EQ(only.outcomes[0][0].after.max_load, 80U);
    EXPECT_EQ(only.outcomes[0][0].after.gap(), 1);
    EXPECT_EQ(only.outcomes[0][1].after.gap(), 0);
    EXPECT_EQ(only.sum.bytes, 0U);
}

TEST(balance_step, runs_units_where_their_samples_are_where_only_the_llm_is_balanced) {
    by_rank const images{{40, 30, 20}, {0}, {7}, {0}};
    by_rank const all{{50, 50, 50}, {60}, {70}, {10}};
    auto const only = run({"image", "llm"}, {images, all}, {}, method::llm_only);
    auto const llm = run(all, 1);

    EXPECT_EQ(only.sum.wrong, 0U);
    EXPECT_EQ(only.outcomes[0][1].loads_after, llm.outcomes[0][0].loads_after);
    EXPECT_EQ(only.outcomes[0][1].after, llm.outcomes[0][0].after);
    EXPECT_GT(only.bytes[0].raw.total, 0U);
    EXPECT_EQ(only.bytes[0].output.total, 0U);
}

TEST(balance_step, balances_encoders_without_an_llm) {
    auto const done = run({"image"}, {{{40, 40, 40}, {0}, {0}, {0}}}, {});
    EXPECT_EQ(done.sum.wrong, 0U);
    EXPECT_EQ(done.outcomes[0].size(), 1U);
    EXPECT_EQ(done.bytes.size(), 1U);
    EXPECT_EQ(done.composed_saving, 0U);
}

TEST(payload_scale, rounds_up_unless_it_is_fixed) {
    EXPECT_EQ((payload_scale{}.of(4704)), 19U);
    EXPECT_EQ((payload_scale{.numerator = 1, .denominator = 1}.of(8)), 8U);
    EXPECT_EQ((payload_scale{.fixed = 3}.of(8)), 3U);
}

TEST(balance_step, moves_what_the_plan_says_and_finds_every_byte_right) {
    auto const done = run({{9, 1}, {5, 4}, {}, {30}}, 3);

    auto const& outcome = done.outcomes[0].front();
    EXPECT_EQ(outcome.loads_before, (std::vector<std::uint64_t>{10, 9, 0, 30}));
    EXPECT_EQ(outcome.before.max_load, 30U);
    EXPECT_EQ(outcome.after.max_load, 30U);
    EXPECT_EQ(outcome.after.gap(), 0);
    EXPECT_EQ(done.sum.wrong, 0U);
    EXPECT_EQ(done.sum.bytes, 3 * outcome.moves.moved);
    EXPECT_EQ(done.sum.inter_node_bytes, 3 * outcome.moves.between_nodes);
}

TEST(balance_step, moves_less_between_nodes_by_each_method_than_by_the_one_before) {
    std::vector<std::vector<std::uint64_t>> const drawn{{7, 7, 7}, {1, 2, 3}, {40, 1, 1}, {5, 6, 8}};
    auto const scratch = run(drawn, 2, method::scratch);
    auto const relabel = run(drawn, 2, method::relabel);
    auto const stay = run(drawn, 2, method::stay);
    EXPECT_EQ(scratch.outcomes[0].front().after, relabel.outcomes[0].front().after);
    EXPECT_LE(relabel.sum.inter_node_bytes, scratch.sum.inter_node_bytes);
    EXPECT_LE(stay.sum.inter_node_bytes, relabel.sum.inter_node_bytes);
    for (auto const* const one : {&scratch, &relabel, &stay}) {
        EXPECT_EQ(one->sum.wrong, 0U);
        EXPECT_EQ(one->sum.inter_node_bytes, 2 * one->outcomes[0].front().moves.between_nodes);
    }
}

TEST(balance_step, gives_every_rank_the_same_figures) {
    auto const done = run({{7, 7, 7}, {1, 2, 3}, {40, 0, 0}, {5, 5, 5}}, 1);
    for (auto const& rank : done.outcomes) {
        EXPECT_EQ(rank.front().after, done.outcomes[0].front().after);
        EXPECT_EQ(rank.front().moves, done.outcomes[0].front().moves);
        EXPECT_EQ(rank.front().loads_after, done.outcomes[0].front().loads_after);
    }
}

TEST(balance_step, moves_nothing_where_nobody_has_anything) {
    auto const done = run({{0, 0}, {0}, {}, {0}}, 8);
    EXPECT_EQ(done.sum.bytes, 0U);
    EXPECT_EQ(done.outcomes[0].front().before.imbalance(), 1);
    EXPECT_EQ(done.outcomes[0].front().after.gap(), 0);
}

}  // namespace
}  // namespace evenkeel::examples::balanced_step_test
