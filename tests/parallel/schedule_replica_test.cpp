// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <utility>

#include <gtest/gtest.h>

#include <evenkeel/parallel/schedule_replica.hpp>

#include "builders.hpp"
#include "tests/support/batches.hpp"

namespace evenkeel::schedule_replica_test {
namespace {

replica_schedule scheduled(submodule const& of, parallelism cut, std::size_t replicas, std::uint64_t per_sync,
                           std::uint64_t syncs, double memory = 1e12) {
    auto cluster = test::roomy(8, 8);
    cluster.memory_bytes = memory;
    return schedule_replica(of, {}, cluster, cut, split_stages(of, cut.pp), replicas, per_sync, syncs);
}

TEST(schedule_replica, cuts_shares_as_figure_2_does) {
    auto const [text, image] = std::pair{test::figure_2().submodules[0], test::figure_2().submodules[1]};
    auto const of_text = scheduled(text, {.tp = 2, .pp = 2}, 4, 24, 3);
    EXPECT_EQ(of_text.load->micro_batch, 3u);
    EXPECT_EQ(of_text.load->group, 2u);
    EXPECT_EQ(of_text.seconds, 36);
    auto const of_image = scheduled(image, {.tp = 4, .pp = 4}, 3, 24, 3);
    EXPECT_EQ(of_image.load->micro_batch, 2u);
    EXPECT_EQ(of_image.load->group, 4u);
    EXPECT_EQ(of_image.seconds, 36);
}

TEST(schedule_replica, takes_everything_at_once_without_a_pipeline) {
    submodule of{.name = "tower",
                 .time = time_table{{{.micro_batch = 1, .seconds = 2}, {.micro_batch = 2, .seconds = 3}}}};
    auto const all = scheduled(of, {}, 2, 20, 1);
    EXPECT_EQ(all.load->share, 10u);
    EXPECT_EQ(all.load->micro_batch, 10u);
    EXPECT_EQ(all.seconds, 11);
}

TEST(schedule_replica, fits_into_memory_or_says_what_it_would_take) {
    // As fast with one sample as with 16, so large micro-batches are better.
    time_table const flat{{{.micro_batch = 1, .seconds = 4}, {.micro_batch = 16, .seconds = 4}}};
    submodule const of{.name = "tower", .layers = 4, .activation_bytes = 4, .time = flat};
    // 1 byte per sample and stage: 7 of 4 micro-batches are in flight, or 19 of 16.
    auto const fits = scheduled(of, {.pp = 4}, 1, 16, 2, 28);
    EXPECT_EQ(fits.load->micro_batch, 4u);
    EXPECT_EQ(fits.bytes, 28);
    auto const finer = scheduled(of, {.pp = 4}, 1, 16, 2, 20);
    EXPECT_EQ(finer.load->micro_batch, 1u);
    EXPECT_EQ(finer.bytes, 19);
    auto const none = scheduled(of, {.pp = 4}, 1, 16, 2, 18);
    EXPECT_FALSE(none.load);
    EXPECT_EQ(none.least_bytes, 19);
}

TEST(schedule_replica, keeps_to_the_sizes_that_are_allowed) {
    submodule of{.name = "tower", .time = time_table{{{.micro_batch = 1, .seconds = 1}}}, .micro_batches = {3, 50}};
    EXPECT_EQ(scheduled(of, {}, 1, 10, 1).load->micro_batch, 10u);
    of.micro_batches = {3};
    auto const threes = scheduled(of, {}, 1, 10, 1);
    EXPECT_EQ(threes.load->micro_batch, 3u);
    EXPECT_EQ(threes.load->group, 4u);
}

TEST(schedule_replica, is_as_fast_as_any_size_it_may_choose) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        test::seeded random{seed};
        time_table table;
        double seconds = 1;
        for (std::uint64_t size = 1; size <= 32; size *= 2) {
            seconds += static_cast<double>(random.up_to(8));
            table.rows.push_back({.micro_batch = size, .seconds = seconds});
        }
        std::size_t const stages = random.between(1, 4);
        submodule const of{.name = "tower",
                           .layers = 12,
                           .activation_bytes = static_cast<double>(random.between(0, 12)),
                           .time = table};
        std::uint64_t const share = random.between(1, 32);
        std::uint64_t const syncs = random.between(1, 3);
        double const memory = static_cast<double>(random.between(1, 200));
        auto const best = scheduled(of, {.pp = stages}, 1, share, syncs, memory);
        double fastest = std::numeric_limits<double>::infinity();
        for (auto const size : detail::micro_batch_choices(of, stages, share)) {
            replica_load const load{.per_sync = share,
                                    .share = share,
                                    .micro_batch = size,
                                    .group = (share + size - 1) / size,
                                    .syncs = syncs};
            auto const split = split_stages(of, stages);
            if (replica_bytes(of, {}, {.pp = stages}, split, load) <= memory) {
                fastest = std::min(fastest, *replica_seconds(of, {}, test::roomy(8, 8), {.pp = stages}, split, load));
            }
        }
        ASSERT_EQ(best.load.has_value(), fastest < std::numeric_limits<double>::infinity()) << "seed " << seed;
        if (best.load) {
            EXPECT_NEAR(best.seconds, fastest, 1e-9 * fastest) << "seed " << seed;
            EXPECT_LE(best.bytes, memory) << "seed " << seed;
            EXPECT_GE(best.load->micro_batch * best.load->group, share) << "seed " << seed;
        }
    }
}

}  // namespace
}  // namespace evenkeel::schedule_replica_test
