// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <deque>
#include <forward_list>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <range/v3/view/iota.hpp>
#include <range/v3/view/transform.hpp>

#include <evenkeel/rearrange/rearrange.hpp>

#include "tests/support/layouts.hpp"

namespace evenkeel::rearrange_test {
namespace {

template <class Values>
concept rearrangeable = requires(Values values, rearrangement const& move) {
    rearrange(values, move);
};
static_assert(rearrangeable<std::vector<int>> && rearrangeable<std::deque<std::string>> &&
              rearrangeable<std::span<float const>>);
static_assert(!rearrangeable<std::forward_list<int>>, "values are taken from anywhere");
static_assert(!rearrangeable<std::vector<std::unique_ptr<int>>>, "values are copied");

using words = std::vector<std::string>;

///     before: rank 0: a b    rank 1: c        after: rank 0: c    rank 1: b a
rearrangement swap_sides() {
    return {home_layout(std::vector<std::size_t>{2, 1}), layout_of(test::plan_of({{2}, {1, 0}}))};
}

TEST(rearrange, brings_values_into_the_order_after_the_move) {
    auto const move = swap_sides();
    auto const inputs = words{"a", "b", "c"};
    auto const outputs = evenkeel::rearrange(inputs, move);
    EXPECT_EQ(outputs, (words{"c", "b", "a"}));
}

TEST(rearrange, reads_values_in_the_order_before_the_move) {
    auto const back = invert(swap_sides());
    EXPECT_EQ(rearrange(words{"c", "b", "a"}, back), (words{"a", "b", "c"}));
}

TEST(rearrange, of_nothing_is_nothing) {
    rearrangement const nothing{home_layout(std::vector<std::size_t>{0, 0}),
                                home_layout(std::vector<std::size_t>{0, 0})};
    EXPECT_EQ(rearrange(words{}, nothing), words{});
}

TEST(rearrange, takes_any_random_access_range) {
    auto const move = swap_sides();
    std::vector<bool> const flags{true, true, false};
    int const numbers[] = {1, 2, 3};
    auto squares = ranges::views::iota(1, 4) | ranges::views::transform([](int number) { return number * number; });

    EXPECT_EQ(rearrange(flags, move), (std::vector<bool>{false, true, true}));
    EXPECT_EQ(rearrange(numbers, move), (std::vector{3, 2, 1}));
    EXPECT_EQ(rearrange(std::span{numbers}, move), (std::vector{3, 2, 1}));
    EXPECT_EQ(rearrange(std::deque{1, 2, 3}, move), (std::vector{3, 2, 1}));
    EXPECT_EQ(rearrange(squares, move), (std::vector{9, 4, 1}));
}

TEST(rearrange, refuses_another_number_of_values) {
    EXPECT_THAT(
        [] {
            (void)rearrange(words{"a", "b"}, swap_sides());
        },
        testing::ThrowsMessage<std::invalid_argument>(
            "rearrange: values.size() = 2, expected one value for each of 3 items"));
    EXPECT_THAT([] { (void)rearrange(words(4), swap_sides()); },
                testing::ThrowsMessage<std::invalid_argument>(
                    "rearrange: values.size() = 4, expected one value for each of 3 items"));
}

/// What item `item` carries in the laws below: bytes that tell item and offset, of ragged size, at times none.
using payload = std::vector<std::uint8_t>;

payload payload_of(item_id item) {
    std::size_t const size = to_index(item) * 7 % 5;
    payload result;
    for (std::size_t offset = 0; offset < size; ++offset) {
        result.push_back(static_cast<std::uint8_t>(to_index(item) * 31 + offset));
    }
    return result;
}

/// What lies in memory, rank after rank, when the items are in `layout`.
std::vector<payload> memory_of(layout const& layout) {
    std::vector<payload> result;
    for (item_id const item : items_in_order(layout)) {
        result.push_back(payload_of(item));
    }
    return result;
}

class rearrange_law : public testing::TestWithParam<unsigned> {
  protected:
    test::journey const journey = test::random_journey(GetParam());
    std::vector<payload> const values = memory_of(journey.first.from());
};

TEST_P(rearrange_law, every_byte_arrives_where_its_item_belongs) {
    EXPECT_EQ(rearrange(values, journey.first), memory_of(journey.first.to()));
}

TEST_P(rearrange_law, the_way_back_restores_the_original_order) {
    EXPECT_EQ(rearrange(rearrange(values, journey.first), invert(journey.first)), values);
}

TEST_P(rearrange_law, staying_changes_nothing) {
    EXPECT_EQ(rearrange(values, {journey.first.from(), journey.first.from()}), values);
}

TEST_P(rearrange_law, a_composition_does_what_its_parts_do_one_after_the_other) {
    auto const& [first, second, third] = journey;
    EXPECT_EQ(rearrange(values, compose(second, first)), rearrange(rearrange(values, first), second));
    EXPECT_EQ(rearrange(values, compose(third, compose(second, first))),
              rearrange(rearrange(rearrange(values, first), second), third));
}

TEST_P(rearrange_law, from_one_phase_to_the_next_past_home_is_one_step) {
    rearrangement const to_encoder = journey.first;
    rearrangement const to_llm{journey.first.from(), journey.second.to()};
    EXPECT_EQ(rearrange(memory_of(to_encoder.to()), compose(to_llm, invert(to_encoder))), memory_of(to_llm.to()));
}

INSTANTIATE_TEST_SUITE_P(seeds, rearrange_law, testing::Range(0u, 200u));

}  // namespace
}  // namespace evenkeel::rearrange_test
