// SPDX-License-Identifier: Apache-2.0
#include "comm/src/mpi/staging.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/batches.hpp"
#include "tests/support/payloads.hpp"

namespace evenkeel::test::staging_test {
namespace {

using comm::mpi::staging;

TEST(staging, lends_from_the_beginning_whole_lines_at_a_time) {
    std::vector<std::byte> memory(1'000);
    staging shown{memory};
    auto const message = payload(1, 100);
    EXPECT_EQ(shown.add(message), 0U);
    EXPECT_EQ(shown.add(message), 128U);
    EXPECT_EQ(shown.add(message), 256U);
    EXPECT_TRUE(std::ranges::equal(std::span{memory}.subspan(128, 100), message));
    shown.remove(128);
    EXPECT_EQ(shown.add(payload(1, 129)), 384U) << "the gap is too small";
    EXPECT_EQ(shown.add(message), 128U);
}

TEST(staging, has_no_room_for_more_than_there_is) {
    std::vector<std::byte> memory(256);
    staging shown{memory};
    EXPECT_FALSE(shown.add(payload(1, 257)));
    EXPECT_EQ(shown.add(payload(1, 256)), 0U);
    EXPECT_FALSE(shown.add(payload(1, 1)));
    shown.remove(0);
    EXPECT_EQ(shown.add(payload(1, 1)), 0U);
    EXPECT_FALSE(staging{{}}.add(payload(1, 1)));
}

TEST(staging, keeps_every_message_until_it_is_removed) {
    std::vector<std::byte> memory(20'000);
    staging shown{memory};
    std::map<std::size_t, std::vector<std::byte>> held;
    seeded random{1};
    for (std::size_t step = 0; step < 2'000; ++step) {
        if (!held.empty() && random.up_to(2) == 0) {
            auto const one = std::next(held.begin(), static_cast<std::ptrdiff_t>(random.up_to(held.size() - 1)));
            EXPECT_TRUE(std::ranges::equal(std::span{memory}.subspan(one->first, one->second.size()), one->second));
            shown.remove(one->first);
            held.erase(one);
        } else if (auto const message = payload(step, random.between(1, 3'000)); auto const at = shown.add(message)) {
            EXPECT_TRUE(held.emplace(*at, message).second);
        }
    }
    for (auto const& [at, message] : held) {
        EXPECT_TRUE(std::ranges::equal(std::span{memory}.subspan(at, message.size()), message));
    }
}

}  // namespace
}  // namespace evenkeel::test::staging_test
