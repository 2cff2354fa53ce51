// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/orchestrate/packing.hpp>

#include "tests/support/layouts.hpp"

namespace evenkeel::packing_test {
namespace {

using ids = std::vector<std::uint32_t>;
using sizes = std::vector<std::uint64_t>;
using tokens = std::vector<std::int32_t>;

TEST(packed, counts_sequences_as_kernels_want_them) {
    auto const plan = test::plan_of({{2, 0}, {1}});
    auto const batch = packed(plan, rank_id{0}, micro_batch_id{0}, sizes{5, 9, 3}, 4);
    EXPECT_EQ(test::numbers(batch.items), (ids{2, 0}));
    EXPECT_EQ(batch.offsets, (tokens{0, 3, 8}));
    EXPECT_EQ(batch.padded_offsets, (tokens{0, 4, 12}));
    EXPECT_EQ(batch.position_ids, (tokens{0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(batch.longest, 5);
    EXPECT_EQ(batch.longest_padded, 8);
}

TEST(packed, is_one_offset_where_there_is_no_item) {
    auto const plan = test::plan_of({{0}, {}}, 2);
    auto const batch = packed(plan, rank_id{0}, micro_batch_id{1}, sizes{5});
    EXPECT_EQ(batch.offsets, tokens{0});
    EXPECT_EQ(batch.longest, 0);
    EXPECT_TRUE(batch.position_ids.empty());
}

TEST(packed, keeps_sequences_without_a_token) {
    auto const batch = packed(test::plan_of({{0, 1}}), rank_id{0}, micro_batch_id{0}, sizes{0, 2});
    EXPECT_EQ(batch.offsets, (tokens{0, 0, 2}));
}

TEST(packed, refuses_what_does_not_fit_into_31_bits) {
    auto const plan = test::plan_of({{0, 1}});
    auto const refuses = [&](std::uint64_t one, std::uint64_t other, std::uint64_t pad_to) {
        EXPECT_THAT(
            [&] {
                (void)packed(plan, rank_id{0}, micro_batch_id{0}, sizes{one, other}, pad_to);
            },
            testing::ThrowsMessage<std::overflow_error>(
                "packed: the tokens of rank 0 exceed 31 bits in micro-batch 0"));
    };
    refuses(std::uint64_t{1} << 31U, 0, 1);
    refuses(5, std::numeric_limits<std::uint64_t>::max(), 2);
    refuses(1, 0, std::uint64_t{1} << 40U);
    refuses(1, 0, std::uint64_t{1} << 31U);
}

TEST(packed, refuses_lengths_of_other_items) {
    auto const refuses = [](std::string const& text) { return testing::ThrowsMessage<std::invalid_argument>(text); };
    auto const plan = test::plan_of({{0, 1}});
    EXPECT_THAT([&] { (void)packed(plan, rank_id{0}, micro_batch_id{0}, sizes{5}); },
                refuses("packed: lengths.size() = 1, expected one for each of 2 items"));
    EXPECT_THAT(
        [&] {
            (void)packed(plan, rank_id{0}, micro_batch_id{0}, sizes{5, 6}, 0);
        },
        refuses("packed: pad_to = 0, expected at least 1"));
}

TEST(packed, refuses_a_rank_a_micro_batch_or_an_item_that_the_plan_has_not) {
    auto const refuses = [](std::string const& text) { return testing::ThrowsMessage<std::invalid_argument>(text); };
    auto plan = test::plan_of({{0}, {1}, {2}, {}}, 2);
    auto const pack = [&](std::uint32_t rank, std::uint32_t micro_batch) {
        return [&plan, rank, micro_batch] {
            (void)packed(plan, rank_id{rank}, micro_batch_id{micro_batch}, sizes(plan.items.size(), 5));
        };
    };
    EXPECT_THAT(pack(2, 1), refuses("packed: rank = 2, expected below the 2 ranks of the plan"));
    EXPECT_THAT(pack(0, 2), refuses("packed: micro_batch = 2, expected below the 2 micro-batches"));
    plan.items[1] = item_id{3};
    EXPECT_THAT(pack(0, 1), refuses("packed: plan.items[1] = 3, expected an item below 3"));
    plan = {};
    EXPECT_THAT(pack(0, 0), refuses("packed: rank = 0, expected below the 0 ranks of the plan"));
    plan.micro_batches = 0;
    EXPECT_THAT(pack(0, 0), refuses("packed: micro_batch = 0, expected below the 0 micro-batches"));
    plan = {.items = {}, .offsets = {}};
    EXPECT_THAT(pack(0, 0), refuses("packed: rank = 0, expected below the 0 ranks of the plan"));
}

}  // namespace
}  // namespace evenkeel::packing_test
