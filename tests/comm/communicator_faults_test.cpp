// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/comm/communicator.hpp>

#include "tests/support/backends.hpp"
#include "tests/support/mailbox.hpp"

namespace evenkeel::test::communicator_faults_test {
namespace {

using testing::HasSubstr;

template <class Backend>
class communicator_on : public on_ranks<Backend> {};
TYPED_TEST_SUITE(communicator_on, backends, backend_name);

std::size_t some(std::size_t, std::size_t) { return 100; }

/// Waits for what some ranks never come to. `came` are those that do; the first of them loses patience when all others
/// are there, and they, who have more, are told.
void wait_in_vain(comm::pending operation, comm::communicator& came) {
    came.barrier().wait(patience);
    operation.wait(came.rank() == world_rank{0} ? comm::deadline{impatience} : comm::deadline{patience});
}

/// Every operation of a communicator that has failed throws the same error.
void expect_the_end(comm::communicator& world, comm::error const& error) {
    auto const expect_again = [&](auto call) { EXPECT_STREQ(error_of(call).what(), error.what()); };
    mailbox box{world, some};
    auto all = untouched_bytes(world.size().value);
    expect_again([&] { box.exchange(world).wait(patience); });
    expect_again([&] { world.all_gather(payload(1, 1), all).wait(patience); });
    expect_again([&] { world.barrier().wait(patience); });
    expect_again([&] { return world.barrier().ready(); });
    expect_again([&] { return world.split(0, 0, patience); });
    box.expect_nothing();
    EXPECT_EQ(all, untouched_bytes(all.size()));
}

TYPED_TEST(communicator_on, knows_its_ranks_and_their_nodes) {
    auto const cluster = topology{{node_id{1}, node_id{0}, node_id{1}}};
    this->run(cluster, [&](comm::communicator& world) {
        EXPECT_EQ(world.size(), world_size{3});
        EXPECT_LT(to_index(world.rank()), 3u);
        EXPECT_EQ(world.topology(), cluster);
    });
}

TYPED_TEST(communicator_on, names_the_rank_that_has_not_come_when_the_deadline_passes) {
    this->run(3, [](comm::communicator& world) {
        bool const absent = world.rank() == world_rank{1};
        auto const came = world.split(absent ? 1 : 0, 0, patience);
        if (absent) {
            return;
        }
        mailbox box{world, some};
        auto const error = error_of([&] { wait_in_vain(box.exchange(world), *came); });
        EXPECT_EQ(error.operation(), "exchange");
        EXPECT_EQ(error.rank(), world.rank());
        EXPECT_EQ(error.peer(), world_rank{1});
        EXPECT_THAT(error.what(), HasSubstr("rank 1"));
        box.expect_nothing();
        expect_the_end(world, error);
    });
}

TYPED_TEST(communicator_on, names_all_ranks_that_have_not_come_when_the_deadline_passes) {
    this->run(4, [](comm::communicator& world) {
        bool const absent = to_index(world.rank()) % 2 == 1;
        auto const came = world.split(absent ? 1 : 0, 0, patience);
        if (absent) {
            return;
        }
        auto const error = error_of([&] { wait_in_vain(world.barrier(), *came); });
        EXPECT_EQ(error.operation(), "barrier");
        EXPECT_EQ(error.peer(), std::nullopt);
        EXPECT_THAT(error.what(), HasSubstr("ranks 1, 3"));
    });
}

TYPED_TEST(communicator_on, waits_for_ever_where_it_is_told_to) {
    this->run(2, [](comm::communicator& world) {
        if (world.rank() == world_rank{0}) {
            world.barrier().wait(std::chrono::nanoseconds::max());
        } else {
            std::this_thread::sleep_for(std::chrono::milliseconds{5});
            world.barrier().wait(patience);
        }
    });
}

TYPED_TEST(communicator_on, fails_at_once_where_the_deadline_has_passed_already) {
    this->run(2, [](comm::communicator& world) {
        if (world.rank() == world_rank{0}) {
            auto const error = error_of([&] { world.barrier().wait(std::chrono::seconds{-1}); });
            EXPECT_EQ(error.peer(), world_rank{1});
        }
    });
}

TYPED_TEST(communicator_on, fails_on_every_rank_when_one_calls_another_operation) {
    this->run(3, [](comm::communicator& world) {
        mailbox box{world, some};
        auto const error = error_of([&] {
            if (world.rank() == world_rank{1}) {
                world.barrier().wait(patience);
            } else {
                box.exchange(world).wait(patience);
            }
        });
        EXPECT_EQ(error.rank(), world.rank());
        box.expect_nothing();
        expect_the_end(world, error);
    });
}

TYPED_TEST(communicator_on, does_not_take_a_split_for_an_all_gather_of_the_same_bytes) {
    this->run(2, [](comm::communicator& world) {
        auto all = untouched_bytes(16);
        static_cast<void>(error_of([&] {
            if (world.rank() == world_rank{1}) {
                static_cast<void>(world.split(0, 0, patience));
            } else {
                world.all_gather(payload(0, 8), all).wait(patience);
            }
        }));
        EXPECT_EQ(all, untouched_bytes(16));
    });
}

TYPED_TEST(communicator_on, tells_every_rank_why_one_aborted) {
    this->run(4, [](comm::communicator& world) {
        if (world.rank() == world_rank{2}) {
            world.abort("the disk is full");
        }
        mailbox box{world, some};
        auto const error = error_of([&] { box.exchange(world).wait(patience); });
        EXPECT_EQ(error.rank(), world.rank());
        EXPECT_EQ(error.peer(), world_rank{2});
        EXPECT_THAT(error.what(), HasSubstr("the disk is full"));
        expect_the_end(world, error);
    });
}

TYPED_TEST(communicator_on, keeps_the_first_fault) {
    this->run(2, [](comm::communicator& world) {
        if (world.rank() == world_rank{0}) {
            world.abort("first");
            world.abort("second");
        }
        auto const error = error_of([&] { world.barrier().wait(patience); });
        EXPECT_THAT(error.what(), HasSubstr("first"));
        world.abort("third");
        expect_the_end(world, error);
    });
}

TYPED_TEST(communicator_on, names_the_rank_because_of_which_one_aborted) {
    this->run(3, [](comm::communicator& world) {
        if (world.rank() == world_rank{1}) {
            world.abort("rank 2 sends nonsense", world_rank{2});
        }
        auto const error = error_of([&] { world.barrier().wait(patience); });
        EXPECT_EQ(error.peer(), world_rank{2});
        EXPECT_EQ(error.reason(), "rank 1: rank 2 sends nonsense");
    });
}

TYPED_TEST(communicator_on, names_nobody_where_one_aborted_because_of_several) {
    this->run(3, [](comm::communicator& world) {
        if (world.rank() == world_rank{1}) {
            world.abort("ranks 0 and 2 are late", std::nullopt);
        }
        auto const error = error_of([&] { world.barrier().wait(patience); });
        EXPECT_EQ(error.peer(), std::nullopt);
        EXPECT_EQ(error.reason(), "rank 1: ranks 0 and 2 are late");
    });
}

TYPED_TEST(communicator_on, ends_what_is_on_its_way_when_a_rank_aborts) {
    this->run(3, [](comm::communicator& world) {
        mailbox one{world, some, 1};
        mailbox two{world, some, 2};
        std::vector<comm::pending> under_way;
        under_way.push_back(one.exchange(world));
        if (world.rank() == world_rank{1}) {
            world.abort("enough");  // it never comes to the second
        } else {
            under_way.push_back(two.exchange(world));
            auto const error = error_of([&] { under_way[1].wait(patience); });
            EXPECT_THAT(error.what(), HasSubstr("enough"));
            two.expect_nothing();
        }
        // The first may have been complete before.
        try {
            under_way[0].wait(patience);
            one.expect_everything();
        } catch (comm::error const& error) {
            EXPECT_THAT(error.what(), HasSubstr("enough"));
        }
    });
}

}  // namespace
}  // namespace evenkeel::test::communicator_faults_test
