// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/comm/error.hpp>
#include <evenkeel/comm/mpi.hpp>

#include "tests/support/backends.hpp"
#include "tests/support/mailbox.hpp"

namespace evenkeel::test::mpi_test {
namespace {

using testing::HasSubstr;

std::size_t processes() { return static_cast<std::size_t>(mpi_processes()); }

world_rank self() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return to_id<world_rank>(static_cast<std::size_t>(rank));
}

topology one_node(std::size_t ranks) { return uniform_topology(world_size{ranks}, node_size{ranks}); }

std::size_t some(std::size_t from, std::size_t to) { return 100 * from + to + 1; }

void exchange_and_check(comm::communicator& world) {
    mailbox box{world, some};
    box.exchange(world).wait(patience);
    box.expect_everything();
}

TEST(make_mpi, makes_the_process_a_rank_on_the_node_it_shares_memory_on) {
    auto const world = comm::make_mpi(MPI_COMM_WORLD);
    EXPECT_EQ(world->rank(), self());
    EXPECT_EQ(world->topology(), one_node(processes()));
    exchange_and_check(*world);
}

TEST(make_mpi, takes_nodes_as_they_are_given) {
    topology nodes;
    for (std::size_t rank = 0; rank < processes(); ++rank) {
        nodes.nodes_of_ranks.push_back(to_id<node_id>(processes() - 1 - rank));
    }
    auto const world = comm::make_mpi(MPI_COMM_WORLD, nodes);
    EXPECT_EQ(world->topology(), nodes);
    exchange_and_check(*world);
}

TEST(make_mpi, can_be_called_again_while_the_first_communicator_is_in_use) {
    auto const one = comm::make_mpi(MPI_COMM_WORLD);
    auto const two = comm::make_mpi(MPI_COMM_WORLD);
    mailbox in_one{*one, some, 1};
    mailbox in_two{*two, some, 2};
    auto first = in_one.exchange(*one);
    auto second = in_two.exchange(*two);
    second.wait(patience);
    first.wait(patience);
    in_one.expect_everything();
    in_two.expect_everything();
}

TEST(make_mpi, keeps_apart_from_the_callers_own_messages) {
    int const processes = mpi_processes();
    int const rank = static_cast<int>(to_index(self()));
    int from_before = -1;
    MPI_Request receive = MPI_REQUEST_NULL;
    MPI_Irecv(&from_before, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &receive);

    auto const world = comm::make_mpi(MPI_COMM_WORLD);
    exchange_and_check(*world);
    int complete = 0;
    MPI_Test(&receive, &complete, MPI_STATUS_IGNORE);
    EXPECT_EQ(complete, 0);
    world->barrier().wait(patience);

    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % processes, 0, MPI_COMM_WORLD);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    EXPECT_EQ(from_before, (rank + processes - 1) % processes);
}

TEST(make_mpi, refuses_what_is_no_communicator_of_one_group) {
    EXPECT_EQ(refusal_of([] { return comm::make_mpi(MPI_COMM_NULL); }),
              "make_mpi: processes = MPI_COMM_NULL, expected a communicator");
    if (processes() < 2) {
        GTEST_SKIP() << "one process has no other to meet";
    }
    int const half = self() == world_rank{0} ? 0 : 1;
    MPI_Comm mine = MPI_COMM_NULL;
    MPI_Comm both = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, half, 0, &mine);
    MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, half == 0 ? 1 : 0, 0, &both);
    EXPECT_EQ(refusal_of([&] { return comm::make_mpi(both); }),
              "make_mpi: processes = an intercommunicator, expected processes of one group");
    MPI_Comm_free(&both);
    MPI_Comm_free(&mine);
}

TEST(make_mpi, refuses_nodes_of_another_number_of_ranks) {
    auto const count = std::to_string(processes());
    EXPECT_EQ(refusal_of([&] { return comm::make_mpi(MPI_COMM_WORLD, one_node(processes() + 1)); }),
              "make_mpi: nodes.size() = " + std::to_string(processes() + 1) + ", expected one rank for each of the " +
                  count + " processes");
    EXPECT_EQ(refusal_of([&] { return comm::make_mpi(MPI_COMM_WORLD, topology{}); }),
              "make_mpi: nodes.size() = 0, expected one rank for each of the " + count + " processes");
}

