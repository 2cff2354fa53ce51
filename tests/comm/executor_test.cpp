// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/comm/error.hpp>
#include <evenkeel/comm/executor.hpp>
#include <evenkeel/pipeline/distmm_pipe.hpp>
#include <evenkeel/pipeline/gpipe.hpp>
#include <evenkeel/pipeline/interleaved.hpp>
#include <evenkeel/pipeline/one_f_one_b.hpp>
#include <evenkeel/pipeline/zero_bubble.hpp>

#include "tests/support/backends.hpp"
#include "tests/support/schedules.hpp"
#include "tests/support/towers.hpp"

namespace evenkeel::executor_test {
namespace {

using test::on_ranks;
using test::patience;

template <class Backend>
class pipeline_executor_on : public on_ranks<Backend> {};
TYPED_TEST_SUITE(pipeline_executor_on, test::backends, test::backend_name);

/// Towers, the pipelines that train them, and the gradients that they have to get.
struct job {
    std::size_t samples_per_batch = 1;
    std::vector<test::tower> towers = {};
    std::vector<comm::placed_pipeline> pipelines = {};
    std::vector<test::tower> trained = {};  ///< by one process
    double loss = 0;
    std::size_t ranks = 0;

    void add(schedule const& drawn, std::size_t batches) {
        std::size_t const samples = samples_per_batch * batches;
        towers.emplace_back(drawn.stages, samples, 100 * (towers.size() + 1));
        comm::placed_pipeline placed{.schedule = drawn};
        for (std::size_t stage = 0; stage < drawn.stages; ++stage) {
            placed.ranks.push_back(to_id<world_rank>(ranks++));
        }
        std::size_t const bytes = samples / drawn.micro_batches * towers.back().width * sizeof(double);
        placed.boundary_bytes.assign(drawn.stages - 1, bytes);
        placed.feature_bytes = drawn.group == 0 ? 0 : bytes;
        pipelines.push_back(placed);
    }

    void train_alone() {
        trained = towers;
        loss = test::train_alone(trained, samples_per_batch);
    }

    [[nodiscard]] test::tower_stage stage_of(comm::pipeline_executor const& executor) const {
        auto const own = executor.own().value();
        auto const& tower = towers[own.pipeline];
        return {tower, to_index(own.device), own.pipeline,
                tower.samples.size() / tower.width / pipelines[own.pipeline].schedule.micro_batches};
    }

