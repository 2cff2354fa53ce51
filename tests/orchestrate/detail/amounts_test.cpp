// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/core/group.hpp>
#include <evenkeel/orchestrate/detail/amounts.hpp>

namespace evenkeel::detail::amounts_test {

std::vector<phase> vision_and_llm(std::uint64_t bytes_in, std::uint64_t bytes_out) {
    auto const ranks = flat_group({1});
    return {{.name = "vision", .group = ranks, .bytes_in = bytes_in, .bytes_out = bytes_out, .tokens_per_output = 4},
            {.name = "llm", .group = ranks, .bytes_in = 8}};
}

/// Sample 0 is text alone, sample 1 has two images.
step_samples two_images(std::uint64_t length) {
    return {.counts = {2},
            .text = {20, 300},
            .inputs = {{.units = units_of(std::vector<std::size_t>{0, 2}), .lengths = {length, 10}}}};
}

std::vector<std::uint64_t> all_of(bytes_by_token const& bytes) {
    std::vector<std::uint64_t> result;
    for (std::size_t item = 0; item < bytes.size(); ++item) {
        result.push_back(bytes[item]);
    }
    return result;
}

TEST(amounts, adds_up_what_each_sample_brings) {
    auto const samples = two_images(256);
    auto const found = amounts_of(samples, vision_and_llm(100, 7));

    EXPECT_THAT(found.phases[0].weights, testing::ElementsAre(256, 10));
    EXPECT_EQ(all_of(found.phases[0].bytes), (std::vector<std::uint64_t>{25'600, 1000}));
    EXPECT_EQ(all_of(found.phases[0].output_bytes), (std::vector<std::uint64_t>{64 * 7, 3 * 7}));
    EXPECT_EQ(found.phases[0].total_bytes, 26'600U);
    EXPECT_EQ(found.phases[0].total_output_bytes, 67U * 7);
    EXPECT_EQ(found.phases[0].owners, (std::vector{item_id{1}, item_id{1}}));
    EXPECT_TRUE(found.phases[0].several_units);
    EXPECT_THAT(found.phases[1].weights, testing::ElementsAre(20, 367));
    EXPECT_EQ(all_of(found.phases[1].bytes), (std::vector<std::uint64_t>{160, 2400}));
    EXPECT_EQ(found.phases[1].total_bytes, 2560U);
    EXPECT_EQ(found.outputs, (std::vector<std::uint64_t>{0, 67 * 7}));
    EXPECT_EQ(found.moving, (std::vector<std::uint64_t>{160, 2400 + 2 * 67 * 7}));
}

TEST(amounts, are_the_same_where_every_sum_has_to_be_checked) {
    // Too wide for the short cut, yet all fits: 2^60 raw bytes, and 2^60 of outputs that travel both ways.
    std::uint64_t const length = std::uint64_t{1} << 50;
    auto const phases = vision_and_llm(1024, 4096);
    ASSERT_FALSE(all_bytes_fit(two_images(length), phases));
    auto const samples = two_images(length);
    auto const found = amounts_of(samples, phases);

    EXPECT_EQ(found.phases[0].total_bytes, (length + 10) * 1024);
    EXPECT_EQ(found.phases[0].total_output_bytes, (length / 4 + 3) * 4096);
    EXPECT_EQ(found.phases[1].weights[1], 300 + length / 4 + 3);
    EXPECT_EQ(found.moving[1], 2400 + 2 * (length / 4 + 3) * 4096);
}

TEST(amounts, refuse_outputs_that_fit_into_64_bits_one_way_but_not_both) {
    // 3 * 2^62 bytes of outputs; a third of them, with the inputs, travels both ways in 64 bits.
    EXPECT_THROW(static_cast<void>(amounts_of(two_images(std::uint64_t{1} << 52), vision_and_llm(1024, 4096 * 3))),
                 std::overflow_error);
    EXPECT_NO_THROW(static_cast<void>(amounts_of(two_images(std::uint64_t{1} << 52), vision_and_llm(1024, 4096))));
}

TEST(amounts, refuse_sums_of_units_that_fit_into_64_bits_one_by_one) {
    // 2^61 bytes before the encoder and 2^62 after it, there and back: one fits, and three do not.
    auto const ranks = flat_group({1});
    std::vector<phase> const phases{{.name = "vision", .group = ranks, .bytes_in = 1, .bytes_out = 1},
                                    {.name = "llm", .group = ranks}};
    auto const units = [](std::size_t count) {
        return step_samples{.counts = {1},
                            .text = {0},
                            .inputs = {{.units = units_of(std::vector<std::size_t>{count}),
                                        .lengths = std::vector<std::uint64_t>(count, std::uint64_t{1} << 61)}}};
    };
    EXPECT_NO_THROW(static_cast<void>(amounts_of(units(2), phases)));
    EXPECT_THROW(static_cast<void>(amounts_of(units(3), phases)), std::overflow_error);
}

}  // namespace evenkeel::detail::amounts_test
