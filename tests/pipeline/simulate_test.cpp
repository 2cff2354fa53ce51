// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/pipeline/distmm_pipe.hpp>
#include <evenkeel/pipeline/gpipe.hpp>
#include <evenkeel/pipeline/interleaved.hpp>
#include <evenkeel/pipeline/one_f_one_b.hpp>
#include <evenkeel/pipeline/simulate.hpp>
#include <evenkeel/pipeline/zero_bubble.hpp>

#include "tests/support/batches.hpp"
#include "tests/support/schedule_generator.hpp"
#include "tests/support/schedules.hpp"

namespace evenkeel::simulate_test {
namespace {

using peaks = std::vector<std::size_t>;

interval when(schedule const& pipeline, timeline const& line, instruction const& one) {
    auto const found = std::ranges::find(pipeline.instructions, one);
    return line.intervals.at(static_cast<std::size_t>(found - pipeline.instructions.begin()));
}

std::vector<double> sync_ends(schedule const& pipeline, timeline const& line) {
    std::vector<double> ends;
    for (std::size_t group = 0; group < pipeline.syncs(); ++group) {
        ends.push_back(when(pipeline, line, test::make(instruction_kind::batch_sync, pipeline.stages - 1, group)).end);
    }
    return ends;
}

TEST(simulate, reproduces_gpipe_with_sync_in_figure_6) {
    auto const simulated = simulate(gpipe_sync(stage_count{4}, {8}, {2}, micro_batch_count{4}),
                                    uniform_times({4}, {.forward = 2, .backward = 4}, 1));

    EXPECT_EQ(simulated.end, 88);
    EXPECT_EQ(simulated.pipelines[0].peak_in_flight, (peaks{4, 4, 4, 4}));
}

TEST(simulate, reproduces_gpipe_with_sync_at_other_flushes) {
    auto const end = [](std::size_t flush) {
        return simulate(gpipe_sync(stage_count{4}, {8}, {2}, micro_batch_count{flush}),
                        uniform_times({4}, {.forward = 2, .backward = 4}, 1))
            .end;
    };
    EXPECT_EQ(end(2), 124);
    EXPECT_EQ(end(8), 70);
}

TEST(simulate, reproduces_distmm_pipe_in_figure_6) {
    auto const simulated =
        simulate(distmm_pipe(stage_count{4}, {16}, {4}), uniform_times({4}, {.forward = 1, .backward = 2}, 1));

    EXPECT_EQ(simulated.end, 61);
    EXPECT_EQ(simulated.pipelines[0].peak_in_flight, (peaks{7, 6, 5, 4}));
    EXPECT_EQ(simulated.pipelines[0].bubble, (std::vector<double>{13, 13, 13, 9}));
    EXPECT_EQ(simulated.busy_share(0, device_id{3}), 52.0 / 61);
}

TEST(simulate, reproduces_two_modalities_in_figure_2) {
    auto const pipelines = std::array{distmm_pipe(stage_count{2}, {6}, {2}), distmm_pipe(stage_count{4}, {12}, {4})};
    auto const simulated = simulate(pipelines, std::array{uniform_times({2}, {.forward = 2, .backward = 4}),
                                                          uniform_times({4}, {.forward = 1, .backward = 2})});

    EXPECT_EQ(sync_ends(pipelines[0], simulated.pipelines[0]), (std::vector<double>{7, 19, 31}));
    EXPECT_EQ(sync_ends(pipelines[1], simulated.pipelines[1]), (std::vector<double>{7, 19, 31}));
    EXPECT_EQ(simulated.pipelines[0].end, 43);
    EXPECT_EQ(simulated.pipelines[1].end, 45);
    EXPECT_EQ(simulated.end, 45);
    EXPECT_EQ(simulated.pipelines[0].peak_in_flight, (peaks{3, 2}));
    EXPECT_EQ(simulated.pipelines[1].peak_in_flight, (peaks{7, 6, 5, 4}));
}

TEST(simulate, reproduces_finer_splits_of_the_micro_batches_of_figure_6) {
    // 8 micro-batches in r pieces each, two of them per batch-sync.
    auto const split = [](std::size_t pieces) {
        auto const part = 1.0 / static_cast<double>(pieces);
        return simulate(distmm_pipe(stage_count{4}, {8 * pieces}, {2 * pieces}),
                        uniform_times({4}, {.forward = 2 * part, .backward = 4 * part}, 1));
    };
    EXPECT_EQ(split(1).end, 70);
    EXPECT_EQ(split(2).end, 61);
    EXPECT_EQ(split(4).end, 56.5);
    EXPECT_EQ(split(8).end, 54.25);
    // In whole micro-batches: 5, 3.5, 2.75, 2.375.
    EXPECT_EQ(split(1).pipelines[0].peak_in_flight[0], 5u);
    EXPECT_EQ(split(2).pipelines[0].peak_in_flight[0], 7u);
    EXPECT_EQ(split(4).pipelines[0].peak_in_flight[0], 11u);
    EXPECT_EQ(split(8).pipelines[0].peak_in_flight[0], 19u);
}

TEST(simulate, takes_the_time_of_the_closed_form_with_any_uniform_times) {
    std::size_t settings = 0;
    for (std::uint64_t seed = 0; seed < 2500; ++seed) {
        test::seeded random{seed};
        std::size_t const stages = random.between(1, 8);
        std::size_t const group = random.between(1, 12);
        std::size_t const groups = random.between(0, 5);
        // Quarters, so that every sum is exact.
        auto const time = [&] { return static_cast<double>(random.up_to(40)) / 4; };
        double const forward = time();
        double const backward = time();
        double const sync = time();
        auto const simulated = simulate(distmm_pipe({stages}, {groups * group}, {group}),
                                        uniform_times({stages}, {.forward = forward, .backward = backward}, sync));
        auto const passes = static_cast<double>(groups == 0 ? 0 : stages - 1 + groups * group);

        ASSERT_EQ(simulated.end, passes * (forward + backward) + static_cast<double>(groups) * sync) << "seed " << seed;
        for (std::size_t stage = 0; stage < stages; ++stage) {
            ASSERT_EQ(simulated.pipelines[0].peak_in_flight[stage],
                      std::min(groups * group, group + stages - 1 - stage));
        }
        ++settings;
    }
    EXPECT_GE(settings, 2000u);
}

TEST(simulate, takes_the_time_of_the_closed_form_of_gpipe_with_sync) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        test::seeded random{seed};
        std::size_t const stages = random.between(1, 8);
        std::size_t const group = random.between(1, 4);
        std::size_t const syncs = random.between(1, 3);
        std::size_t const flushes = random.between(1, 3);
        auto const time = [&] { return static_cast<double>(random.up_to(40)) / 4; };
        double const pass = time();
        double const sync = time();
        std::size_t const flush = syncs * group;
        // With forwards as long as backwards and longer than the sync, the sync waits for no forward.
        auto const simulated = simulate(gpipe_sync({stages}, {flushes * flush}, {group}, micro_batch_count{flush}),
                                        uniform_times({stages}, {.forward = pass, .backward = pass}, sync));