    /// Runs a step on this rank and compares what it leaves.
    void expect_the_gradients_of_one_process(comm::communicator& world) const {
        comm::pipeline_executor executor{world, pipelines, patience};
        ASSERT_TRUE(executor.own());
        auto stage = stage_of(executor);
        executor.run(stage, patience);

        auto const own = *executor.own();
        auto const& expected = trained[own.pipeline].layers[to_index(own.device)].gradient;
        ASSERT_EQ(stage.own.gradient.size(), expected.size());
        for (std::size_t at = 0; at < expected.size(); ++at) {
            EXPECT_NEAR(stage.own.gradient[at], expected[at], 1e-9);
        }
        auto const& drawn = pipelines[own.pipeline].schedule;
        EXPECT_EQ(stage.log, test::drawn_row(drawn, to_index(own.device)));
        if (to_index(own.device) + 1 == drawn.stages) {
            EXPECT_NEAR(stage.loss, loss, 1e-9);
        }
    }
};

/// `stages` and `groups` of each modality; two contrastive batches.
job contrastive(std::vector<std::size_t> const& stages, std::vector<std::size_t> const& groups) {
    job result;
    for (auto const group : groups) {
        result.samples_per_batch = std::lcm(result.samples_per_batch, group);
    }
    for (std::size_t modality = 0; modality < stages.size(); ++modality) {
        result.add(distmm_pipe({stages[modality]}, {2 * groups[modality]}, {groups[modality]}), 2);
    }
    result.train_alone();
    return result;
}

TEST(towers, have_the_gradients_that_differences_show) {
    auto const loss_with = [](double change) {
        std::vector<test::tower> towers{{2, 4, 7}, {1, 4, 8}, {2, 4, 9}};
        towers[0].layers[0].weights[1] += change;
        return test::train_alone(towers, 2);
    };
    std::vector<test::tower> towers{{2, 4, 7}, {1, 4, 8}, {2, 4, 9}};
    (void)test::train_alone(towers, 2);
    EXPECT_NEAR(towers[0].layers[0].gradient[1], (loss_with(1e-5) - loss_with(-1e-5)) / 2e-5, 1e-8);
}

TYPED_TEST(pipeline_executor_on, gets_the_gradients_of_one_process_with_two_modalities) {
    for (std::size_t stages = 1; stages <= 4; ++stages) {
        for (std::size_t group = 1; group <= 8; ++group) {
            if (!TypeParam::takes(stages + group)) {
                continue;
            }
            // The other modality has its own depth and its own micro-batches.
            auto const own = contrastive({stages, 1 + (stages + group) % 4}, {group, 1 + (3 * group + stages) % 8});
            this->run(own.ranks, [&](comm::communicator& world) { own.expect_the_gradients_of_one_process(world); });
        }
    }
}

TYPED_TEST(pipeline_executor_on, gets_the_gradients_of_one_process_with_three_modalities) {
    for (std::size_t stages = 1; stages <= 4; ++stages) {
        for (std::size_t group = 1; group <= 8; group += 1 + stages % 2) {
            if (!TypeParam::takes(stages + group)) {
                continue;
            }
            auto const own =
                contrastive({stages, 1 + (stages + group) % 4, 1 + group % 3}, {group, 1 + group % 4, 1 + stages});
            this->run(own.ranks, [&](comm::communicator& world) { own.expect_the_gradients_of_one_process(world); });
        }
    }
}

TYPED_TEST(pipeline_executor_on, runs_gpipe_with_batch_syncs) {
    job own{.samples_per_batch = 6};
    own.add(gpipe_sync(stage_count{3}, {12}, {3}), 4);
    own.add(gpipe_sync(stage_count{2}, {8}, {2}, micro_batch_count{4}), 4);
    own.train_alone();
    this->run(own.ranks, [&](comm::communicator& world) { own.expect_the_gradients_of_one_process(world); });
}

TYPED_TEST(pipeline_executor_on, runs_1F1B_and_gpipe_with_a_loss_per_micro_batch) {
    for (auto const& drawn :
         {one_f_one_b(stage_count{4}, {6}), gpipe(stage_count{3}, {6}), one_f_one_b(stage_count{1}, {2})}) {
        job own{.samples_per_batch = 2};
        own.add(drawn, drawn.micro_batches);
        own.train_alone();
        this->run(own.ranks, [&](comm::communicator& world) { own.expect_the_gradients_of_one_process(world); });
    }
}

TYPED_TEST(pipeline_executor_on, runs_step_after_step) {
    auto const own = contrastive({2, 1}, {2, 4});
    this->run(own.ranks, [&](comm::communicator& world) {
        comm::pipeline_executor executor{world, own.pipelines, patience};
        auto stage = own.stage_of(executor);
        for (auto step = 0; step < 3; ++step) {
            executor.run(stage, patience);
        }
        auto const part = *executor.own();
        auto const& expected = own.trained[part.pipeline].layers[to_index(part.device)].gradient;
        for (std::size_t at = 0; at < expected.size(); ++at) {
            EXPECT_NEAR(stage.own.gradient[at], 3 * expected[at], 1e-9);
        }
    });
}

TYPED_TEST(pipeline_executor_on, notes_when_each_instruction_ran) {
    auto const own = contrastive({2, 1}, {2, 4});
    this->run(own.ranks, [&](comm::communicator& world) {
        comm::pipeline_executor executor{world, own.pipelines, patience};
        auto stage = own.stage_of(executor);
        executor.run(stage, patience);
        auto const part = *executor.own();
        ASSERT_EQ(executor.last_run().size(), own.pipelines[part.pipeline].schedule[part.device].size());
        double last = 0;
        for (auto const& one : executor.last_run()) {
            EXPECT_LE(last, one.start);
            EXPECT_LE(one.start, one.end);
            last = one.end;
        }
    });
}

TYPED_TEST(pipeline_executor_on, leaves_ranks_without_a_device_in_peace) {
    auto const own = contrastive({1, 1}, {1, 2});
    this->run(own.ranks + 1, [&](comm::communicator& world) {
        comm::pipeline_executor executor{world, own.pipelines, patience};
        if (to_index(world.rank()) < own.ranks) {
            auto stage = own.stage_of(executor);
            executor.run(stage, patience);
            return;
        }
        EXPECT_FALSE(executor.own());
        test::tower_stage never{own.towers[0], 0, 0, 1};
        executor.run(never, patience);
        EXPECT_EQ(never.log, "");
        EXPECT_TRUE(executor.last_run().empty());
    });
}

TYPED_TEST(pipeline_executor_on, runs_an_empty_step) {
    comm::placed_pipeline const idle{.schedule = distmm_pipe(stage_count{2}, {0}, {2}),
                                     .ranks = {world_rank{0}, world_rank{1}},
                                     .boundary_bytes = {8}};
    this->run(2, [&](comm::communicator& world) {
        comm::pipeline_executor executor{world, std::span{&idle, 1}, patience};
        test::tower const nothing{1, 0, 1};
        test::tower_stage never{nothing, 0, 0, 0};
        executor.run(never, patience);
        EXPECT_EQ(never.log, "");
    });
}

TYPED_TEST(pipeline_executor_on, passes_micro_batches_without_bytes_on_in_order) {
    /// Does nothing, and says in which order.
    class silent final : public comm::pipeline_stage {
      public:
        void forward(std::uint32_t number, std::span<std::byte const>, std::span<std::byte>) override {
            log += "F" + std::to_string(number + 1) + " ";
        }
        void backward(std::uint32_t number, std::span<std::byte const>, std::span<std::byte const>,
                      std::span<std::byte>) override {
            log += "B" + std::to_string(number + 1) + " ";
        }
        void interact(std::uint32_t number, std::span<std::span<std::byte const> const>,
                      std::span<std::byte>) override {
            log += "S" + std::to_string(number + 1) + " ";
        }
        std::string log;
    };
    comm::placed_pipeline const own{.schedule = distmm_pipe(stage_count{2}, {4}, {2}),
                                    .ranks = {world_rank{1}, world_rank{0}},
                                    .boundary_bytes = {0}};
    this->run(2, [&](comm::communicator& world) {
        comm::pipeline_executor executor{world, std::span{&own, 1}, patience};
        silent stage;
        executor.run(stage, patience);
        EXPECT_EQ(stage.log, test::drawn_row(own.schedule, 1 - to_index(world.rank())) + " ");
    });
}

std::string rank_name(world_rank rank) { return "rank " + std::to_string(to_index(rank)); }

/// Stops in the middle.
class failing_stage final : public comm::pipeline_stage {
  public:
    /// @param fail  What it does then: it throws, or returns late.
    failing_stage(comm::pipeline_stage& inner, std::function<void()> fail) : inner_{inner}, fail_{std::move(fail)} {}

