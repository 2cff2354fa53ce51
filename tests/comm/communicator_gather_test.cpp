// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/comm/communicator.hpp>

#include "tests/support/backends.hpp"
#include "tests/support/payloads.hpp"

namespace evenkeel::test::communicator_gather_test {
namespace {

template <class Backend>
class all_gather_on : public on_ranks<Backend> {};
TYPED_TEST_SUITE(all_gather_on, backends, backend_name);

template <class Backend>
class barrier_on : public on_ranks<Backend> {};
TYPED_TEST_SUITE(barrier_on, backends, backend_name);

/// The bytes of all ranks in one piece, `counts[r]` from rank r.
std::vector<std::byte> everybodys(std::vector<std::uint64_t> const& counts) {
    std::vector<std::byte> all;
    for (std::size_t rank = 0; rank < counts.size(); ++rank) {
        auto const part = payload(rank, counts[rank]);
        all.insert(all.end(), part.begin(), part.end());
    }
    return all;
}

TYPED_TEST(all_gather_on, gives_everybody_the_bytes_of_all_in_order_of_rank) {
    for (std::size_t const ranks : {1u, 2u, 3u, 8u}) {
        if (ranks > TypeParam::most_ranks()) {
            break;
        }
        this->run(ranks, [](comm::communicator& world) {
            auto const mine = payload(to_index(world.rank()), 5);
            auto all = untouched_bytes(5 * world.size().value);
            world.all_gather(mine, all).wait(patience);
            EXPECT_EQ(all, everybodys(std::vector<std::uint64_t>(world.size().value, 5)));
        });
    }
}

TYPED_TEST(all_gather_on, takes_another_number_of_bytes_from_each_rank_also_none) {
    this->run(4, [](comm::communicator& world) {
        for (auto const& counts :
             std::vector<std::vector<std::uint64_t>>{{3, 0, 1, 7}, {0, 0, 0, 1}, {1, 0, 0, 0}, {0, 70'000, 0, 1}}) {
            auto const mine = payload(to_index(world.rank()), counts[to_index(world.rank())]);
            auto all = untouched_bytes(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
            world.all_gather(mine, counts, all).wait(patience);
            EXPECT_EQ(all, everybodys(counts));
        }
    });
}

TYPED_TEST(all_gather_on, completes_without_any_byte) {
    this->run(2, [](comm::communicator& world) {
        world.all_gather({}, {}).wait(patience);
        world.all_gather({}, std::vector<std::uint64_t>{0, 0}, {}).wait(patience);
    });
}

TYPED_TEST(all_gather_on, has_read_the_callers_bytes_and_counts_when_the_wait_returns) {
    this->run(2, [](comm::communicator& world) {
        for (std::size_t round = 0; round < 20; ++round) {
            auto mine = payload(to_index(world.rank()), 3);
            std::vector<std::uint64_t> counts{3, 3};
            auto all = untouched_bytes(6);
            auto gathering = world.all_gather(mine, counts, all);
            counts = {9, 9};
            gathering.wait(patience);
            mine.assign(3, std::byte{0});
            EXPECT_EQ(all, everybodys({3, 3}));
        }
    });
}

TYPED_TEST(all_gather_on, completes_by_asking_whether_it_is_ready) {
    this->run(3, [](comm::communicator& world) {
        auto const mine = payload(to_index(world.rank()), 2);
        auto all = untouched_bytes(6);
        auto gathering = world.all_gather(mine, all);
        comm::deadline const end = patience;
        while (!gathering.ready() && !end.passed()) {
            std::this_thread::yield();
        }
        EXPECT_TRUE(gathering.ready());
        EXPECT_EQ(all, everybodys({2, 2, 2}));
    });
}

TYPED_TEST(all_gather_on, refuses_buffers_and_counts_that_do_not_fit_each_other) {
    this->run(2, [](comm::communicator& world) {
        auto const mine = payload(to_index(world.rank()), 3);
        auto all = untouched_bytes(6);
        auto const gather = [&](std::vector<std::uint64_t> const& counts, std::size_t room) {
            return [&world, &mine, &all, counts, room] {
                static_cast<void>(world.all_gather(mine, counts, std::span{all}.first(room)));
            };
        };
        EXPECT_EQ(refusal_of([&] { return world.all_gather(mine, std::span{all}.first(5)); }),
                  "all_gather: all.size() = 5, expected 6 bytes");
        EXPECT_EQ(refusal_of(gather({3, 3}, 5)), "all_gather: all.size() = 5, expected 6 bytes");
        EXPECT_EQ(refusal_of(gather({3}, 3)), "all_gather: counts.size() = 1, expected one for each of 2 ranks");
        EXPECT_EQ(refusal_of(gather({3, 3, 0}, 6)), "all_gather: counts.size() = 3, expected one for each of 2 ranks");
        EXPECT_EQ(refusal_of(gather({2, 2}, 4)), "all_gather: mine.size() = 3, expected 2 bytes");
        EXPECT_THROW(gather(world.rank() == world_rank{0}
                                ? std::vector<std::uint64_t>{3, std::numeric_limits<std::uint64_t>::max()}
                                : std::vector<std::uint64_t>{std::numeric_limits<std::uint64_t>::max(), 3},
                            2)(),
                     std::overflow_error);
        EXPECT_EQ(all, untouched_bytes(6));

        // A refused call is no operation: the next one is met by the others.
        world.all_gather(mine, all).wait(patience);
        EXPECT_EQ(all, everybodys({3, 3}));
    });
}

TYPED_TEST(all_gather_on, fails_on_every_rank_when_one_counts_other_sizes) {
    this->run(3, [](comm::communicator& world) {
        bool const odd = world.rank() == world_rank{1};
        std::vector<std::uint64_t> const counts =
            odd ? std::vector<std::uint64_t>{2, 2, 1} : std::vector<std::uint64_t>{2, 2, 3};
        auto const mine = payload(to_index(world.rank()), counts[to_index(world.rank())]);
        auto all = untouched_bytes(odd ? 5 : 7);
        auto const error = error_of([&] { world.all_gather(mine, counts, all).wait(patience); });
        EXPECT_EQ(error.rank(), world.rank());
        EXPECT_EQ(all, untouched_bytes(all.size()));
    });
}

TYPED_TEST(barrier_on, is_complete_when_every_rank_has_come) {
    this->run(2, [](comm::communicator& world) {
        auto const aside = world.split(0, 0, patience);
        if (world.rank() == world_rank{0}) {
            auto barrier = world.barrier();
            for (int time = 0; time < 100; ++time) {
                EXPECT_FALSE(barrier.ready());
            }
            aside->barrier().wait(patience);
            barrier.wait(patience);
        } else {
            aside->barrier().wait(patience);
            world.barrier().wait(patience);
        }
    });
}

TYPED_TEST(barrier_on, may_be_called_again_before_it_has_been_waited_for) {
    this->run(3, [](comm::communicator& world) {
        auto first = world.barrier();
        auto second = world.barrier();
        auto third = world.barrier();
        second.wait(patience);
        third.wait(patience);
        first.wait(patience);
    });
}

}  // namespace
}  // namespace evenkeel::test::communicator_gather_test
