// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <list>
#include <numeric>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <range/v3/view/istream.hpp>
#include <range/v3/view/transform.hpp>

#include <evenkeel/rearrange/field.hpp>
#include <evenkeel/rearrange/rearrangement.hpp>

#include "tests/support/layouts.hpp"

namespace evenkeel::field_test {
namespace {

using sizes = std::vector<std::uint64_t>;
constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

template <class Lengths>
concept has_field = requires(Lengths lengths) {
    field_per_token("token ids", lengths, 8);
};
static_assert(has_field<std::vector<int>> && has_field<std::span<std::uint16_t const>> && has_field<std::list<double>>);
static_assert(!has_field<std::vector<bool>> && !has_field<std::string> && !has_field<std::vector<std::string>>);
static_assert(!has_field<int>);

TEST(field_per_token, has_the_same_number_of_bytes_for_every_token) {
    auto const lengths = std::vector{3, 0, 5};
    auto const ids = evenkeel::field_per_token("token ids", lengths, sizeof(std::int64_t));
    EXPECT_EQ(ids, (field{.name = "token ids", .bytes = {24, 0, 40}}));
}

TEST(field_per_token, takes_lengths_of_any_shape) {
    auto const expected = sizes{24, 0, 40};
    auto const narrow = std::vector<std::uint16_t>{3, 0, 5};
    struct example {
        int tokens;
    };
    auto const examples = std::vector<example>{{3}, {0}, {5}};
    std::istringstream stream{"3 0 5"};
    auto single_pass = ranges::istream<int>(stream);

    EXPECT_EQ(field_per_token("ids", std::span{narrow}, 8).bytes, expected);
    EXPECT_EQ(field_per_token("ids", std::list{3.0, 0.0, 5.0}, 8).bytes, expected);
    EXPECT_EQ(field_per_token("ids", examples | ranges::views::transform(&example::tokens), 8).bytes, expected);
    EXPECT_EQ(field_per_token("ids", single_pass, 8).bytes, expected);
    EXPECT_EQ(field_per_token("ids", std::vector<int>{}, 8).bytes, sizes{});
}

TEST(field_per_token, names_a_length_that_is_none) {
    EXPECT_THAT(
        [] {
            (void)field_per_token("ids", std::vector{3, -1}, 8);
        },
        testing::ThrowsMessage<std::invalid_argument>(
            "field_per_token: lengths[1] = -1, expected a length of at least 0"));
    EXPECT_THAT([] { (void)field_per_token("ids", std::vector{std::numeric_limits<float>::quiet_NaN()}, 8); },
                testing::ThrowsMessage<std::invalid_argument>(
                    "field_per_token: lengths[0] = nan, expected a length of at least 0"));
}

TEST(field_per_token, names_a_length_whose_bytes_exceed_64_bits) {
    EXPECT_THAT(
        [] {
            (void)field_per_token("ids", sizes{1, largest / 8 + 1}, 8);
        },
        testing::ThrowsMessage<std::overflow_error>("field_per_token: lengths[1]: the length exceeds 64 bits"));
    EXPECT_EQ(field_per_token("ids", sizes{largest / 8}, 8).bytes, sizes{largest - 7});
}

TEST(field_per_item, has_the_same_number_of_bytes_for_every_item) {
    EXPECT_EQ(field_per_item("label", 3, 4), (field{.name = "label", .bytes = {4, 4, 4}}));
    EXPECT_EQ(field_per_item("label", 0, 4), (field{.name = "label", .bytes = {}}));
}

TEST(bytes_of_items, adds_up_all_fields_of_each_item) {
    std::vector<field> const fields{field_per_token("ids", std::vector{3, 0, 5}, 8), field_per_item("label", 3, 4)};
    EXPECT_EQ(bytes_of_items(fields, 3), (sizes{28, 4, 44}));
    EXPECT_EQ(bytes_of_items(std::vector<field>{}, 3), (sizes{0, 0, 0}));
    EXPECT_EQ(bytes_of_items(std::vector<field>{}, 0), sizes{});
}

TEST(bytes_of_items, takes_any_range_of_fields) {
    auto const pixels = field_per_item("pixels", 2, 10);
    auto const labels = field_per_item("labels", 2, 4);
    auto const copied = std::list{pixels, labels};
    auto const widened = [](field one) { return field_per_item(one.name, one.bytes.size(), 100); };
    EXPECT_EQ(bytes_of_items(std::array{pixels, labels}, 2), (sizes{14, 14}));
    EXPECT_EQ(bytes_of_items(copied, 2), (sizes{14, 14}));
    EXPECT_EQ(bytes_of_items(copied | ranges::views::transform(widened), 2), (sizes{200, 200}));
}

TEST(bytes_of_items, refuses_a_field_of_another_batch) {
    std::vector<field> const fields{field_per_item("label", 3, 4), field_per_item("pixels", 2, 4)};
    EXPECT_THAT([&] { (void)bytes_of_items(fields, 3); },
                testing::ThrowsMessage<std::invalid_argument>(
                    "bytes_of_items: fields[1].bytes.size() = 2, expected one size for each of 3 items"));
}

TEST(bytes_of_items, refuses_to_wrap) {
    std::vector<field> const fields{field_per_item("one", 2, largest), {.name = "two", .bytes = {0, 1}}};
    EXPECT_THAT([&] { (void)bytes_of_items(fields, 2); },
                testing::ThrowsMessage<std::overflow_error>("bytes_of_items: the size of an item exceeds 64 bits"));
}

TEST(bytes_on, is_the_size_of_the_buffer_of_a_field_on_a_rank) {
    rearrangement const move{home_layout(std::vector<std::size_t>{2, 1}), layout_of(test::plan_of({{2}, {1, 0}}))};
    field const pixel_field{.name = "pixels", .bytes = {3, 5, 7}};
    world_rank const rank{1};

    std::vector<std::byte> pixels(evenkeel::bytes_on(move.to(), rank, pixel_field));
    EXPECT_EQ(pixels.size(), 8u);
    EXPECT_EQ(bytes_on(move.to(), world_rank{0}, pixel_field), 7u);
    EXPECT_EQ(bytes_on(move.from(), world_rank{0}, pixel_field), 8u);
}

TEST(bytes_on, is_zero_on_a_rank_that_has_no_token) {
    auto const home = home_layout(std::vector<std::size_t>{1, 1, 0});
    auto const ids = field_per_token("ids", std::vector{0, 6}, 8);
    EXPECT_EQ(bytes_on(home, world_rank{0}, ids), 0u);
    EXPECT_EQ(bytes_on(home, world_rank{1}, ids), 48u);
    EXPECT_EQ(bytes_on(home, world_rank{2}, ids), 0u);
}

TEST(bytes_on, refuses_a_field_of_another_batch) {
    EXPECT_THAT(
        [] { (void)bytes_on(home_layout(std::vector<std::size_t>{3}), world_rank{0}, field_per_item("label", 2, 4)); },
        testing::ThrowsMessage<std::invalid_argument>(
            "bytes_on: field.bytes.size() = 2, expected one size for each of 3 items"));
}

TEST(bytes_on, refuses_to_wrap) {
    auto const home = home_layout(std::vector<std::size_t>{2, 1});
    auto const huge = field_per_item("huge", 3, largest);
    EXPECT_THAT([&] { (void)bytes_on(home, world_rank{0}, huge); },
                testing::ThrowsMessage<std::overflow_error>("bytes_on: the size of a field exceeds 64 bits"));
    EXPECT_EQ(bytes_on(home, world_rank{1}, huge), largest);
}

class bytes_on_law : public testing::TestWithParam<unsigned> {};

TEST_P(bytes_on_law, the_ranks_together_hold_every_byte_once) {
    auto const layout = test::random_journey(GetParam()).first.to();
    test::seeded random{GetParam()};
    field const pixels{.name = "pixels", .bytes = test::random_bytes(random, layout.size())};

    std::uint64_t held = 0;
    for (std::size_t rank = 0; rank < layout.ranks.value; ++rank) {
        held += bytes_on(layout, to_id<world_rank>(rank), pixels);
    }
    EXPECT_EQ(held, std::accumulate(pixels.bytes.begin(), pixels.bytes.end(), std::uint64_t{0}));
}

INSTANTIATE_TEST_SUITE_P(seeds, bytes_on_law, testing::Range(0u, 100u));

}  // namespace
}  // namespace evenkeel::field_test