    void forward(std::uint32_t number, std::span<std::byte const> input, std::span<std::byte> output) override {
        if (number == 1) {
            fail_();
        }
        inner_.forward(number, input, output);
    }
    void backward(std::uint32_t number, std::span<std::byte const> input, std::span<std::byte const> output_gradient,
                  std::span<std::byte> input_gradient) override {
        inner_.backward(number, input, output_gradient, input_gradient);
    }
    void interact(std::uint32_t group, std::span<std::span<std::byte const> const> features,
                  std::span<std::byte> gradient) override {
        inner_.interact(group, features, gradient);
    }

  private:
    comm::pipeline_stage& inner_;
    std::function<void()> fail_;
};

TYPED_TEST(pipeline_executor_on, tells_every_rank_when_a_stage_throws) {
    auto const own = contrastive({3, 2}, {2, 2});
    this->run(own.ranks, [&](comm::communicator& world) {
        if (world.rank() == world_rank{1}) {
            comm::pipeline_executor executor{world, own.pipelines, patience};
            auto stage = own.stage_of(executor);
            failing_stage failing{stage, [] { throw std::runtime_error{"out of luck"}; }};
            try {
                executor.run(failing, patience);
                ADD_FAILURE() << "nothing was thrown";
            } catch (std::runtime_error const& error) {
                EXPECT_STREQ(error.what(), "out of luck");
            }
        } else {
            // A rank that is slow to get here finds out while it still makes its executor.
            auto const told = test::error_of([&] {
                comm::pipeline_executor executor{world, own.pipelines, patience};
                auto stage = own.stage_of(executor);
                executor.run(stage, patience);
                return 0;
            });
            EXPECT_EQ(told.reason(), "rank 1: out of luck");
            EXPECT_EQ(told.rank(), world.rank());
            EXPECT_EQ(told.peer(), world_rank{1});
        }
    });
}

TYPED_TEST(pipeline_executor_on, tells_every_rank_when_one_does_not_come_in_time) {
    auto const own = contrastive({3, 2}, {2, 2});
    this->run(own.ranks, [&](comm::communicator& world) {
        bool const late = world.rank() == world_rank{1};
        bool const hurried = world.rank() == world_rank{2};
        auto const both = world.split(late || hurried ? 1 : 0, 0, patience);
        // A rank that is slow to get here finds out while it still makes its executor.
        auto const told = test::error_of([&] {
            comm::pipeline_executor executor{world, own.pipelines, patience};
            auto stage = own.stage_of(executor);
            failing_stage stalling{stage, [&] {
                                       // Until the world ends: the other one does not come.
                                       test::error_of([&] { both->barrier().wait(patience); });
                                   }};
            // Only one of them has no patience.
            executor.run(late ? static_cast<comm::pipeline_stage&>(stalling) : stage,
                         hurried ? comm::deadline{test::impatience} : comm::deadline{patience});
            return 0;
        });
        EXPECT_EQ(told.peer(), world_rank{1}) << told.what();
        EXPECT_NE(told.reason().find("the deadline passed before rank 1 came"), std::string_view::npos) << told.what();
    });
}

/// Rank `absent` never runs its part, and `hurried` waits for it.
struct absence {
    std::size_t absent = 0;
    std::size_t hurried = 0;
    std::string operation;
};

TYPED_TEST(pipeline_executor_on, names_who_did_not_come_in_the_numbers_of_the_world) {
    auto own = contrastive({1, 3}, {2, 2});
    own.pipelines[0].ranks = {world_rank{2}};
    own.pipelines[1].ranks = {world_rank{3}, world_rank{1}, world_rank{0}};
    // The stage before, the one after, and the last stage of another pipeline: each waits for the absent one alone.
    for (auto const& [absent, hurried, operation] :
         {absence{1, 0, "exchange"}, absence{1, 3, "exchange"}, absence{0, 2, "all_gather"}}) {
        this->run(own.ranks, [&, absent = to_id<world_rank>(absent), hurried = to_id<world_rank>(hurried),
                              operation = operation](comm::communicator& world) {
            // A rank that is slow to get here finds out while it still makes its executor.
            auto const told = test::error_of([&] {
                comm::pipeline_executor executor{world, own.pipelines, patience};
                if (world.rank() == absent) {
                    world.barrier().wait(patience);
                } else {
                    auto stage = own.stage_of(executor);
                    executor.run(stage, world.rank() == hurried ? comm::deadline{test::impatience} : patience);
                }
                return 0;
            });
            EXPECT_EQ(told.rank(), world.rank());
            EXPECT_EQ(told.peer(), absent) << told.what();
            auto const reason = "the deadline passed before " + rank_name(absent) + " came";
            if (world.rank() == hurried) {
                EXPECT_EQ(told.what(), operation + " on " + rank_name(hurried) + ": " + reason);
            } else {
                EXPECT_NE(std::string{told.what()}.find(reason), std::string::npos) << told.what();
            }
        });
    }
}

TYPED_TEST(pipeline_executor_on, refuses_what_it_cannot_run_on_every_rank) {
    auto const own = contrastive({2, 2}, {2, 2});
    auto const message = [&](comm::communicator& world, auto change) {
        auto pipelines = own.pipelines;
        change(pipelines);
        return test::refusal_of([&] { return comm::pipeline_executor{world, pipelines, patience}; });
    };
    this->run(own.ranks, [&](comm::communicator& world) {
        EXPECT_EQ(message(world, [](auto& pipelines) { pipelines[1].ranks[0] = world_rank{0}; }),
                  "pipeline_executor: pipelines[1].ranks[0] = 0, expected every world rank at most once");
        EXPECT_EQ(message(world, [](auto& pipelines) { pipelines[1].ranks[0] = world_rank{9}; }),
                  "pipeline_executor: pipelines[1].ranks[0] = 9, expected a world rank below 4");
        EXPECT_EQ(message(world, [](auto& pipelines) { pipelines[0].ranks.pop_back(); }),
                  "pipeline_executor: pipelines[0].ranks.size() = 1, expected one for each of 2 devices");
        EXPECT_EQ(
            message(world, [](auto& pipelines) { pipelines[0].boundary_bytes.clear(); }),
            "pipeline_executor: pipelines[0].boundary_bytes.size() = 0, expected one for each stage but the last");
        EXPECT_EQ(message(world, [](auto& pipelines) { pipelines[0].schedule.instructions.pop_back(); }),
                  "pipeline_executor: pipelines[0]: the offsets do not cut the instructions into devices");
        EXPECT_EQ(message(world, [](auto& pipelines) { pipelines[0].schedule = zero_bubble_h1(stage_count{2}, {2}); }),
                  "pipeline_executor: pipelines[0].schedule = I1, expected whole backwards only");
        EXPECT_EQ(
            message(world,
                    [](auto& pipelines) { pipelines[0].schedule = interleaved(device_count{2}, stage_count{4}, {2}); }),
            "pipeline_executor: pipelines[0].schedule.stages = 4, expected one for each of 2 devices");
        EXPECT_EQ(
            message(world, [](auto& pipelines) { pipelines[1].schedule = distmm_pipe(stage_count{2}, {2}, {2}); }),
            "pipeline_executor: pipelines[1]: 1 batch-syncs, but pipelines[0] has 2");
        EXPECT_EQ(message(world, [](auto& pipelines) { pipelines[1].schedule.offsets.clear(); }),
                  "pipeline_executor: pipelines[1].schedule.stages = 2, expected one for each of 0 devices");
        EXPECT_EQ(message(world, [](auto& pipelines) { pipelines[0].schedule = gpipe(stage_count{2}, {2}); }),
                  "pipeline_executor: pipelines[0].feature_bytes = " + std::to_string(own.pipelines[0].feature_bytes) +
                      ", expected 0 without batch-syncs");
        // After all that it still works.
        own.expect_the_gradients_of_one_process(world);
    });
}

TYPED_TEST(pipeline_executor_on, refuses_sizes_beyond_any_memory_on_every_rank) {
    auto const own = contrastive({2, 2}, {2, 2});
    this->run(own.ranks, [&](comm::communicator& world) {
        auto const message = [&](auto change) {
            auto pipelines = own.pipelines;
            change(pipelines);
            return test::refusal_of([&] { return comm::pipeline_executor{world, pipelines, patience}; });
        };
        for (unsigned const power : {59U, 60U, 63U}) {
            auto const bytes = std::size_t{1} << power;
            EXPECT_EQ(message([&](auto& pipelines) { pipelines[1].feature_bytes = bytes; }),
                      "pipeline_executor: pipelines[1].feature_bytes = " + std::to_string(bytes) +
                          ", expected at most 2^40 for the groups of all pipelines together; this one's is of 2");
            EXPECT_EQ(message([&](auto& pipelines) { pipelines[1].boundary_bytes[0] = bytes; }),
                      "pipeline_executor: pipelines[1].boundary_bytes[0] = " + std::to_string(bytes) +
                          ", expected at most 2^40");
        }
        // Each of them would do alone.
        auto const half = std::size_t{1} << 38U;
        EXPECT_EQ(message([&](auto& pipelines) {
                      pipelines[0].feature_bytes = half;
                      pipelines[1].feature_bytes = half + 1;
                  }),
                  "pipeline_executor: pipelines[1].feature_bytes = " + std::to_string(half + 1) +
                      ", expected at most 2^40 for the groups of all pipelines together; this one's is of 2");
        own.expect_the_gradients_of_one_process(world);
    });
}

TYPED_TEST(pipeline_executor_on, refuses_pipelines_that_are_not_the_same_everywhere) {
    auto const own = contrastive({2, 1}, {2, 2});
    this->run(own.ranks, [&](comm::communicator& world) {
        auto pipelines = own.pipelines;
        if (world.rank() == world_rank{1}) {
            pipelines[0].feature_bytes += 8;
        }
        auto const told = test::error_of([&] { return comm::pipeline_executor{world, pipelines, patience}; });
        EXPECT_EQ(told.peer(), world_rank{1});

        if (world.rank() == world_rank{1}) {
            pipelines[0].ranks.clear();
            EXPECT_THROW((comm::pipeline_executor{world, pipelines, patience}), std::invalid_argument);
        } else {
            auto const refused = test::error_of([&] { return comm::pipeline_executor{world, pipelines, patience}; });
            EXPECT_EQ(refused.peer(), world_rank{1});
        }
    });
}

}  // namespace
}  // namespace evenkeel::executor_test
