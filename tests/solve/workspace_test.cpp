// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include <evenkeel/cost/linear.hpp>
#include <evenkeel/solve/balance.hpp>

#include "tests/support/batches.hpp"

namespace {
std::size_t allocations = 0;
}  // namespace

// Every allocation of the program is counted. Out of line: where only one of the pair is inlined, GCC sees a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
    ++allocations;
    if (void* const memory = std::malloc(size)) {
        return memory;
    }
    throw std::bad_alloc{};
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace evenkeel {
namespace {

TEST(workspace, allocates_nothing_from_the_second_batch_on) {
    workspace space;
    auto const first = test::mixed_batch(1, 64, 40);
    (void)balance(space, first.lengths, first.ranks, linear_cost{});

    // Sparse, dense, and all absent: the searches differ, the memory does not.
    for (std::uint64_t seed = 2; seed < 12; ++seed) {
        auto batch = test::mixed_batch(seed, 64, 40);
        for (std::size_t item = 0; item < batch.lengths.size(); ++item) {
            batch.lengths[item] = item % seed == 0 ? batch.lengths[item] : 0;
        }
        auto const before = allocations;
        (void)balance(space, batch.lengths, batch.ranks, linear_cost{});
        EXPECT_EQ(allocations, before) << "seed " << seed;
    }
}

TEST(workspace, does_not_colour_the_result) {
    workspace space;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        auto const [lengths, ranks] = test::mixed_batch(seed, 1 + seed % 7 * 5, 1 + seed % 9);
        EXPECT_EQ(balance(space, lengths, ranks, linear_cost{}), balance(lengths, ranks, linear_cost{}));
    }
}

}  // namespace
}  // namespace evenkeel
