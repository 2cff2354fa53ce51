// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/parallel/deployment.hpp>

#include "builders.hpp"

namespace evenkeel::deployment_test {
namespace {

TEST(samples_of, cuts_a_sync_into_shares_that_differ_by_one) {
    EXPECT_EQ(samples_of(10, 4, 0), (sample_range{0, 3}));
    EXPECT_EQ(samples_of(10, 4, 1), (sample_range{3, 6}));
    EXPECT_EQ(samples_of(10, 4, 2), (sample_range{6, 8}));
    EXPECT_EQ(samples_of(10, 4, 3), (sample_range{8, 10}));
}

TEST(samples_of, gives_every_sample_to_one_replica) {
    for (std::uint64_t per_sync = 1; per_sync < 40; ++per_sync) {
        for (std::size_t replicas = 1; replicas <= per_sync; ++replicas) {
            std::uint64_t next = 0;
            for (std::size_t replica = 0; replica < replicas; ++replica) {
                auto const own = samples_of(per_sync, replicas, replica);
                EXPECT_EQ(own.first, next);
                EXPECT_GE(own.size(), per_sync / replicas);
                EXPECT_LE(own.size(), (per_sync + replicas - 1) / replicas);
                next = own.last;
            }
            EXPECT_EQ(next, per_sync);
        }
    }
}

TEST(combined, is_the_slowest_of_modalities_side_by_side) {
    EXPECT_EQ(combined(std::vector{3.0, 5.0}, std::vector<std::size_t>{0, 0}, 1), 5);
}

TEST(combined, adds_what_the_first_sync_waits_for_other_levels) {
    EXPECT_EQ(combined(std::vector{3.0, 5.0}, std::vector<std::size_t>{0, 1}, 4), 5.75);
    EXPECT_EQ(combined(std::vector{3.0, 5.0}, std::vector<std::size_t>{0, 1}, 1), 8);
    EXPECT_EQ(combined(std::vector{3.0, 2.0, 5.0}, std::vector<std::size_t>{0, 0, 1}, 2), 6.5);
    EXPECT_EQ(combined({}, {}, 1), 0);
}

TEST(require_placement, refuses_what_is_missing_taken_twice_or_beyond) {
    std::vector<deployment> const two{{.cut = {.tp = 2}}, {.replicas = 2}};
    auto const cluster = test::roomy(2, 2);
    auto const check = [&](std::vector<std::vector<world_rank>> gpus) {
        require_placement("score", {std::move(gpus)}, two, cluster);
    };
    auto const gpu = [](std::uint32_t number) { return world_rank{number}; };
    check({{gpu(0), gpu(1)}, {gpu(3), gpu(2)}});
    EXPECT_THROW(check({{gpu(0), gpu(1)}}), std::invalid_argument);
    EXPECT_THROW(check({{gpu(0), gpu(1)}, {gpu(3)}}), std::invalid_argument);
    EXPECT_THROW(check({{gpu(0), gpu(1)}, {gpu(3), gpu(1)}}), std::invalid_argument);
    EXPECT_THROW(check({{gpu(0), gpu(1)}, {gpu(3), gpu(4)}}), std::invalid_argument);
}

}  // namespace
}  // namespace evenkeel::deployment_test
