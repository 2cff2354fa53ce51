// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/comm/lengths.hpp>

#include "tests/support/backends.hpp"
#include "tests/support/batches.hpp"

namespace evenkeel::test::lengths_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using lengths = std::vector<std::uint64_t>;

template <class Backend>
class all_gather_lengths_on : public on_ranks<Backend> {};
TYPED_TEST_SUITE(all_gather_lengths_on, backends, backend_name);

TYPED_TEST(all_gather_lengths_on, gives_every_rank_the_lengths_of_all_phase_by_phase) {
    this->run(2, [](comm::communicator& world) {
        // Two samples on rank 0, one on rank 1; of each the lengths in two phases.
        auto const mine = world.rank() == world_rank{0} ? lengths{1, 10, 2, 20} : lengths{3, 30};
        auto const all = comm::all_gather_lengths(world, mine, 2, patience);
        EXPECT_THAT(all.counts, ElementsAre(2, 1));
        EXPECT_EQ(all.samples, 3u);
        EXPECT_EQ(all.phases, 2u);
        EXPECT_THAT(all[0], ElementsAre(1, 2, 3));
        EXPECT_THAT(all[1], ElementsAre(10, 20, 30));
    });
}

TYPED_TEST(all_gather_lengths_on, takes_ranks_with_any_number_of_samples_also_none) {
    this->run(4, [](comm::communicator& world) {
        lengths const mine[] = {{}, {5, 0, 7}, {}, {std::numeric_limits<std::uint64_t>::max()}};
        auto const all = comm::all_gather_lengths(world, mine[to_index(world.rank())], 1, patience);
        EXPECT_THAT(all.counts, ElementsAre(0, 3, 0, 1));
        EXPECT_THAT(all[0], ElementsAre(5, 0, 7, std::numeric_limits<std::uint64_t>::max()));
    });
}

TYPED_TEST(all_gather_lengths_on, completes_where_nobody_has_drawn_a_sample) {
    this->run(3, [](comm::communicator& world) {
        auto const all = comm::all_gather_lengths(world, {}, 3, patience);
        EXPECT_THAT(all.counts, ElementsAre(0, 0, 0));
        EXPECT_EQ(all.samples, 0u);
        EXPECT_THAT(all[2], IsEmpty());
    });
}

TYPED_TEST(all_gather_lengths_on, keeps_every_length_of_a_random_batch_in_its_place) {
    this->run(4, [](comm::communicator& world) {
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            seeded random{seed};
            std::size_t const phases = random.between(1, 4);
            std::vector<lengths> drawn(4);
            std::vector<lengths> expected(phases);
            for (auto& rank : drawn) {
                for (std::uint64_t samples = random.up_to(6); samples > 0; --samples) {
                    for (auto& phase : expected) {
                        rank.push_back(random.up_to(100'000));
                        phase.push_back(rank.back());
                    }
                }
            }
            auto const all = comm::all_gather_lengths(world, drawn[to_index(world.rank())], phases, patience);
            for (std::size_t phase = 0; phase < phases; ++phase) {
                EXPECT_EQ(lengths(all[phase].begin(), all[phase].end()), expected[phase]) << "seed " << seed;
            }
        }
    });
}

TYPED_TEST(all_gather_lengths_on, refuses_lengths_that_are_no_whole_number_of_samples) {
    this->run(3, [](comm::communicator& world) {
        if (world.rank() == world_rank{1}) {
            EXPECT_EQ(refusal_of([&] {
                          return comm::all_gather_lengths(world, lengths{1, 2, 3}, 2, patience);
                      }),
                      "all_gather_lengths: mine.size() = 3, expected a multiple of phases = 2");
        } else {
            auto const error = error_of([&] { return comm::all_gather_lengths(world, lengths{1, 2}, 2, patience); });
            EXPECT_EQ(error.what(), "all_gather_lengths on rank " + std::to_string(to_index(world.rank())) +
                                        ": rank 1 refused its lengths");
            EXPECT_EQ(error.peer(), world_rank{1});
        }
        // Every rank knows, so all can go on.
        EXPECT_EQ(comm::all_gather_lengths(world, lengths{4}, 1, patience).samples, 3u);
    });
}

TYPED_TEST(all_gather_lengths_on, refuses_to_count_no_phase) {
    this->run(2, [](comm::communicator& world) {
        EXPECT_EQ(refusal_of([&] { return comm::all_gather_lengths(world, {}, 0, patience); }),
                  "all_gather_lengths: phases = 0, expected at least 1");
        world.barrier().wait(patience);
    });
}

TYPED_TEST(all_gather_lengths_on, names_the_rank_that_counts_other_phases_than_most) {
    this->run(3, [](comm::communicator& world) {
        for (std::size_t odd = 0; odd < 3; ++odd) {
            std::size_t const phases = to_index(world.rank()) == odd ? 3 : 2;
            auto const error =
                error_of([&] { return comm::all_gather_lengths(world, lengths(phases), phases, patience); });
            EXPECT_EQ(error.what(), "all_gather_lengths on rank " + std::to_string(to_index(world.rank())) + ": rank " +
                                        std::to_string(odd) + " has 3 phases, most ranks have 2");
            EXPECT_EQ(error.peer(), to_id<world_rank>(odd));
        }
        EXPECT_EQ(comm::all_gather_lengths(world, lengths{4}, 1, patience).samples, 3u);
    });
}

}  // namespace
}  // namespace evenkeel::test::lengths_test
