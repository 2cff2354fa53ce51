// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/comm/agreement.hpp>

#include "tests/support/backends.hpp"

namespace evenkeel::test::agreement_test {
namespace {

template <class Backend>
class agree_on : public on_ranks<Backend> {};
TYPED_TEST_SUITE(agree_on, backends, backend_name);

struct finding {
    std::string reason;
    std::optional<world_rank> peer;
};

/// Checks that ranks with these values all find the same, and can go on.
void expect_dissent(comm::communicator& world, std::vector<std::uint64_t> const& values, finding const& expected) {
    std::size_t const self = to_index(world.rank());
    auto const error = error_of([&] { comm::agree(world, "plan of llm", values[self], patience); });
    EXPECT_EQ(error.what(), "plan of llm on rank " + std::to_string(self) + ": " + expected.reason);
    EXPECT_EQ(error.operation(), "plan of llm");
    EXPECT_EQ(error.rank(), world.rank());
    EXPECT_EQ(error.peer(), expected.peer);
    comm::agree(world, "plan of llm", 5, patience);
}

TYPED_TEST(agree_on, passes_where_all_ranks_hold_the_same) {
    this->run(4, [](comm::communicator& world) {
        for (std::uint64_t const value : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
            comm::agree(world, "plan", value, patience);
        }
    });
}

TYPED_TEST(agree_on, passes_on_a_single_rank) {
    this->run(1, [](comm::communicator& world) { comm::agree(world, "plan", 3, patience); });
}

TYPED_TEST(agree_on, names_the_one_rank_that_differs) {
    this->run(4, [](comm::communicator& world) {
        expect_dissent(world, {7, 7, 8, 7}, {"rank 2 holds other values than most", world_rank{2}});
        expect_dissent(world, {0, 7, 7, 7}, {"rank 0 holds other values than most", world_rank{0}});
        // Not even the highest bit is lost on the way.
        expect_dissent(world, {7, 7, 7, 7 | std::uint64_t{1} << 63U},
                       {"rank 3 holds other values than most", world_rank{3}});
    });
}

TYPED_TEST(agree_on, names_every_rank_that_differs_from_most) {
    this->run(4, [](comm::communicator& world) {
        expect_dissent(world, {1, 7, 2, 7}, {"ranks 0, 2 hold other values than most", std::nullopt});
        expect_dissent(world, {3, 2, 1, 2}, {"ranks 0, 2 hold other values than most", std::nullopt});
    });
}

TYPED_TEST(agree_on, sides_with_the_lowest_rank_in_a_tie) {
    this->run(4, [](comm::communicator& world) {
        expect_dissent(world, {9, 7, 7, 9}, {"ranks 1, 2 hold other values than most", std::nullopt});
        expect_dissent(world, {1, 7, 8, 9}, {"ranks 1, 2, 3 hold other values than most", std::nullopt});
    });
}

TYPED_TEST(agree_on, reports_a_rank_that_does_not_come) {
    this->run(2, [](comm::communicator& world) {
        if (world.rank() == world_rank{0}) {
            return;
        }
        auto const error = error_of([&] { comm::agree(world, "plan", 1, impatience); });
        EXPECT_EQ(error.operation(), "plan");
        EXPECT_EQ(error.peer(), world_rank{0});
    });
}

}  // namespace
}  // namespace evenkeel::test::agreement_test