        ASSERT_EQ(simulated.end, static_cast<double>(flushes) * (static_cast<double>(stages - 1 + flush) * 2 * pass +
                                                                 static_cast<double>(syncs) * sync));
    }
}

TEST(simulate, has_the_published_bubbles) {
    for (std::size_t devices = 1; devices <= 6; ++devices) {
        for (std::size_t rounds = 1; rounds <= 4; ++rounds) {
            auto const hops = static_cast<double>(devices - 1);
            std::size_t const micro_batches = devices * rounds;
            auto const bubbles = [](schedule const& drawn, stage_times times) {
                return simulate(drawn, uniform_times({drawn.stages}, times)).pipelines[0].bubble;
            };
            std::vector<double> const one_f_one_b_bubbles(devices, hops * (1.5 + 2.5));
            EXPECT_EQ(bubbles(one_f_one_b({devices}, {micro_batches}), {.forward = 1.5, .backward = 2.5}),
                      one_f_one_b_bubbles);
            EXPECT_EQ(bubbles(gpipe({devices}, {micro_batches}), {.forward = 1.5, .backward = 2.5}),
                      one_f_one_b_bubbles);
            // (devices - 1) (F + B) / chunks, of which a stage has one part.
            for (std::size_t chunks = 1; chunks <= 4; ++chunks) {
                EXPECT_EQ(bubbles(interleaved({devices}, {chunks * devices}, {micro_batches}),
                                  {.forward = 1.5, .backward = 2.5}),
                          one_f_one_b_bubbles)
                    << devices << " devices, " << chunks << " stages each, " << micro_batches << " micro-batches";
            }
            // (devices - 1) (F + B - 2W), where B is the whole backward.
            if (rounds > 1) {
                EXPECT_EQ(bubbles(zero_bubble_h1({devices}, {micro_batches}),
                                  {.forward = 1, .input_gradient = 1, .weight_gradient = 1}),
                          std::vector<double>(devices, hops * (1 + 1 - 1)));
            }
        }
    }
}

