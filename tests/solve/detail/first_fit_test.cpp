// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/solve/detail/first_fit.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::detail::first_fit_test {
namespace {

using packing = std::pair<std::size_t, std::vector<std::uint32_t>>;

packing fitted(first_fit& fit, std::vector<std::uint64_t> const& sizes, std::uint64_t cap) {
    packing result{0, std::vector<std::uint32_t>(sizes.size())};
    result.first = fit(sizes, cap, result.second);
    return result;
}

packing fitted(std::vector<std::uint64_t> const& sizes, std::uint64_t cap) {
    first_fit fit;
    return fitted(fit, sizes, cap);
}

/// Bin after bin.
packing looked_for(std::vector<std::uint64_t> const& sizes, std::uint64_t cap) {
    packing result;
    std::vector<std::uint64_t> loads;
    for (auto const size : sizes) {
        auto const bin = std::ranges::find_if(loads, [&](auto const load) { return load + size <= cap; });
        result.second.push_back(static_cast<std::uint32_t>(bin - loads.begin()));
        if (bin == loads.end()) {
            loads.push_back(size);
        } else {
            *bin += size;
        }
    }
    result.first = loads.size();
    return result;
}

TEST(first_fit, fills_a_bin_to_the_brim) { EXPECT_EQ(fitted({6, 6, 4, 4}, 10), (packing{2, {0, 1, 0, 1}})); }

TEST(first_fit, takes_the_first_bin_with_room_not_the_fullest) {
    EXPECT_EQ(fitted({5, 4, 4, 3, 1}, 8), (packing{3, {0, 1, 1, 0, 2}}));
}

TEST(first_fit, needs_no_bin_for_nothing) {
    EXPECT_EQ(fitted({}, 10), (packing{0, {}}));
    EXPECT_EQ(fitted({10, 0}, 10), (packing{1, {0, 0}}));
}

TEST(first_fit, does_as_looking_into_bin_after_bin_whatever_it_packed_before) {
    first_fit fit;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        test::seeded random{seed};
        std::uint64_t const cap = random.between(1, 30);
        std::vector<std::uint64_t> sizes(random.up_to(60));
        std::ranges::generate(sizes, [&] { return random.up_to(cap); });
        std::ranges::sort(sizes, std::greater{});
        EXPECT_EQ(fitted(fit, sizes, cap), looked_for(sizes, cap)) << "seed " << seed;
    }
}

}  // namespace
}  // namespace evenkeel::detail::first_fit_test
