// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/solve/detail/sorted_items.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::detail::sorted_items_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using weights = std::vector<std::uint64_t>;

TEST(sort_items, puts_the_heaviest_first_and_equal_ones_in_the_order_of_the_batch) {
    sorted_items items;
    sort_items("test", weights{3, 0, 7, 3, 1, 7}, items);

    EXPECT_THAT(items.weights, ElementsAre(7, 7, 3, 3, 1));
    EXPECT_THAT(items.positions, ElementsAre(2, 5, 0, 3, 4));
    EXPECT_EQ(items.unit, 1u);
    EXPECT_EQ(items.total, 21u);
}

TEST(sort_items, counts_in_units_of_the_greatest_common_divisor) {
    sorted_items items;
    sort_items("test", weights{1536, 512, 0, 768}, items);

    EXPECT_EQ(items.unit, 256u);
    EXPECT_THAT(items.weights, ElementsAre(6, 3, 2));
    EXPECT_EQ(items.total, 11u);
}

TEST(sort_items, counts_in_units_however_it_sorts) {
    // Many items of few sizes are sorted by counting.
    weights batch(5000);
    for (std::size_t position = 0; position < batch.size(); ++position) {
        batch[position] = position % 3 * 576;
    }
    sorted_items items;
    sort_items("test", batch, items);

    ASSERT_EQ(items.size(), 3333u);
    EXPECT_EQ(items.unit, 576u);
    EXPECT_EQ(items.weights.front(), 2u);
    EXPECT_EQ(items.positions.front(), 2u);
    EXPECT_EQ(items.weights.back(), 1u);
    EXPECT_EQ(items.positions.back(), 4999u);
    EXPECT_EQ(items.total, 1667u + 2 * 1666u);
}

TEST(sort_items, forgets_the_batch_before) {
    sorted_items items;
    sort_items("test", weights{8, 4}, items);
    sort_items("test", weights{0}, items);

    EXPECT_THAT(items.weights, IsEmpty());
    EXPECT_EQ(items.unit, 1u);
    EXPECT_EQ(items.total, 0u);
}

TEST(sort_items, reports_a_total_beyond_64_bits_in_the_name_of_the_caller) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    sorted_items items;
    EXPECT_NO_THROW(sort_items("test", weights{most - 1, 1}, items));
    EXPECT_THAT(([&] {
                    sort_items("test", weights{most, 1}, items);
                }),
                testing::ThrowsMessage<std::overflow_error>("test: the total load exceeds 64 bits"));
}

class sort_items_law : public testing::TestWithParam<std::uint64_t> {};

// Widths from one bit to the whole word, so that some are counted; sizes on either side of what makes the digits wider.
TEST_P(sort_items_law, agrees_with_a_stable_sort) {
    test::seeded random{GetParam()};
    auto const width = 1 + GetParam() % 50;
    weights batch(random.between(1, GetParam() % 2 == 0 ? 100 : 2000));
    for (auto& weight : batch) {
        weight = random.between(1, (std::uint64_t{1} << width) - 1);
    }
    std::vector<std::uint32_t> expected(batch.size());
    std::iota(expected.begin(), expected.end(), 0U);
    std::stable_sort(expected.begin(), expected.end(), [&](auto a, auto b) { return batch[a] > batch[b]; });

    sorted_items items;
    sort_items("test", batch, items);
    EXPECT_EQ(items.positions, expected);
    for (std::size_t item = 0; item < batch.size(); ++item) {
        EXPECT_EQ(items.weights[item] * items.unit, batch[expected[item]]);
    }
}

// With and without items that weigh nothing, counted or not.
TEST_P(sort_items_law, what_is_spread_arrives_where_the_items_stand) {
    test::seeded random{GetParam()};
    auto const width = 1 + GetParam() % 20;
    weights batch(random.between(1, 2000));
    for (auto& weight : batch) {
        weight = GetParam() % 3 == 0 && random.up_to(1) == 0 ? 0 : random.between(1, (std::uint64_t{1} << width) - 1);
    }
    sorted_items items;
    sort_items("test", batch, items);
    std::vector<std::uint32_t> numbers(items.size());
    std::vector<std::uint32_t> expected(batch.size(), 99);
    for (std::uint32_t place = 0; place < items.size(); ++place) {
        numbers[place] = 7 * place;
        expected[items.positions[place]] = 7 * place;
    }
    std::vector<std::uint32_t> spread_out(batch.size(), 99);
    sorted_items places;
    sort_places("test", batch, places);
    write_to_batch(places, numbers, spread_out);
    EXPECT_EQ(places.weights, items.weights);
    EXPECT_EQ(spread_out, expected);
}

INSTANTIATE_TEST_SUITE_P(seeds, sort_items_law, testing::Range(std::uint64_t{0}, std::uint64_t{100}));

}  // namespace
}  // namespace evenkeel::detail::sorted_items_test