TEST(simulate, waits_for_transfers_which_leave_no_slack_in_distmm_pipe) {
    auto const with_latency = [](double latency) {
        auto times = uniform_times({4}, {.forward = 1, .backward = 2}, 1);
        times.link.latency = latency;
        return simulate(distmm_pipe(stage_count{4}, {16}, {4}), times).end;
    };
    EXPECT_EQ(with_latency(0), 61);
    EXPECT_NEAR(with_latency(0.1), 63.4, 1e-12);
    EXPECT_EQ(with_latency(0.5), 73);
}

TEST(simulate, sends_one_after_the_other_over_a_link) {
    auto const drawn = gpipe(stage_count{2}, {3});
    auto times = uniform_times({2}, {.forward = 1, .backward = 1});
    times.boundary_bytes = {30};
    times.link = {.latency = 1, .bandwidth = 10};
    auto const line = simulate(drawn, times).pipelines[0];
    auto const arrival = [&](std::size_t number) {
        return when(drawn, line, test::make(instruction_kind::receive_activation, 1, number)).end;
    };
    // Each takes 3 on the wire and 1 more to arrive; forwards make one every 1.
    EXPECT_EQ(arrival(0), 1 + 3 + 1);
    EXPECT_EQ(arrival(1), 4 + 3 + 1);
    EXPECT_EQ(arrival(2), 7 + 3 + 1);
}

TEST(simulate, keeps_a_device_busy_that_cannot_send_while_it_computes) {
    auto const drawn = gpipe(stage_count{2}, {2});
    auto times = uniform_times({2}, {.forward = 1, .backward = 1});
    times.boundary_bytes = {30};
    times.link = {.latency = 1, .bandwidth = 10, .overlaps = false};
    auto const simulated = simulate(drawn, times);

    // F1 0-1, sent until 5, F2 5-6, sent until 10; the last stage then has F2 10-11 and B1 11-12, sent until 16 ...
    EXPECT_EQ(when(drawn, simulated.pipelines[0], test::make(instruction_kind::forward, 0, 1)).start, 5);
    EXPECT_EQ(when(drawn, simulated.pipelines[0], test::make(instruction_kind::backward, 1, 1)).start, 16);
    EXPECT_EQ(simulated.end, 22);
    EXPECT_EQ(simulated.pipelines[0].busy, (std::vector<double>{2 + 2 + 8, 2 + 2 + 8}));
}

TEST(simulate, starts_a_batch_sync_when_the_last_pipeline_has_come) {
    auto const pipelines = std::array{distmm_pipe(stage_count{1}, {1}, {1}), distmm_pipe(stage_count{1}, {2}, {2})};
    auto times = std::array{uniform_times({1}, {.forward = 1, .backward = 1}, 2),
                            uniform_times({1}, {.forward = 3, .backward = 1}, 5)};
    times[0].gather = 0.5;
    auto const simulated = simulate(pipelines, times);

    EXPECT_EQ(when(pipelines[0], simulated.pipelines[0], test::make(instruction_kind::batch_sync, 0, 0)),
              (interval{6, 8.5}));
    EXPECT_EQ(when(pipelines[1], simulated.pipelines[1], test::make(instruction_kind::batch_sync, 0, 0)),
              (interval{6, 11}));
    EXPECT_EQ(simulated.pipelines[0].bubble[0], 13 - (1 + 2.5 + 1));
}

