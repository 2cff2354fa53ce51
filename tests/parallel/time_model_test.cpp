// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/parallel/time_model.hpp>

namespace evenkeel::time_model_test {
namespace {

using testing::HasSubstr;

TEST(time_table, gives_what_was_measured_and_the_line_between) {
    time_table const table{{{.micro_batch = 1, .seconds = 2}, {.micro_batch = 3, .seconds = 4}}};
    EXPECT_EQ(measured_seconds(table, 1, 1), 2);
    EXPECT_EQ(measured_seconds(table, 2, 1), 3);
    EXPECT_EQ(measured_seconds(table, 3, 1), 4);
}

TEST(time_table, is_no_faster_below_the_smallest_size) {
    EXPECT_EQ(measured_seconds({{{.micro_batch = 4, .seconds = 2}, {.micro_batch = 8, .seconds = 3}}}, 1, 1), 2);
}

TEST(time_table, goes_on_above_the_largest_size) {
    EXPECT_EQ(measured_seconds({{{.micro_batch = 4, .seconds = 2}, {.micro_batch = 8, .seconds = 3}}}, 16, 1), 5);
    // One size, or sizes that took ever less time, say nothing about a slope.
    EXPECT_EQ(measured_seconds({{{.micro_batch = 4, .seconds = 2}}}, 8, 1), 4);
    EXPECT_EQ(measured_seconds({{{.micro_batch = 2, .seconds = 3}, {.micro_batch = 4, .seconds = 2}}}, 8, 1), 4);
}

TEST(time_table, keeps_degrees_apart) {
    time_table const table{{{.micro_batch = 1, .tp = 1, .seconds = 8},
                            {.micro_batch = 1, .tp = 2, .seconds = 5},
                            {.micro_batch = 2, .tp = 1, .seconds = 16}}};
    EXPECT_EQ(measured_seconds(table, 2, 1), 16);
    EXPECT_EQ(measured_seconds(table, 2, 2), 10);
    EXPECT_EQ(measured_seconds(table, 2, 4), std::nullopt);
}

std::string refusal(time_model const& bad) {
    try {
        detail::require_time_model("plan_cluster", "submodule 'vision'", bad);
    } catch (std::invalid_argument const& error) {
        return error.what();
    }
    return "";
}

TEST(time_model, is_refused_where_it_is_no_time) {
    EXPECT_THAT(refusal(seconds_per_sample{0}), HasSubstr("submodule 'vision'.seconds_per_sample = 0"));
    EXPECT_THAT(refusal(seconds_per_sample{std::nan("")}), HasSubstr("nan"));
    EXPECT_THAT(refusal(seconds_per_sample{1, -1}), HasSubstr("colocated_seconds_per_sample = -1"));
    EXPECT_THAT(refusal(time_table{}), HasSubstr("time_table = []"));
    EXPECT_THAT(refusal(time_table{{{.micro_batch = 0, .seconds = 1}}}), HasSubstr("time_table[0].micro_batch = 0"));
    EXPECT_THAT(refusal(time_table{{{.tp = 0, .seconds = 1}}}), HasSubstr("time_table[0].tp = 0"));
    EXPECT_THAT(refusal(time_table{{{.seconds = -2}}}), HasSubstr("time_table[0].seconds = -2"));
    EXPECT_THAT(refusal(time_table{{{.micro_batch = 2, .seconds = 1}, {.micro_batch = 2, .seconds = 1}}}),
                HasSubstr("time_table[1].micro_batch = 2, expected more than the 2"));
    EXPECT_THAT(refusal(flops_time{.flops_per_second = 0}), HasSubstr("flops.per_second = 0"));
    EXPECT_THAT(refusal(flops_time{.flops_per_second = 1, .best_efficiency = 1.5}), HasSubstr("best_efficiency = 1.5"));
    EXPECT_THAT(refusal(flops_time{.flops_per_second = 1, .best_efficiency = 0}), HasSubstr("best_efficiency = 0"));
    EXPECT_THAT(refusal(flops_time{.flops_per_second = 1, .half_efficiency = -1}), HasSubstr("half_efficiency = -1"));
    EXPECT_EQ(refusal(time_table{{{.micro_batch = 2, .seconds = 1}, {.micro_batch = 1, .tp = 2, .seconds = 1}}}), "");
}

}  // namespace
}  // namespace evenkeel::time_model_test
