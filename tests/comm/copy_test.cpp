// SPDX-License-Identifier: Apache-2.0
#include "comm/src/copy.hpp"

#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/batches.hpp"
#include "tests/support/payloads.hpp"

namespace evenkeel::test::copy_test {
namespace {

TEST(copy_past_caches, copies_pieces_of_any_size_from_and_to_any_address) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        seeded random{seed};
        std::size_t const pieces = random.up_to(11);
        std::vector<std::size_t> from_at;
        std::vector<std::size_t> to_at;
        std::vector<std::size_t> bytes;
        std::size_t from_end = random.up_to(70);
        std::size_t to_end = random.up_to(70);
        for (std::size_t p = 0; p < pieces; ++p) {
            bytes.push_back(random.up_to(2) == 0 ? random.up_to(70) : random.up_to(3'000));
            from_at.push_back(from_end);
            to_at.push_back(to_end);
            from_end += bytes[p] + random.up_to(20);
            to_end += bytes[p] + random.up_to(20);
        }
        auto const source = payload(seed, from_end);
        auto target = untouched_bytes(to_end);
        auto expected = target;
        for (std::size_t p = 0; p < pieces; ++p) {
            for (std::size_t b = 0; b < bytes[p]; ++b) {
                expected[to_at[p] + b] = source[from_at[p] + b];
            }
        }
        comm::copy_past_caches(pieces, [&](std::size_t p) {
            return comm::local_copy{source.data() + from_at[p], target.data() + to_at[p], bytes[p]};
        });
        EXPECT_TRUE(target == expected) << "seed " << seed;
    }
}

}  // namespace
}  // namespace evenkeel::test::copy_test