TEST(simulate, of_nothing_takes_no_time) {
    EXPECT_EQ(simulate(std::span<schedule const>{}, {}).end, 0);
    auto const idle = simulate(distmm_pipe(stage_count{3}, {0}, {2}), uniform_times({3}, {.forward = 1}));
    EXPECT_EQ(idle.end, 0);
    EXPECT_EQ(idle.busy_share(0, device_id{0}), 1);
}

TEST(simulate, runs_ten_thousand_random_schedules_and_keeps_to_what_they_say) {
    using enum instruction_kind;
    for (std::uint64_t seed = 0; seed < 10'000; ++seed) {
        auto const pipelines = test::schedule_generator{seed}.draw();
        test::seeded random{seed};
        std::vector<pipeline_times> times;
        for (auto const& pipeline : pipelines) {
            auto const time = [&] { return static_cast<double>(random.up_to(12)) / 4; };
            pipeline_times own{.sync = time(), .gather = time()};
            for (std::size_t stage = 0; stage < pipeline.stages; ++stage) {
                own.stages.push_back({time(), time(), time(), time()});
                own.boundary_bytes.push_back(random.up_to(8));
            }
            own.boundary_bytes.pop_back();
            own.link = {.latency = time(), .bandwidth = 4, .overlaps = random.up_to(1) == 0};
            times.push_back(own);
        }
        auto const simulated = simulate(pipelines, times);

        for (std::size_t number = 0; number < pipelines.size(); ++number) {
            auto const& pipeline = pipelines[number];
            auto const& line = simulated.pipelines[number];
            std::vector<std::vector<double>> arrivals(2 * pipeline.stages);
            for (std::size_t position = 0; position < pipeline.instructions.size(); ++position) {
                auto const& one = pipeline.instructions[position];
                if (one.kind == send_activation || one.kind == send_gradient) {
                    arrivals[2 * to_index(one.stage) + (one.kind == send_gradient ? 1 : 0)].push_back(
                        line.intervals[position].end);
                }
            }
            std::vector<std::size_t> received(2 * pipeline.stages);
            for (std::size_t device = 0; device < pipeline.devices(); ++device) {
                double free_at = 0;
                for (std::size_t position = pipeline.offsets[device]; position < pipeline.offsets[device + 1];
                     ++position) {
                    auto const& one = pipeline.instructions[position];
                    auto const& at = line.intervals[position];
                    bool const sends = one.kind == send_activation || one.kind == send_gradient;
                    ASSERT_GE(at.start, free_at) << "seed " << seed;
                    ASSERT_GE(at.end, at.start);
                    ASSERT_LE(at.end, simulated.end);
                    if (one.kind == receive_activation || one.kind == receive_gradient) {
                        std::size_t const stage = to_index(one.stage);
                        std::size_t const link = one.kind == receive_activation ? 2 * (stage - 1) : 2 * (stage + 1) + 1;
                        ASSERT_EQ(at.end, std::max(at.start, arrivals[link][received[link]++])) << "seed " << seed;
                    } else if (!sends && one.kind != batch_sync) {
                        // Nothing idles without a cause.
                        ASSERT_EQ(at.start, free_at) << "seed " << seed;
                    }
                    free_at = sends && times[number].link.overlaps ? free_at : at.end;
                }
                ASSERT_EQ(line.busy[device] + line.bubble[device], simulated.end);
            }
        }
        for (std::size_t group = 0; group < pipelines[0].syncs(); ++group) {
            for (std::size_t number = 1; number < pipelines.size(); ++number) {
                auto const sync = [&](std::size_t which) {
                    return when(pipelines[which], simulated.pipelines[which],
                                test::make(batch_sync, pipelines[which].stages - 1, group));
                };
                ASSERT_EQ(sync(number).start, sync(0).start);
            }
        }
    }
}

