// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/parallel/in_flight.hpp>

namespace evenkeel::in_flight_test {
namespace {

using testing::ElementsAre;

std::vector<std::uint64_t> held(pipeline_order order, std::size_t stages, std::uint64_t group,
                                std::uint64_t micro_batches) {
    std::vector<std::uint64_t> result;
    for (std::size_t stage = 0; stage < stages; ++stage) {
        result.push_back(in_flight(order, stages, stage, group, micro_batches));
    }
    return result;
}

TEST(in_flight, is_what_the_papers_figures_draw) {
    EXPECT_THAT(held(pipeline_order::batch_sync, 4, 4, 16), ElementsAre(7, 6, 5, 4));  // Fig. 6
    EXPECT_THAT(held(pipeline_order::batch_sync, 2, 2, 6), ElementsAre(3, 2));         // Fig. 2, text
    EXPECT_THAT(held(pipeline_order::batch_sync, 4, 4, 12), ElementsAre(7, 6, 5, 4));  // Fig. 2, image
}

TEST(in_flight, is_that_of_1f1b_with_groups_of_one) {
    EXPECT_EQ(held(pipeline_order::batch_sync, 4, 1, 8), held(pipeline_order::one_f_one_b, 4, 5, 8));
    EXPECT_THAT(held(pipeline_order::one_f_one_b, 4, 1, 8), ElementsAre(4, 3, 2, 1));
}

TEST(in_flight, is_never_more_than_there_are) {
    EXPECT_THAT(held(pipeline_order::batch_sync, 3, 8, 2), ElementsAre(2, 2, 2));
    EXPECT_THAT(held(pipeline_order::one_f_one_b, 4, 1, 2), ElementsAre(2, 2, 2, 1));
    EXPECT_THAT(held(pipeline_order::one_group_ahead, 2, 3, 4), ElementsAre(4, 4));
}

TEST(in_flight, counts_a_second_group_where_the_next_model_works_on_the_first) {
    EXPECT_THAT(held(pipeline_order::one_group_ahead, 2, 3, 12), ElementsAre(7, 6));
}

}  // namespace
}  // namespace evenkeel::in_flight_test
