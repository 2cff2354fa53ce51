// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/comm/lengths.hpp>
#include <evenkeel/comm/threads.hpp>

#include "tests/support/backends.hpp"
#include "tests/support/mailbox.hpp"

namespace evenkeel::test::threads_test {
namespace {

using comm::communicator;
using comm::make_threads;
using comm::run_threads;
using testing::HasSubstr;

topology one_node(std::size_t ranks) { return uniform_topology(world_size{ranks}, node_size{ranks}); }

TEST(make_threads, gives_one_communicator_per_rank) {
    auto const cluster = topology{{node_id{0}, node_id{1}, node_id{0}}};
    auto const ranks = make_threads(cluster);
    ASSERT_EQ(ranks.size(), 3u);
    for (std::size_t rank = 0; rank < 3; ++rank) {
        EXPECT_EQ(ranks[rank]->rank(), to_id<world_rank>(rank));
        EXPECT_EQ(ranks[rank]->topology(), cluster);
    }
}

TEST(make_threads, refuses_a_topology_without_ranks) {
    EXPECT_EQ(refusal_of([] { return make_threads({}); }),
              "make_threads: topology.size() = 0, expected at least 1 rank");
}

TEST(run_threads, refuses_an_empty_function) {
    EXPECT_EQ(refusal_of([] {
                  run_threads(one_node(2), nullptr);
                  return 0;
              }),
              "run_threads: body = empty, expected a function to run on every rank");
}

TEST(make_threads, refuses_streams) {
    auto const ranks = make_threads(one_node(1));
    auto& alone = *ranks[0];
    int queue = 0;
    comm::stream const on{&queue};
    auto byte = untouched_bytes(1);
    std::string const reason = ": on = a stream, expected none: threads move bytes on the host";
    EXPECT_EQ(refusal_of([&] { return alone.all_gather(byte, byte, on); }), "all_gather" + reason);
    EXPECT_EQ(refusal_of([&] { return alone.exchange({}, {}, on); }), "exchange" + reason);
    EXPECT_EQ(refusal_of([&] { return alone.barrier(on); }), "barrier" + reason);
}

TEST(make_threads, lets_one_thread_play_all_ranks_in_turn) {
    auto const ranks = make_threads(one_node(3));
    std::vector<mailbox> boxes;
    std::vector<comm::pending> exchanges;
    for (auto const& rank : ranks) {
        boxes.emplace_back(*rank, [](std::size_t from, std::size_t to) { return from + to; });
        exchanges.push_back(boxes.back().exchange(*rank));
    }
    for (std::size_t rank = 0; rank < 3; ++rank) {
        EXPECT_TRUE(exchanges[rank].ready());
        boxes[rank].expect_everything();
    }
}

TEST(make_threads, works_for_ranks_whose_threads_end_at_any_time) {
    auto ranks = make_threads(one_node(2));
    auto barrier = ranks[0]->barrier();
    ranks[0].reset();
    auto other = ranks[1]->barrier();
    ranks.clear();
    barrier.wait(patience);
    other.wait(patience);
}

TEST(run_threads, runs_the_body_once_per_rank_in_a_thread_of_its_own) {
    std::mutex mutex;
    std::set<std::thread::id> threads{std::this_thread::get_id()};
    std::multiset<world_rank> ranks;
    run_threads(one_node(5), [&](communicator& world) {
        world.barrier().wait(patience);
        std::lock_guard const lock{mutex};
        threads.insert(std::this_thread::get_id());
        ranks.insert(world.rank());
    });
    EXPECT_EQ(threads.size(), 6u);
    EXPECT_THAT(ranks, testing::ElementsAre(world_rank{0}, world_rank{1}, world_rank{2}, world_rank{3}, world_rank{4}));
}

TEST(run_threads, serves_many_ranks) {
    run_threads(uniform_topology(world_size{64}, node_size{8}), [](communicator& world) {
        mailbox box{world, [](std::size_t from, std::size_t to) { return (from * 7 + to * 3) % 20; }};
        box.exchange(world).wait(patience);
        box.expect_everything();
        auto const node = world.split(static_cast<std::uint32_t>(world.topology().node_of(world.rank())), 0, patience);
        EXPECT_EQ(node->size(), world_size{8});
        node->barrier().wait(patience);
    });
}

TEST(run_threads, holds_nobody_up_for_a_rank_that_computes_before_it_waits) {
    std::atomic<int> complete = 0;
    run_threads(one_node(3), [&](communicator& world) {
        mailbox box{world, [](std::size_t, std::size_t) { return 200'000u; }};
        auto exchange = box.exchange(world);
        if (world.rank() == world_rank{0}) {
            for (comm::deadline const end = patience; complete < 2 && !end.passed();) {
                std::this_thread::yield();
            }
            EXPECT_EQ(complete, 2) << "the others need nothing more from this rank";
        }
        exchange.wait(patience);
        box.expect_everything();
        ++complete;
    });
}

TEST(run_threads, returns_when_all_ranks_have_ended) {
    std::atomic<int> ended = 0;
    EXPECT_THROW(run_threads(one_node(3),
                             [&](communicator& world) {
                                 if (world.rank() == world_rank{0}) {
                                     throw std::logic_error{"at once"};
                                 }
                                 std::this_thread::sleep_for(std::chrono::milliseconds{5});
                                 ++ended;
                             }),
                 std::logic_error);
    EXPECT_EQ(ended, 2);
}

TEST(run_threads, rethrows_what_the_rank_threw_that_made_the_others_fail) {
    for (int time = 0; time < 50; ++time) {
        try {
            run_threads(one_node(4), [](communicator& world) {
                if (world.rank() == world_rank{2}) {
                    throw std::domain_error{"the cause"};
                }
                world.barrier().wait(patience);
            });
            ADD_FAILURE() << "nothing was thrown";
        } catch (std::domain_error const& cause) {
            EXPECT_STREQ(cause.what(), "the cause");
        }
    }
}

TEST(run_threads, rethrows_the_cause_when_an_exception_passes_a_transfer_on_its_way) {
    for (int time = 0; time < 100; ++time) {
        EXPECT_THROW(run_threads(one_node(3),
                                 [](communicator& world) {
                                     mailbox box{world, [](std::size_t, std::size_t) { return 50u; }};
                                     auto const exchange = box.exchange(world);
                                     if (world.rank() == world_rank{1}) {
                                         throw std::domain_error{"the cause"};
                                     }
                                     world.barrier().wait(patience);
                                 }),
                     std::domain_error);
    }
}

TEST(run_threads, rethrows_what_a_rank_refused_not_what_the_others_heard_of_it) {
    for (int time = 0; time < 100; ++time) {
        EXPECT_THROW(run_threads(one_node(4),
                                 [](communicator& world) {
                                     auto const drawn = world.rank() == world_rank{1}
                                                            ? std::vector<std::uint64_t>{1, 2, 3}
                                                            : std::vector<std::uint64_t>{1, 2};
                                     (void)all_gather_lengths(world, drawn, 2, patience);
                                 }),
                     std::invalid_argument);
    }
}

TEST(run_threads, tells_the_other_ranks_the_cause) {
    std::atomic<int> told = 0;
    EXPECT_THROW(run_threads(one_node(3),
                             [&](communicator& world) {
                                 if (world.rank() == world_rank{0}) {
                                     throw std::domain_error{"the cause"};
                                 }
                                 auto const error = error_of([&] { world.barrier().wait(patience); });
                                 EXPECT_EQ(error.peer(), world_rank{0});
                                 EXPECT_EQ(error.operation(), "abort");
                                 EXPECT_THAT(error.what(), HasSubstr("rank 0: the cause"));
                                 ++told;
                             }),
                 std::domain_error);
    EXPECT_EQ(told, 2);
}

TEST(run_threads, rethrows_exceptions_of_any_type) {
    std::atomic<int> told = 0;
    EXPECT_THROW(run_threads(one_node(2),
                             [&](communicator& world) {
                                 if (world.rank() == world_rank{1}) {
                                     throw 42;
                                 }
                                 auto const error = error_of([&] { world.barrier().wait(patience); });
                                 EXPECT_THAT(error.what(), HasSubstr("rank 1: an exception that is no std::exception"));
                                 ++told;
                             }),
                 int);
    EXPECT_EQ(told, 1);
}

TEST(run_threads, rethrows_the_first_comm_error_where_there_is_nothing_else) {
    try {
        run_threads(one_node(3), [](communicator& world) {
            if (world.rank() != world_rank{2}) {
                world.barrier().wait(world.rank() == world_rank{0} ? comm::deadline{impatience} : patience);
            }
        });
        ADD_FAILURE() << "nothing was thrown";
    } catch (comm::error const& error) {
        EXPECT_EQ(error.operation(), "barrier");
        EXPECT_THAT(error.what(), HasSubstr("2 came"));
    }
}

TEST(run_threads, refuses_a_topology_without_ranks) {
    EXPECT_THROW(run_threads({}, [](communicator&) {}), std::invalid_argument);
}

TEST(run_threads, names_eight_of_many_ranks_that_have_not_come) {
    run_threads(one_node(12), [](communicator& world) {
        if (world.rank() == world_rank{3}) {
            auto const error = error_of([&] { world.barrier().wait(std::chrono::seconds{0}); });
            EXPECT_STREQ(error.what(),
                         "barrier on rank 3: the deadline passed before ranks 0, 1, 2, 4, 5, 6, 7, 8 and 3 more came");
        }
    });
}

TEST(run_threads, says_what_each_of_two_ranks_calls_where_they_do_not_meet) {
    auto const message_of = [](auto first, auto second) {
        auto const ranks = make_threads(one_node(3));
        auto const kept = first(*ranks[2]);
        auto const error = error_of([&] { second(*ranks[0]).wait(patience); });
        EXPECT_EQ(error.peer(), std::nullopt);
        return std::string{error.what()};
    };
    auto const barrier = [](communicator& world) { return world.barrier(); };
    auto const exchange = [](communicator& world) { return world.exchange({}, {}); };
    auto const move = [](communicator& world) { return world.exchange({}, {}, {}, {.operation = "all_to_all"}); };
    auto const gather = [](communicator& world) { return world.all_gather({}, {}); };
    EXPECT_EQ(message_of(barrier, exchange), "barrier on rank 0: rank 0 calls exchange, rank 2 calls barrier");
    EXPECT_EQ(message_of(exchange, barrier), "exchange on rank 0: rank 0 calls barrier, rank 2 calls exchange");
    EXPECT_EQ(message_of(barrier, gather), "barrier on rank 0: rank 0 calls all_gather, rank 2 calls barrier");
    EXPECT_EQ(message_of(exchange, move), "exchange on rank 0: rank 0 calls all_to_all, rank 2 calls exchange");
}

}  // namespace
}  // namespace evenkeel::test::threads_test