TEST(make_mpi, refuses_pieces_that_no_message_can_carry) {
    auto const refusal = [](std::size_t bytes) {
        return refusal_of([&] { return comm::make_mpi(MPI_COMM_WORLD, {.piece_bytes = bytes}); });
    };
    EXPECT_EQ(refusal(0), "make_mpi: options.piece_bytes = 0, expected from 1 to 1073741824");
    EXPECT_EQ(refusal(1'073'741'825), "make_mpi: options.piece_bytes = 1073741825, expected from 1 to 1073741824");
}

TEST(make_mpi, tells_every_process_that_one_has_refused) {
    bool const odd = to_index(self()) == processes() - 1;
    comm::mpi_options const options{.piece_bytes = odd ? 0U : 100U};
    if (odd) {
        EXPECT_THROW(static_cast<void>(comm::make_mpi(MPI_COMM_WORLD, options)), std::invalid_argument);
    } else {
        auto const error = error_of([&] { return comm::make_mpi(MPI_COMM_WORLD, options); });
        EXPECT_EQ(error.operation(), "make_mpi");
        EXPECT_EQ(error.rank(), self());
        EXPECT_THAT(error.what(), HasSubstr("process " + std::to_string(processes() - 1) + " refused its arguments"));
    }
    exchange_and_check(*comm::make_mpi(MPI_COMM_WORLD));
}

TEST(make_mpi, fails_on_every_process_where_one_passes_other_nodes) {
    if (processes() < 2) {
        GTEST_SKIP() << "one process has nobody to disagree with";
    }
    auto nodes = one_node(processes());
    if (self() == world_rank{1}) {
        nodes.nodes_of_ranks.front() = node_id{1};
    }
    auto const error = error_of([&] { return comm::make_mpi(MPI_COMM_WORLD, nodes); });
    EXPECT_THAT(error.what(), HasSubstr("process 1 passes other nodes than process 0"));
}

/// A communicator of all processes whose duplicates are counted when they are freed.
class counted_comm {
  public:
    counted_comm() {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
        MPI_Comm_create_keyval(MPI_COMM_DUP_FN, count, &key_, nullptr);
        MPI_Comm_set_attr(comm_, key_, &freed_);
    }
    counted_comm(counted_comm const&) = delete;
    counted_comm& operator=(counted_comm const&) = delete;
    ~counted_comm() {
        MPI_Comm_free(&comm_);
        MPI_Comm_free_keyval(&key_);
    }

    [[nodiscard]] MPI_Comm get() const noexcept { return comm_; }
    [[nodiscard]] int freed() const noexcept { return freed_; }

  private:
    static int count(MPI_Comm, int, void* freed, void*) {
        ++*static_cast<int*>(freed);
        return MPI_SUCCESS;
    }

    MPI_Comm comm_ = MPI_COMM_NULL;
    int key_ = MPI_KEYVAL_INVALID;
    int freed_ = 0;
};

TEST(make_mpi, frees_its_duplicate_with_the_last_communicator_made_from_it) {
    counted_comm const processes;
    auto world = comm::make_mpi(processes.get());
    auto part = world->split(static_cast<std::uint32_t>(self()) % 2, 0, patience);
    auto last = part->split(0, 0, patience);
    world.reset();
    EXPECT_EQ(processes.freed(), 0);
    exchange_and_check(*last);
    last.reset();
    EXPECT_EQ(processes.freed(), 0);
    part.reset();
    EXPECT_EQ(processes.freed(), 1);
}

TEST(make_mpi, frees_its_duplicate_where_it_refuses) {
    counted_comm const processes;
    EXPECT_THROW(static_cast<void>(comm::make_mpi(processes.get(), topology{})), std::invalid_argument);
    EXPECT_EQ(processes.freed(), 1);
}

TEST(make_mpi, leaves_its_duplicate_to_mpi_where_messages_may_still_come) {
    if (processes() < 2) {
        GTEST_SKIP() << "one process has no other that could send";
    }
    counted_comm const processes;
    auto world = comm::make_mpi(processes.get());
    if (self() == world_rank{0}) {
        world->abort("enough");
    }
    static_cast<void>(error_of([&] { world->barrier().wait(patience); }));
    world.reset();
    EXPECT_EQ(processes.freed(), 0);
}

TEST(run_mpi, gives_every_process_equally_many_consecutive_ranks) {
    auto const cluster = uniform_topology(world_size{3 * processes()}, node_size{3});
    std::mutex mutex;
    std::vector<std::size_t> here;
    comm::run_mpi(MPI_COMM_WORLD, cluster, [&](comm::communicator& world) {
        EXPECT_EQ(world.topology(), cluster);
        exchange_and_check(world);
        std::lock_guard const lock{mutex};
        here.push_back(to_index(world.rank()));
    });
    auto const first = 3 * to_index(self());
    EXPECT_THAT(here, testing::UnorderedElementsAre(first, first + 1, first + 2));
}

TEST(run_mpi, refuses_ranks_that_the_processes_cannot_share_equally) {
    if (processes() < 2) {
        GTEST_SKIP() << "one process carries any number of ranks";
    }
    auto const none = [](comm::communicator&) { FAIL(); };
    EXPECT_EQ(refusal_of([&] {
                  comm::run_mpi(MPI_COMM_WORLD, one_node(processes() + 1), none);
                  return 0;
              }),
              "run_mpi: nodes.size() = " + std::to_string(processes() + 1) + ", expected a multiple of the " +
                  std::to_string(processes()) + " processes");
}

TEST(run_mpi, refuses_a_world_without_ranks) {
    EXPECT_THROW(comm::run_mpi(MPI_COMM_WORLD, topology{}, [](comm::communicator&) { FAIL(); }), std::invalid_argument);
}

TEST(run_mpi, throws_what_a_rank_of_the_process_has_thrown) {
    auto const cluster = one_node(2 * processes());
    auto const body = [](comm::communicator& world) {
        if (world.rank() == world_rank{1}) {
            throw std::runtime_error{"no such file"};
        }
        world.barrier().wait(patience);
    };
    try {
        comm::run_mpi(MPI_COMM_WORLD, cluster, body);
        ADD_FAILURE() << "nothing was thrown";
    } catch (comm::error const& caught) {
        EXPECT_NE(self(), world_rank{0});
        EXPECT_EQ(caught.peer(), world_rank{1});
        EXPECT_THAT(caught.what(), HasSubstr("rank 1: no such file"));
    } catch (std::runtime_error const& caught) {
        EXPECT_EQ(self(), world_rank{0});
        EXPECT_STREQ(caught.what(), "no such file");
    }
}

TEST(mpi_pieces, carry_what_is_larger_than_one_message_may_be) {
    for (std::size_t const piece : {1U, 7U, 1000U}) {
        auto const sizes = [&](std::size_t from, std::size_t to) {
            std::size_t const all[] = {piece - 1, piece, piece + 1, 2 * piece, 5 * piece + piece / 2};
            return all[(3 * from + to) % 5];
        };
        run_on_mpi(one_node(4), {.piece_bytes = piece}, [&](comm::communicator& world) {
            for (std::size_t round = 0; round < 3; ++round) {
                mailbox box{world, sizes, round};
                box.exchange(world).wait(patience);
                box.expect_everything();
            }
        });
    }
}

TEST(mpi_pieces, carry_what_is_gathered) {
    for (std::size_t const piece : {1U, 7U, 1000U}) {
        std::vector<std::uint64_t> const counts{0, piece, 3 * piece + 1, 1};
        std::vector<std::byte> expected;
        for (std::size_t rank = 0; rank < counts.size(); ++rank) {
            auto const part = payload(rank, counts[rank]);
            expected.insert(expected.end(), part.begin(), part.end());
        }
        run_on_mpi(one_node(4), {.piece_bytes = piece}, [&](comm::communicator& world) {
            auto const rank = to_index(world.rank());
            auto all = untouched_bytes(expected.size());
            world.all_gather(payload(rank, counts[rank]), counts, all).wait(patience);
            EXPECT_EQ(all, expected);
        });
    }
}

TEST(mpi_pieces, name_the_message_that_does_not_match) {
    // What the ranks tell each other to find it travels in pieces, too.
    run_on_mpi(one_node(4), {.piece_bytes = 3}, [&](comm::communicator& world) {
        bool const odd = world.rank() == world_rank{2};
        mailbox sending{world, [&](std::size_t, std::size_t to) { return odd && to == 1 ? 5U : 9U; }};
        mailbox receiving{world, [](std::size_t, std::size_t) { return 9U; }};
        auto const error = error_of([&] { world.exchange(sending.sends, receiving.receives).wait(patience); });
        EXPECT_THAT(error.what(), HasSubstr("rank 2 sends 5 bytes to rank 1, which expects 9"));
        receiving.expect_nothing();
    });
}

/// Large enough that no message can be on its way as a whole.
std::size_t megabytes(std::size_t, std::size_t) { return 4'000'000; }

/// Begins an exchange of two processes, on process 0 when process 1 has. So that one has come, and could not find the
/// other one there: before it looks again, it neither sends nor takes what is large.
comm::pending begin_second(mailbox const& box, comm::communicator& world, MPI_Comm pair) {
    int token = 0;
    if (world.rank() == world_rank{0}) {
        MPI_Recv(&token, 1, MPI_INT, 1, 0, pair, MPI_STATUS_IGNORE);
        return box.exchange(world);
    }
    auto begun = box.exchange(world);
    MPI_Send(&token, 1, MPI_INT, 0, 0, pair);
    return begun;
}

TEST(mpi_peer, that_has_come_but_stalls_is_named_and_told) {
    if (processes() < 2) {
        GTEST_SKIP() << "the ranks of one process work for each other";
    }
    first_processes const pair{2};
    if (pair.get() == MPI_COMM_NULL) {
        return;
    }
    auto const world = comm::make_mpi(pair.get(), {.meet_neighbours = false});
    auto box = std::make_unique<mailbox>(*world, megabytes);
    auto exchange = begin_second(*box, *world, pair.get());
    int token = 0;
    if (world->rank() == world_rank{0}) {
        auto const error = error_of([&] { exchange.wait(impatience); });
        EXPECT_EQ(error.operation(), "exchange");
        EXPECT_EQ(error.peer(), world_rank{1});
        EXPECT_THAT(error.what(), HasSubstr("the deadline passed before rank 1 had sent all bytes"));
        box->expect_nothing();
        // What rank 1 finds of it when it wakes up no longer needs these bytes.
        box.reset();
        MPI_Send(&token, 1, MPI_INT, 1, 0, pair.get());
    } else {
        MPI_Recv(&token, 1, MPI_INT, 0, 0, pair.get(), MPI_STATUS_IGNORE);
        auto const error = error_of([&] { exchange.wait(patience); });
        EXPECT_EQ(error.peer(), world_rank{1});
        EXPECT_EQ(error.rank(), world_rank{1});
    }
    MPI_Barrier(pair.get());
}

TEST(mpi_peer, that_stalls_while_its_memory_is_read_is_named_and_told) {
    if (processes() < 2 || !mpi_neighbours_meet) {
        GTEST_SKIP() << "nobody reads the memory of another process";
    }
    first_processes const pair{2};
    if (pair.get() == MPI_COMM_NULL) {
        return;
    }
    auto const world = comm::make_mpi(pair.get());
    auto box = std::make_unique<mailbox>(*world, megabytes);
    auto exchange = begin_second(*box, *world, pair.get());
    int token = 0;
    if (world->rank() == world_rank{0}) {
        // All that it receives comes. But rank 1 has not taken what it is sent, so the exchange is not complete.
        auto const error = error_of([&] { exchange.wait(impatience); });
        EXPECT_EQ(error.operation(), "exchange");
        EXPECT_EQ(error.peer(), world_rank{1});
        EXPECT_THAT(error.what(), HasSubstr("the deadline passed before rank 1 had taken all bytes"));
        // What rank 1 would read of it when it wakes up no longer needs these bytes.
        box.reset();
        MPI_Send(&token, 1, MPI_INT, 1, 0, pair.get());
    } else {
        MPI_Recv(&token, 1, MPI_INT, 0, 0, pair.get(), MPI_STATUS_IGNORE);
        auto const error = error_of([&] { exchange.wait(patience); });
        EXPECT_EQ(error.peer(), world_rank{1});
        EXPECT_EQ(error.rank(), world_rank{1});
    }
    MPI_Barrier(pair.get());
}

TEST(mpi_peer, that_takes_nothing_is_named) {
    if (processes() < 2) {
        GTEST_SKIP() << "the ranks of one process work for each other";
    }
    first_processes const pair{2};
    if (pair.get() == MPI_COMM_NULL) {
        return;
    }
    auto const world = comm::make_mpi(pair.get(), {.meet_neighbours = mpi_neighbours_meet});
    auto const from_0 = [](std::size_t from, std::size_t) { return from == 0 ? std::size_t{4'000'000} : 0; };
    mailbox box{*world, from_0};
    auto exchange = begin_second(box, *world, pair.get());
    int token = 0;
    if (world->rank() == world_rank{0}) {
        auto const error = error_of([&] { exchange.wait(impatience); });
        EXPECT_EQ(error.peer(), world_rank{1});
        EXPECT_THAT(error.what(), HasSubstr("the deadline passed before rank 1 had taken all bytes"));
        MPI_Send(&token, 1, MPI_INT, 1, 0, pair.get());
    } else {
        MPI_Recv(&token, 1, MPI_INT, 0, 0, pair.get(), MPI_STATUS_IGNORE);
        static_cast<void>(error_of([&] { exchange.wait(patience); }));
    }
    MPI_Barrier(pair.get());
}

TEST(mpi_level, below_serialized_is_refused) {
    EXPECT_EQ(refusal_of([] { return comm::make_mpi(MPI_COMM_WORLD); }),
              "make_mpi: the thread level of MPI = MPI_THREAD_SINGLE, expected at least MPI_THREAD_SERIALIZED");
}

TEST(mpi_level, serialized_is_enough_for_one_rank_per_process_only) {
    exchange_and_check(*comm::make_mpi(MPI_COMM_WORLD));
    comm::run_mpi(MPI_COMM_WORLD, one_node(processes()), [](comm::communicator& world) { exchange_and_check(world); });
    EXPECT_EQ(refusal_of([] {
                  comm::run_mpi(MPI_COMM_WORLD, one_node(2 * processes()), [](comm::communicator&) { FAIL(); });
                  return 0;
              }),
              "run_mpi: the thread level of MPI = MPI_THREAD_SERIALIZED, expected at least MPI_THREAD_MULTIPLE for "
              "several ranks per process");
}

TEST(mpi_not_running, is_refused) {
    EXPECT_EQ(refusal_of([] { return comm::make_mpi(MPI_COMM_WORLD); }),
              "make_mpi: MPI = not initialised, expected MPI_Init_thread to be called before");
    EXPECT_EQ(refusal_of([] {
                  comm::run_mpi(MPI_COMM_WORLD, one_node(1), [](comm::communicator&) { FAIL(); });
                  return 0;
              }),
              "run_mpi: MPI = not initialised, expected MPI_Init_thread to be called before");
}

TEST(mpi_finalized, is_refused_and_leaves_communicators_to_be_destroyed) {
    auto world = comm::make_mpi(MPI_COMM_WORLD);
    exchange_and_check(*world);
    MPI_Finalize();
    EXPECT_EQ(refusal_of([] { return comm::make_mpi(MPI_COMM_WORLD); }),
              "make_mpi: MPI = finalised, expected MPI_Finalize to be called after the last communicator is gone");
    world.reset();
}

}  // namespace
}  // namespace evenkeel::test::mpi_test