TEST(simulate, refuses_times_that_are_none) {
    auto const drawn = distmm_pipe(stage_count{2}, {2}, {1});
    auto const message = [&](auto change) {
        auto times = uniform_times({2}, {.forward = 1, .backward = 1});
        change(times);
        try {
            (void)simulate(drawn, times);
        } catch (std::invalid_argument const& error) {
            return std::string{error.what()};
        }
        return std::string{"none"};
    };
    EXPECT_EQ(message([](auto& times) { times.stages[1].backward = -1; }),
              "simulate: times[0].stages[1].backward = -1, expected a time from 0 to 1e200");
    EXPECT_EQ(message([](auto& times) { times.sync = std::numeric_limits<double>::quiet_NaN(); }),
              "simulate: times[0].sync = nan, expected a time from 0 to 1e200");
    EXPECT_EQ(message([](auto& times) { times.gather = std::numeric_limits<double>::infinity(); }),
              "simulate: times[0].gather = inf, expected a time from 0 to 1e200");
    EXPECT_EQ(message([](auto& times) { times.stages.pop_back(); }),
              "simulate: times[0].stages.size() = 1, expected one for each of 2 stages");
    EXPECT_EQ(message([](auto& times) { times.link.bandwidth = 0; }),
              "simulate: times[0].link.bandwidth = 0, expected more than 0");
    EXPECT_EQ(message([](auto& times) {
                  times.boundary_bytes = {1, 2};
              }),
              "simulate: times[0].boundary_bytes.size() = 2, expected none, or one for each stage but the last");
    EXPECT_THROW((void)simulate(std::span{&drawn, 1}, {}), std::invalid_argument);
}

TEST(simulate, refuses_times_that_add_up_to_more_than_a_number_holds) {
    auto const drawn = distmm_pipe(stage_count{2}, {4}, {2});
    auto const message = [&](pipeline_times const& times) {
        try {
            auto const simulated = simulate(drawn, times);
            EXPECT_TRUE(std::isfinite(simulated.end));
            for (auto const& line : simulated.pipelines) {
                for (double const bubble : line.bubble) {
                    EXPECT_TRUE(std::isfinite(bubble));
                }
            }
        } catch (std::invalid_argument const& error) {
            return std::string{error.what()};
        }
        return std::string{"none"};
    };
    auto times = uniform_times({2}, {.forward = 1e308, .backward = 1});
    EXPECT_EQ(message(times), "simulate: times[0].stages[0].forward = 1e+308, expected a time from 0 to 1e200");
    times = uniform_times({2}, {.forward = 1e200, .backward = 1e200}, 1e200);
    times.link = {.latency = 1e200, .bandwidth = 1e-180};
    times.boundary_bytes = {std::uint64_t{1} << 63U};
    EXPECT_EQ(message(times), "none");
    times.link.bandwidth = 1e-320;
    EXPECT_EQ(message(times),
              "simulate: times[0].link.bandwidth = 1e-320, expected as much as carries boundary_bytes[0], "
              "9223372036854775808, within 1e200");
    times.boundary_bytes = {0};
    EXPECT_EQ(message(times), "none");
}

TEST(simulate, refuses_schedules_that_do_not_run) {
    auto drawn = one_f_one_b(stage_count{1}, {2});
    std::swap(drawn.instructions[0], drawn.instructions[1]);
    EXPECT_THROW((void)simulate(drawn, uniform_times({1}, {})), std::invalid_argument);
}

TEST(simulate, gives_the_same_for_three_large_pipelines_again) {
    std::vector<schedule> const pipelines(3, distmm_pipe(stage_count{16}, {128}, {16}));
    std::vector<pipeline_times> const times(3, uniform_times({16}, {.forward = 0.1, .backward = 0.2}, 0.3));
    auto const first = simulate(pipelines, times);

    EXPECT_EQ(first, simulate(pipelines, times));
    EXPECT_NEAR(first.end, (15 + 128) * 0.3 + 8 * 0.3, 1e-9);
}

}  // namespace
}  // namespace evenkeel::simulate_test
