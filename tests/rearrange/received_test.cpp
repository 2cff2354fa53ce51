// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/rearrange/exchange.hpp>
#include <evenkeel/rearrange/received.hpp>

#include "tests/support/layouts.hpp"

namespace evenkeel::received_test {
namespace {

using sizes = std::vector<std::uint64_t>;

TEST(bytes_received, counts_what_comes_from_other_ranks) {
    rearrangement const move{home_layout(std::vector<std::size_t>{3, 1, 0}),
                             layout_of(test::plan_of({{3, 0}, {2, 1}, {}}))};
    EXPECT_EQ(bytes_received(move, sizes{1, 2, 4, 8}), (sizes{8, 6, 0}));
}

TEST(bytes_received, refuses_other_sizes_and_never_wraps) {
    rearrangement const move{home_layout(std::vector<std::size_t>{2, 0}), layout_of(test::plan_of({{}, {0, 1}}))};
    EXPECT_THAT([&] { (void)bytes_received(move, sizes{1}); },
                testing::ThrowsMessage<std::invalid_argument>(
                    "bytes_received: bytes.size() = 1, expected one size for each of 2 items"));
    EXPECT_THAT(
        [&] {
            (void)bytes_received(move, sizes{std::numeric_limits<std::uint64_t>::max(), 1});
        },
        testing::ThrowsMessage<std::overflow_error>("bytes_received: the bytes of a rank exceeds 64 bits"));
}

class received_law : public testing::TestWithParam<unsigned> {};

TEST_P(received_law, agrees_with_the_exchange_of_each_rank) {
    test::seeded random{GetParam()};
    auto const move = test::random_journey(GetParam()).first;
    auto const bytes = test::random_bytes(random, move.size());
    auto const received = bytes_received(move, bytes);
    for (std::size_t rank = 0; rank < move.ranks().value; ++rank) {
        EXPECT_EQ(received[rank], exchange_of(move, to_id<world_rank>(rank), bytes).receives.bytes());
    }
}

INSTANTIATE_TEST_SUITE_P(seeds, received_law, testing::Range(0u, 100u));

}  // namespace
}  // namespace evenkeel::received_test
