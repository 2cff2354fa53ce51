// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/comm/communicator.hpp>

#include "tests/support/backends.hpp"
#include "tests/support/mailbox.hpp"

namespace evenkeel::test::communicator_split_test {
namespace {

using testing::HasSubstr;

template <class Backend>
class split_on : public on_ranks<Backend> {};
TYPED_TEST_SUITE(split_on, backends, backend_name);

/// The rank in `outer` of each rank of `inner`, found out through `inner`.
std::vector<std::uint32_t> members(comm::communicator& inner, comm::communicator const& outer) {
    auto const mine = static_cast<std::uint32_t>(outer.rank());
    std::vector<std::uint32_t> all(inner.size().value);
    inner.all_gather(std::as_bytes(std::span{&mine, 1}), std::as_writable_bytes(std::span{all})).wait(patience);
    return all;
}

using ranks = std::vector<std::uint32_t>;

TYPED_TEST(split_on, gives_each_color_a_communicator_of_its_own) {
    this->run(4, [](comm::communicator& world) {
        std::size_t const self = to_index(world.rank());
        auto const part = world.split(self % 2 == 0 ? 7 : 4'000'000'000, 0, patience);
        EXPECT_EQ(part->size(), world_size{2});
        EXPECT_EQ(part->rank(), to_id<world_rank>(self / 2));
        EXPECT_EQ(members(*part, world), self % 2 == 0 ? (ranks{0, 2}) : (ranks{1, 3}));
        mailbox box{*part, [](std::size_t from, std::size_t) { return from + 3; }, self % 2};
        box.exchange(*part).wait(patience);
        box.expect_everything();
    });
}

TYPED_TEST(split_on, orders_the_ranks_by_key_then_by_rank) {
    this->run(4, [](comm::communicator& world) {
        constexpr std::uint32_t keys[] = {5, 0, 5, 4'294'967'295};
        auto const part = world.split(1, keys[to_index(world.rank())], patience);
        EXPECT_EQ(members(*part, world), (ranks{1, 0, 2, 3}));
    });
}

TYPED_TEST(split_on, may_leave_every_rank_alone) {
    this->run(3, [](comm::communicator& world) {
        auto const alone = world.split(static_cast<std::uint32_t>(world.rank()), 0, patience);
        EXPECT_EQ(alone->size(), world_size{1});
        EXPECT_EQ(alone->rank(), world_rank{0});
        alone->barrier().wait(patience);
        EXPECT_EQ(members(*alone, world), (ranks{static_cast<std::uint32_t>(world.rank())}));
    });
}

TYPED_TEST(split_on, keeps_nodes_together_and_counts_them_without_gaps) {
    this->run(uniform_topology(world_size{4}, node_size{2}), [](comm::communicator& world) {
        EXPECT_EQ(world.topology(), uniform_topology(world_size{4}, node_size{2}));
        auto const backwards = world.split(0, 3 - static_cast<std::uint32_t>(world.rank()), patience);
        EXPECT_EQ(backwards->topology().nodes_of_ranks, (std::vector{node_id{1}, node_id{1}, node_id{0}, node_id{0}}));
        auto const node = world.split(static_cast<std::uint32_t>(world.topology().node_of(world.rank())), 0, patience);
        EXPECT_EQ(node->topology().nodes_of_ranks, (std::vector{node_id{0}, node_id{0}}));
    });
}

TYPED_TEST(split_on, can_be_split_again) {
    this->run(4, [](comm::communicator& world) {
        auto const self = static_cast<std::uint32_t>(world.rank());
        auto const three = world.split(self == 1 ? 1 : 0, 9 - self, patience);  // ranks 3, 2, 0, and 1 alone
        auto const two = three->split(three->rank() == world_rank{1} ? 1 : 0, 0, patience);
        EXPECT_EQ(members(*two, world), self == 1 ? (ranks{1}) : self == 2 ? (ranks{2}) : (ranks{3, 0}));
        members(*three, world);
        world.barrier().wait(patience);
    });
}

TYPED_TEST(split_on, works_beside_the_communicator_it_came_from) {
    this->run(4, [](comm::communicator& world) {
        auto const first = world.split(to_index(world.rank()) < 2 ? 0 : 1, 0, patience);
        auto const second = world.split(0, 0, patience);
        auto const sizes = [](std::size_t from, std::size_t to) { return 100 * from + to + 1; };
        mailbox in_world{world, sizes, 1};
        mailbox in_first{*first, sizes, 2};
        mailbox in_second{*second, sizes, 3};
        auto a = in_world.exchange(world);
        auto b = in_second.exchange(*second);
        auto c = in_first.exchange(*first);
        c.wait(patience);
        a.wait(patience);
        b.wait(patience);
        in_world.expect_everything();
        in_first.expect_everything();
        in_second.expect_everything();
    });
}

TYPED_TEST(split_on, outlives_the_communicator_it_came_from) {
    this->run(3, [](comm::communicator& world) {
        auto middle = world.split(0, 0, patience);
        auto const last = middle->split(0, 0, patience);
        middle.reset();
        EXPECT_EQ(members(*last, world), (ranks{0, 1, 2}));
    });
}

TYPED_TEST(split_on, fails_with_the_communicator_it_came_from) {
    this->run(3, [](comm::communicator& world) {
        auto const first = world.split(to_index(world.rank()) == 0 ? 0 : 1, 0, patience);
        auto const second = first->split(0, 0, patience);
        auto all_are_here = world.barrier();
        if (world.rank() == world_rank{0}) {
            all_are_here.wait(patience);
            world.abort("out of memory");
        }
        // Rank 0 takes no part in the communicator that ranks 1 and 2 wait in.
        auto const error = error_of([&] {
            for (comm::deadline const end = patience; !end.passed();) {
                second->barrier().wait(end);
            }
        });
        EXPECT_EQ(error.rank(), second->rank());
        EXPECT_THAT(error.what(), HasSubstr("rank 0: out of memory"));
        // The rank that aborted has another number here, or none.
        EXPECT_EQ(error.peer(), std::nullopt);
    });
}

TYPED_TEST(split_on, fails_alone) {
    this->run(4, [](comm::communicator& world) {
        auto const pair = world.split(static_cast<std::uint32_t>(world.rank()) / 2, 0, patience);
        if (world.rank() == world_rank{3}) {
            pair->abort("enough");
        }
        if (to_index(world.rank()) >= 2) {
            static_cast<void>(error_of([&] {
                for (comm::deadline const end = patience; !end.passed();) {
                    pair->barrier().wait(end);
                }
            }));
        } else {
            pair->barrier().wait(patience);
        }
        world.barrier().wait(patience);
    });
}

TYPED_TEST(split_on, reports_a_rank_that_does_not_come) {
    this->run(2, [](comm::communicator& world) {
        if (world.rank() == world_rank{1}) {
            return;
        }
        auto const error = error_of([&] { return world.split(0, 0, impatience); });
        EXPECT_EQ(error.operation(), "split");
        EXPECT_EQ(error.peer(), world_rank{1});
    });
}

}  // namespace
}  // namespace evenkeel::test::communicator_split_test
