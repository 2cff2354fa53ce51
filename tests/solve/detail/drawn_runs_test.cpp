// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/solve/detail/drawn_runs.hpp>

namespace evenkeel::detail::drawn_runs_test {
namespace {

drawn_runs runs_of(std::vector<std::uint32_t> const& ranks, std::vector<std::size_t> const& sizes) {
    drawn_runs runs;
    runs.start(8);
    std::size_t first = 0;
    for (std::size_t run = 0; run < ranks.size(); ++run) {
        runs.add(ranks[run], first, sizes[run]);
        first += sizes[run];
    }
    return runs;
}

TEST(drawn_runs, know_who_has_drawn_where_all_have_drawn_as_many) {
    auto runs = runs_of({5, 0, 2}, {3, 3, 2});

    ASSERT_TRUE(runs.even(8));
    std::vector<std::uint32_t> found;
    for (std::uint32_t position = 0; position < 8; ++position) {
        found.push_back(runs.rank_of(position));
    }
    EXPECT_EQ(found, (std::vector<std::uint32_t>{5, 5, 5, 0, 0, 0, 2, 2}));
}

TEST(drawn_runs, do_not_know_where_some_have_drawn_more_or_nobody_has) {
    EXPECT_FALSE(runs_of({5, 0}, {3, 4}).even(7));
    EXPECT_FALSE(runs_of({5, 0, 2}, {3, 2, 3}).even(8));
    EXPECT_FALSE(runs_of({no_rank}, {1}).even(1));
    EXPECT_FALSE(runs_of({}, {}).even(0));
    EXPECT_FALSE(runs_of({0, 1, 2, 3, 4, 5, 6, 7, 0}, std::vector<std::size_t>(9, 1)).even(9));
}

// One more item, and the product of position and size would not fit into 32 bits.
TEST(drawn_runs, divide_exactly_up_to_the_largest_batch) {
    for (std::size_t const size : {1U, 3U, 40U, 4095U, 32767U, 65535U}) {
        std::size_t const most = (std::uint64_t{1} << 32) / size;
        drawn_runs runs;
        runs.start(most / size + 1);
        for (std::size_t run = 0; run < 6 && (run + 1) * size <= most; ++run) {
            runs.add(static_cast<std::uint32_t>(run), run * size, size);
        }
        ASSERT_TRUE(runs.even(most));
        EXPECT_FALSE(runs.even(most + 1));
        ASSERT_TRUE(runs.even(most));
        for (std::uint32_t run = 0; run < 6 && (run + 1) * size <= most; ++run) {
            auto const first = static_cast<std::uint32_t>(run * size);
            EXPECT_EQ(runs.rank_of(first), run);
            EXPECT_EQ(runs.rank_of(first + static_cast<std::uint32_t>(size) - 1), run);
        }
    }
}

}  // namespace
}  // namespace evenkeel::detail::drawn_runs_test
