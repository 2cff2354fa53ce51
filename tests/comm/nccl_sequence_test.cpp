// SPDX-License-Identifier: Apache-2.0
// The NCCL backend over the test double: in which order it calls what, and what becomes of errors. No GPU is involved.
#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nccl.h>

#include <evenkeel/comm/all_to_all.hpp>
#include <evenkeel/comm/loopback.hpp>
#include <evenkeel/comm/nccl.hpp>
#include <evenkeel/comm/threads.hpp>

#include "tests/support/backends.hpp"
#include "tests/support/device_bytes.hpp"
#include "tests/support/layouts.hpp"
#include "tests/support/mailbox.hpp"
#include "tests/support/nccl_double.hpp"

namespace evenkeel::test::nccl_sequence_test {
namespace {

using testing::HasSubstr;

topology one_node(std::size_t ranks) { return uniform_topology(world_size{ranks}, node_size{ranks}); }

std::size_t a_little(std::size_t from, std::size_t to) { return 1 + 10 * from + to; }

TEST(make_nccl, says_that_there_is_no_device) {
    nccl_double::set_devices(0);
    auto const error = error_of([] { return comm::make_nccl({}, world_rank{0}, one_node(1), patience); });
    nccl_double::set_devices(1);
    EXPECT_THAT(error.what(), HasSubstr("make_nccl on rank 0: no CUDA device"));
}

TEST(make_loopback, says_that_there_is_no_device) {
    nccl_double::set_devices(0);
    auto const error = error_of([] { return comm::make_loopback(one_node(1)); });
    nccl_double::set_devices(1);
    EXPECT_THAT(error.what(), HasSubstr("make_loopback on rank 0: no CUDA device"));
}

TEST(make_loopback, refuses_no_ranks) {
    EXPECT_EQ(refusal_of([] { return comm::make_loopback({}); }),
              "make_loopback: nodes.size() = 0, expected at least 1 rank");
}

TEST(make_nccl, refuses_no_communicator_and_a_rank_that_is_none) {
    EXPECT_EQ(refusal_of([] { return comm::make_nccl(nullptr, one_node(1), patience); }),
              "make_nccl: parent = null, expected a communicator");
    EXPECT_EQ(refusal_of([] { return comm::make_nccl({}, world_rank{2}, one_node(2), patience); }),
              "make_nccl: rank = 2, expected a rank below 2");
}

TEST(make_nccl, names_the_call_that_failed) {
    auto const id = comm::make_nccl_id();
    nccl_double::fail_next("ncclCommInitRankConfig");
    auto const error = error_of([&] { return comm::make_nccl(id, world_rank{0}, one_node(1), patience); });
    EXPECT_THAT(error.what(), HasSubstr("ncclCommInitRankConfig: an error of the double (as the test has asked)"));
}

TEST(make_nccl, gives_up_at_the_deadline_when_a_rank_does_not_come) {
    auto const id = comm::make_nccl_id();
    auto const error = error_of([&] { return comm::make_nccl(id, world_rank{0}, one_node(2), impatience); });
    EXPECT_THAT(error.what(), HasSubstr("ncclCommInitRankConfig: the deadline passed before all ranks came"));
}

TEST(make_nccl, leaves_an_adopted_communicator_alone_also_after_a_fault) {
    auto const id = comm::make_nccl_id();
    ncclUniqueId unique;
    std::memcpy(&unique, id.bytes.data(), sizeof unique);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    ncclComm_t trainers = nullptr;
    ncclCommInitRankConfig(&trainers, 1, unique, 0, &config);
    EXPECT_EQ(refusal_of([&] { return comm::make_nccl(trainers, one_node(2), patience); }),
              "make_nccl: nodes.size() = 2, expected one rank for each of the 1 ranks of the parent");
    auto const world = comm::make_nccl(trainers, one_node(1), patience);
    world->barrier().wait(patience);
    world->abort("enough");
    static_cast<void>(error_of([&] { world->barrier().wait(patience); }));
    ncclResult_t state = ncclInternalError;
    EXPECT_EQ(ncclCommGetAsyncError(trainers, &state), ncclSuccess);
    EXPECT_EQ(state, ncclSuccess);
    comm::make_nccl(trainers, one_node(1), patience)->barrier().wait(patience);
    ncclCommDestroy(trainers);
}

TEST(make_nccl, refuses_other_ranks_beside_it) {
    auto const hosts = comm::make_threads(one_node(2));
    EXPECT_EQ(refusal_of([&] {
                  return comm::make_nccl({}, world_rank{0}, one_node(3), patience, {.beside = hosts[0].get()});
              }),
              "make_nccl: options.beside->size() = 2, expected the 3 ranks of nodes");
    EXPECT_EQ(refusal_of([&] {
                  return comm::make_nccl({}, world_rank{0}, one_node(2), patience, {.beside = hosts[1].get()});
              }),
              "make_nccl: options.beside->rank() = 1, expected this rank, 0");
}

TEST(make_nccl, leaves_the_communicator_beside_it_alone_also_after_a_fault) {
    auto const id = comm::make_nccl_id();
    comm::run_threads(one_node(2), [&](comm::communicator& host) {
        auto const world = comm::make_nccl(id, host.rank(), one_node(2), patience, {.beside = &host});
        if (host.rank() == world_rank{1}) {
            world->abort("enough");
        }
        EXPECT_EQ(error_of([&] { world->barrier().wait(patience); }).peer(), world_rank{1});
        host.barrier().wait(patience);
    });
}

TEST(make_nccl, frees_all_device_memory) {
    auto const before = nccl_double::allocations();
    nccl_sequence::run(one_node(3), [](comm::communicator& world) {
        mailbox const box{world, a_little};
        box.exchange(world).wait(patience);
    });
    EXPECT_EQ(nccl_double::allocations(), before);
}

template <class Backend>
class device_exchange_on : public on_ranks<Backend> {};
TYPED_TEST_SUITE(device_exchange_on, backends, backend_name);

TYPED_TEST(device_exchange_on, moves_bytes_from_device_to_device_after_what_is_on_the_stream) {
    this->run(one_node(2), [](comm::communicator& world) {
        cudaStream_t stream = nullptr;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        std::size_t const self = to_index(world.rank());
        auto const peer = to_id<world_rank>(1 - self);
        {
            device_bytes const out{untouched_bytes(1'000)};
            device_bytes const in{untouched_bytes(1'000)};
            auto const content = payload(self, 1'000);
            // Not before this is done, and it is not yet.
            cudaMemcpyAsync(out.get().data(), content.data(), 1'000, cudaMemcpyDefault, stream);
            std::vector<comm::outgoing> const sends{{peer, out.get()}};
            std::vector<comm::incoming> const receives{{peer, in.get()}};
            world.exchange(sends, receives, {stream}).wait(patience);
            auto const expected = payload(1 - self, 1'000);
            EXPECT_EQ(in.content(), expected);
        }
        cudaStreamDestroy(stream);
    });
}

TYPED_TEST(device_exchange_on, refuses_a_stream_that_is_being_captured) {
    this->run(one_node(1), [](comm::communicator& world) {
        cudaStream_t stream = nullptr;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        nccl_double::set_capturing(stream, true);
        EXPECT_EQ(refusal_of([&] { return world.exchange({}, {}, {stream}); }),
                  "exchange: on = a stream that is being captured, expected one that is not: ranks talk to each other "
                  "before bytes move");
        cudaStreamDestroy(stream);
        world.barrier().wait(patience);
    });
}

TYPED_TEST(device_exchange_on, carries_three_billion_bytes_to_one_peer) {
    // As many as no 32-bit count can say. NCCL counts in 64 bits, so they are one message.
    nccl_double::move_only_ends(true);
    this->run(one_node(2), [](comm::communicator& world) {
        constexpr std::size_t size = 3'000'000'000;
        constexpr std::size_t end = 1'000;
        device_bytes bytes{size};
        if (world.rank() == world_rank{0}) {
            bytes.fill(payload(1, end));
            bytes.fill(payload(2, end), size - end);
            std::vector<comm::outgoing> const sends{{world_rank{1}, bytes.get()}};
            world.exchange(sends, {}).wait(patience);
        } else {
            std::vector<comm::incoming> const receives{{world_rank{0}, bytes.get()}};
            world.exchange({}, receives).wait(patience);
            EXPECT_EQ(bytes.content(0, end), payload(1, end));
            EXPECT_EQ(bytes.content(size - end, end), payload(2, end));
        }
    });
    nccl_double::move_only_ends(false);
}

TYPED_TEST(device_exchange_on, takes_no_device_memory_for_messages_that_are_there) {
    std::atomic<std::size_t> before = 0;
    this->run(one_node(2), [&](comm::communicator& world) {
        constexpr std::size_t size = 1'000'000;
        auto const self = to_index(world.rank());
        auto const peer = to_id<world_rank>(1 - self);
        device_bytes const out{payload(self, size)};
        device_bytes const in{size};
        world.barrier().wait(patience);
        if (self == 0) {
            before = nccl_double::allocated_bytes();
        }
        world.barrier().wait(patience);
        std::vector<comm::outgoing> const sends{{peer, out.get()}};
        std::vector<comm::incoming> const receives{{peer, in.get()}};
        world.exchange(sends, receives).wait(patience);
        EXPECT_EQ(in.content(), payload(1 - self, size));
        world.barrier().wait(patience);
        EXPECT_EQ(nccl_double::allocated_bytes(), before);
        world.barrier().wait(patience);
    });
}

TYPED_TEST(device_exchange_on, packs_and_unpacks_in_one_batch_each_behind_a_scan) {
    this->run(one_node(1), [](comm::communicator& world) {
        // All stay, so there is nothing to pack.
        rearrangement const move{home_layout(std::vector<std::size_t>{3}), layout_of(plan_of({{2, 0, 1}}))};
        field const pixels{.name = "pixels", .bytes = {3, 2, 4}};
        device_bytes const from{payload(1, 9)};
        device_bytes const to{std::size_t{9}};
        auto const before = nccl_double::batches();
        all_to_all(world, move, std::array{comm::moving_field{pixels, from.get(), to.get()}}).wait(patience);
        EXPECT_EQ(nccl_double::batches() - before, 1);
    });
    std::atomic<long> before = 0;
    this->run(one_node(2), [&](comm::communicator& world) {
        rearrangement const move{home_layout(std::vector<std::size_t>{3, 2}), layout_of(plan_of({{0, 3, 1}, {2, 4}}))};
        std::vector<field> const fields{{"pixels", {3, 2, 4, 1, 7}}, {"label", {1, 1, 1, 1, 1}}};
        auto const self = to_index(world.rank());
        device_bytes const pixels{payload(1, self == 0 ? 9 : 8)};
        device_bytes const labels{payload(2, self == 0 ? 3 : 2)};
        device_bytes const pixels_here{std::size_t{self == 0 ? 6u : 11u}};
        device_bytes const labels_here{std::size_t{self == 0 ? 3u : 2u}};
        if (self == 0) {
            before = nccl_double::batches();
        }
        world.barrier().wait(patience);
        all_to_all(world, move,
                   std::array{comm::moving_field{fields[0], pixels.get(), pixels_here.get()},
                              comm::moving_field{fields[1], labels.get(), labels_here.get()}})
            .wait(patience);
        world.barrier().wait(patience);
        // Per rank a scan and a batch of copies each, and what stays.
        EXPECT_EQ(nccl_double::batches() - before, 2 * 5);
    });
}

TEST(nccl_exchange, fails_on_every_rank_when_the_ends_of_a_message_differ_and_moves_nothing) {
    nccl_sequence::run(one_node(3), [](comm::communicator& world) {
        mailbox const sending{world, [](std::size_t from, std::size_t to) { return from == 0 && to == 1 ? 1u : 7u; }};
        mailbox const receiving{world, [](std::size_t from, std::size_t to) { return from == 0 && to == 1 ? 3u : 7u; }};
        auto const error = error_of([&] { world.exchange(sending.sends, receiving.receives).wait(patience); });
        EXPECT_THAT(error.what(), HasSubstr("rank 0 sends 1 byte to rank 1, which expects 3"));
        receiving.expect_nothing();
        EXPECT_FALSE(error_of([&] { world.barrier().wait(patience); }).can_go_on());
    });
}

TEST(nccl_exchange, fails_on_every_rank_by_its_deadline_when_one_call_fails) {
    for (std::string const call : {"ncclAllGather", "ncclSend", "ncclRecv", "cudaMalloc"}) {
        std::barrier all_have_begun{3};
        nccl_sequence::run(one_node(3), [&](comm::communicator& world) {
            SCOPED_TRACE(call);
            bool const odd = world.rank() == world_rank{1};
            // Larger than any before, so that memory is asked for.
            mailbox const box{world, [](std::size_t, std::size_t) { return std::size_t{5'000}; }};
            if (odd) {
                nccl_double::fail_next(call);
            }
            auto exchange = box.exchange(world);
            all_have_begun.arrive_and_wait();
            auto const begun = std::chrono::steady_clock::now();
            // What fails on rank 1 does so by itself, the others have but their deadline.
            auto const error = error_of([&] { exchange.wait(odd ? comm::deadline{patience} : impatience); });
            EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds{20});
            EXPECT_FALSE(error.can_go_on());
            if (odd) {
                EXPECT_THAT(error.what(), HasSubstr("exchange on rank 1: " + call + ": "));
            }
        });
    }
}

TEST(nccl_exchange, fails_by_the_deadline_when_a_rank_does_not_come) {
    nccl_sequence::run(one_node(3), [](comm::communicator& world) {
        if (world.rank() != world_rank{2}) {
            mailbox const box{world, a_little};
            auto const error = error_of([&] { box.exchange(world).wait(impatience); });
            EXPECT_EQ(error.reason(), "the deadline passed before all ranks came");
            box.expect_nothing();
        }
    });
}

TEST(nccl_exchange, tells_every_rank_at_once_who_could_not_go_on_where_a_host_is_beside_it) {
    for (std::string const call : {"ncclSend", "ncclRecv", "cudaMalloc"}) {
        nccl_beside_threads::run(one_node(3), [&](comm::communicator& world) {
            SCOPED_TRACE(call);
            mailbox const box{world, [](std::size_t, std::size_t) { return std::size_t{5'000}; }};
            bool const odd = world.rank() == world_rank{1};
            if (odd) {
                nccl_double::fail_next(call);
            }
            auto const error = error_of([&] { box.exchange(world).wait(patience); });
            EXPECT_EQ(error.peer(), odd ? std::nullopt : std::optional{world_rank{1}});
            EXPECT_THAT(error.what(), HasSubstr(call + ": "));
            box.expect_nothing();
        });
    }
}

TEST(nccl_exchange, ends_for_all_when_the_stream_of_one_is_none_where_a_host_is_beside_it) {
    nccl_beside_threads::run(one_node(2), [](comm::communicator& world) {
        mailbox const box{world, a_little};
        cudaStream_t stream = nullptr;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        bool const odd = world.rank() == world_rank{1};
        if (odd) {
            nccl_double::fail_next("cudaStreamIsCapturing");
        }
        auto const error = error_of([&] { world.exchange(box.sends, box.receives, {stream}).wait(patience); });
        EXPECT_THAT(error.what(), HasSubstr("cudaStreamIsCapturing: "));
        EXPECT_EQ(error.peer(), odd ? std::nullopt : std::optional{world_rank{1}});
        EXPECT_EQ(error_of([&] { world.barrier().wait(patience); }).reason(), error.reason());
        box.expect_nothing();
        cudaStreamDestroy(stream);
    });
}

TEST(nccl_exchange, tells_every_rank_who_has_run_out_of_memory_where_a_host_is_beside_it) {
    std::barrier both{2};
    nccl_beside_threads::run(one_node(2), [&](comm::communicator& world) {
        mailbox const box{world, [](std::size_t, std::size_t) { return std::size_t{5'000}; }};
        if (world.rank() == world_rank{1}) {
            // Before the other one, so that it is in `wait` that it asks for memory.
            auto exchange = box.exchange(world);
            both.arrive_and_wait();
            nccl_double::run_out_of_memory_in("cudaMalloc");
            EXPECT_THROW(exchange.wait(patience), std::bad_alloc);
        } else {
            both.arrive_and_wait();
            auto const error = error_of([&] { box.exchange(world).wait(patience); });
            EXPECT_EQ(error.peer(), world_rank{1});
            EXPECT_THAT(error.reason(), HasSubstr("could not take part"));
        }
        both.arrive_and_wait();
        EXPECT_EQ(error_of([&] { world.barrier().wait(patience); }).operation(), "exchange");
        box.expect_nothing();
    });
}

TEST(nccl_exchange, tells_every_rank_who_has_no_memory_to_begin_one_where_a_host_is_beside_it) {
    nccl_beside_threads::run(one_node(2), [](comm::communicator& world) {
        mailbox const box{world, a_little};
        if (world.rank() == world_rank{1}) {
            cudaStream_t stream = nullptr;
            cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
            nccl_double::run_out_of_memory_in("cudaStreamIsCapturing");
            EXPECT_THROW(static_cast<void>(world.exchange(box.sends, box.receives, {stream})), std::bad_alloc);
            cudaStreamDestroy(stream);
        } else {
            auto const error = error_of([&] { box.exchange(world).wait(patience); });
            EXPECT_EQ(error.peer(), world_rank{1});
            EXPECT_THAT(error.reason(), HasSubstr("could not take part"));
        }
        EXPECT_EQ(error_of([&] { world.barrier().wait(patience); }).operation(), "exchange");
        box.expect_nothing();
    });
}

TEST(nccl_exchange, names_nobody_when_the_deadline_passes_while_bytes_are_on_their_way) {
    for (auto* const run : {&nccl_beside_threads::run, &loopback::run}) {
        std::barrier both{2};
        run(one_node(2), [&](comm::communicator& world) {
            mailbox const box{world, a_little};
            bool const looks = world.rank() == world_rank{0};
            // The other one has come first, so that it cannot have begun to move anything before it looks again.
            comm::pending exchange;
            if (!looks) {
                exchange = box.exchange(world);
            }
            both.arrive_and_wait();
            if (looks) {
                exchange = box.exchange(world);
                static_cast<void>(error_of([&] { exchange.wait(impatience); }));
            }
            both.arrive_and_wait();
            auto const error = error_of([&] { looks ? world.barrier().wait(patience) : exchange.wait(patience); });
            EXPECT_EQ(error.peer(), std::nullopt);
            EXPECT_THAT(error.reason(), HasSubstr("the deadline passed while bytes were on their way"));
        });
    }
}

TEST(nccl_exchange, is_over_for_all_when_one_drops_it) {
    nccl_sequence::run(one_node(2), [](comm::communicator& world) {
        mailbox const box{world, a_little};
        if (world.rank() == world_rank{1}) {
            static_cast<void>(world.exchange(box.sends, {}));
        }
        EXPECT_FALSE(error_of([&] { box.exchange(world).wait(impatience); }).can_go_on());
    });
}

}  // namespace
}  // namespace evenkeel::test::nccl_sequence_test
