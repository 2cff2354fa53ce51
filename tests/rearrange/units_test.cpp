// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/rearrange/order.hpp>
#include <evenkeel/rearrange/rearrangement.hpp>
#include <evenkeel/rearrange/traffic.hpp>
#include <evenkeel/rearrange/units.hpp>

#include "tests/support/layouts.hpp"

namespace evenkeel::units_test {
namespace {

using ids = std::vector<std::uint32_t>;
using counts = std::vector<std::size_t>;
using sizes = std::vector<std::uint64_t>;

auto refuses(std::string const& message) { return testing::ThrowsMessage<std::invalid_argument>(message); }

TEST(units_of, numbers_the_units_of_all_samples) {
    auto const images = evenkeel::units_of(counts{2, 0, 1});
    EXPECT_EQ(images.units(), 3u);
    EXPECT_EQ(images.samples(), 3u);
    EXPECT_EQ(images.first(item_id{2}), 2u);
    EXPECT_EQ(images.count(item_id{1}), 0u);
    EXPECT_EQ(evenkeel::samples_of_units(images)[2], item_id{2});
    EXPECT_EQ(test::numbers(samples_of_units(images)), (ids{0, 0, 2}));
    EXPECT_EQ(sums_of_samples(images, sizes{5, 6, 7}), (sizes{11, 0, 7}));
}

TEST(units_of, takes_no_samples_and_samples_without_units) {
    EXPECT_EQ(units_of(counts{}).units(), 0u);
    EXPECT_EQ(units_of(counts{0, 0}).samples(), 2u);
    EXPECT_EQ(one_unit_each(3), units_of(counts{1, 1, 1}));
    EXPECT_EQ(expand(home_layout(counts{2, 0}), units_of(counts{0, 0})).size(), 0u);
}

TEST(units_of, refuses_what_ids_cannot_number) {
    EXPECT_THAT(
        [] {
            (void)units_of(counts{3, max_items});
        },
        refuses("units_of: counts[1] = 4294967295, expected at most 4294967295 units in all"));
}

TEST(sums_of_samples, refuses_values_of_other_units_and_never_wraps) {
    EXPECT_THAT(
        [] {
            (void)sums_of_samples(units_of(counts{1, 1}), sizes{1});
        },
        refuses("sums_of_samples: values.size() = 1, expected one value for each of 2 units"));
    EXPECT_THAT(
        [] {
            (void)sums_of_samples(units_of(counts{2}), sizes{std::numeric_limits<std::uint64_t>::max(), 1});
        },
        testing::ThrowsMessage<std::overflow_error>("sums_of_samples: the sum of a sample exceeds 64 bits"));
}

TEST(expand, keeps_units_with_their_samples_in_the_order_of_memory) {
    //     rank 0: 2 0    rank 1: 1        sample 0 has units 0 1, sample 1 unit 2, sample 2 units 3 4 5
    auto const samples = layout_of(test::plan_of({{2, 0}, {1}}));
    auto const units = expand(samples, units_of(counts{2, 1, 3}));
    EXPECT_EQ(test::numbers(items_on(units, world_rank{0})), (ids{3, 4, 5, 0, 1}));
    EXPECT_EQ(test::numbers(items_on(units, world_rank{1})), ids{2});
}

TEST(expand, counts_positions_in_each_micro_batch) {
    auto const samples = layout_of(test::plan_of({{1}, {0}}, 2));
    auto const units = expand(samples, units_of(counts{1, 2}));
    EXPECT_EQ(units[item_id{0}], (place{world_rank{0}, micro_batch_id{1}, 0}));
    EXPECT_EQ(units[item_id{2}], (place{world_rank{0}, micro_batch_id{0}, 1}));
}

TEST(expand, refuses_units_of_other_samples) {
    EXPECT_THAT([] { (void)expand(home_layout(counts{2}), units_of(counts{1})); },
                refuses("expand: units.offsets.size() = 2, expected 1 + the 2 samples"));
    EXPECT_THAT(
        [] {
            (void)expand(home_layout(counts{2}), unit_map{{0, 2, 1}});
        },
        refuses("expand: units.offsets = [0 .. 1], expected offsets that start at 0, never fall and end at most "
                "at 4294967295"));
    EXPECT_THAT(
        [] {
            (void)expand(home_layout(counts{1}), unit_map{{1, 2}});
        },
        refuses("expand: units.offsets = [1 .. 2], expected offsets that start at 0, never fall and end at most "
                "at 4294967295"));
}

/// One image on three encoder ranks, and two that nobody has.
TEST(composed_outputs, of_one_image_on_three_encoder_ranks_come_and_go_back) {
    auto const images = units_of(counts{0, 1, 0});
    auto const home = home_layout(counts{1, 1, 1});
    rearrangement const to_encoder{expand(home, images), layout_of(test::plan_of({{}, {}, {0}}))};
    rearrangement const to_llm{expand(home, images), expand(layout_of(test::plan_of({{0, 1}, {2}, {}})), images)};
    auto const outputs = compose(to_llm, invert(to_encoder));
    EXPECT_EQ(outputs.from()[item_id{0}].rank, world_rank{2});
    EXPECT_EQ(outputs.to()[item_id{0}], (place{world_rank{0}, micro_batch_id{0}, 0}));
    EXPECT_EQ(compose(invert(outputs), outputs), (rearrangement{to_encoder.to(), to_encoder.to()}));
}

/// A split by samples uses the units of each sample, not one for all.
TEST(composed_outputs, of_samples_with_different_unit_counts_are_split_by_their_own) {
    auto const units = units_of(counts{4, 1});
    auto const home = expand(home_layout(counts{2, 0}), units);
    auto const llm = expand(layout_of(test::plan_of({{0}, {1}})), units);
    EXPECT_EQ(test::numbers(items_on(llm, world_rank{0})), (ids{0, 1, 2, 3}));
    EXPECT_EQ(test::numbers(items_on(llm, world_rank{1})), ids{4});
    EXPECT_EQ(traffic_of({home, llm}, uniform_topology({2}, {1}), sizes{1, 1, 1, 1, 5}).moved, 5u);
}

class unit_law : public testing::TestWithParam<unsigned> {};

TEST_P(unit_law, expanded_rearrangements_compose_as_those_of_samples) {
    test::seeded random{GetParam()};
    auto const journey = test::random_journey(GetParam());
    counts per_sample(journey.size());
    for (auto& count : per_sample) {
        count = random.up_to(5);
    }
    auto const units = units_of(per_sample);
    auto const expanded = [&](rearrangement const& move) {
        return rearrangement{expand(move.from(), units), expand(move.to(), units)};
    };
    EXPECT_EQ(compose(expanded(journey.second), expanded(journey.first)),
              expanded(compose(journey.second, journey.first)));
    EXPECT_EQ(expanded(invert(journey.first)), invert(expanded(journey.first)));
    auto const owners = samples_of_units(units);
    auto const target = expand(journey.first.to(), units);
    for (std::size_t rank = 0; rank < journey.ranks().value; ++rank) {
        ids expected;
        for (item_id const sample : items_on(journey.first.to(), to_id<world_rank>(rank))) {
            for (std::size_t unit = units.first(sample); unit < units.first(sample) + units.count(sample); ++unit) {
                expected.push_back(static_cast<std::uint32_t>(unit));
                EXPECT_EQ(owners[unit], sample);
            }
        }
        EXPECT_EQ(test::numbers(items_on(target, to_id<world_rank>(rank))), expected);
    }
}

INSTANTIATE_TEST_SUITE_P(seeds, unit_law, testing::Range(0u, 200u));

}  // namespace
}  // namespace evenkeel::units_test
