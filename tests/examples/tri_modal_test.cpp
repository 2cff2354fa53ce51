// SPDX-License-Identifier: Apache-2.0
#include "examples/support/tri_modal.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace evenkeel::examples::tri_modal_test {
namespace {

TEST(tri_modal, makes_rows_of_text_image_and_audio) {
    auto const made = tri_modal(2560, 1);
    EXPECT_EQ(made.columns, (std::vector<std::string>{"text", "image", "audio"}));
    EXPECT_EQ(made.rows(), 2560u);
    EXPECT_EQ(tri_modal(0, 1).rows(), 0u);
}

TEST(tri_modal, gives_the_same_rows_for_the_same_seed) {
    EXPECT_EQ(tri_modal(100, 5), tri_modal(100, 5));
    EXPECT_NE(tri_modal(100, 5), tri_modal(100, 6));
}

TEST(tri_modal, begins_alike_however_many_rows_are_asked_for) {
    auto const few = tri_modal(10, 5);
    auto const many = tri_modal(100, 5);
    EXPECT_TRUE(std::equal(few.lengths.begin(), few.lengths.end(), many.lengths.begin()));
}

TEST(tri_modal, has_the_marginals_it_promises) {
    constexpr auto rows = std::size_t{200'000};
    auto const made = tri_modal(rows, 1);
    auto const mean = [&](std::size_t column) {
        auto sum = 0.0;
        for (auto row = std::size_t{0}; row < rows; ++row) {
            sum += static_cast<double>(made[row][column]);
        }
        return sum / rows;
    };
    auto const absent = [&](std::size_t column) {
        auto count = 0.0;
        for (auto row = std::size_t{0}; row < rows; ++row) {
            count += made[row][column] == 0 ? 1 : 0;
        }
        return count / rows;
    };
    EXPECT_NEAR(mean(0), 318, 10);
    EXPECT_NEAR(mean(1), 298, 10);
    EXPECT_NEAR(mean(2), 136, 6);
    EXPECT_EQ(absent(0), 0);
    EXPECT_NEAR(absent(1), 0.58, 0.01);
    EXPECT_NEAR(absent(2), 0.62, 0.01);
}

}  // namespace
}  // namespace evenkeel::examples::tri_modal_test
