// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/comm/pending.hpp>

#include "tests/support/backends.hpp"
#include "tests/support/mailbox.hpp"

namespace evenkeel::test::pending_test {
namespace {

using testing::HasSubstr;

static_assert(std::is_nothrow_move_constructible_v<comm::pending>);
static_assert(!std::is_copy_constructible_v<comm::pending>, "a transfer has one owner");

TEST(pending, is_complete_when_there_is_nothing_to_wait_for) {
    comm::pending nothing;
    EXPECT_TRUE(nothing.ready());
    nothing.wait(std::chrono::seconds{0});
    EXPECT_TRUE(nothing.ready());
}

/// A transfer that counts what is asked of it.
struct counted {
    int polls = 0;
    int waits = 0;
    int ends = 0;
};

class counting_transfer final : public comm::transfer {
  public:
    explicit counting_transfer(counted& calls) : calls_{calls} {}
    ~counting_transfer() override { ++calls_.ends; }

    bool ready() override { return ++calls_.polls > 2; }
    void wait(comm::deadline until) override {
        ++calls_.waits;
        if (until.passed()) {
            throw comm::error{"test", {}, {}, "late"};
        }
    }

  private:
    counted& calls_;
};

TEST(pending, ends_its_transfer_when_it_has_been_waited_for) {
    counted calls;
    comm::pending pending{std::make_unique<counting_transfer>(calls)};
    EXPECT_FALSE(pending.ready());
    EXPECT_FALSE(pending.ready());
    EXPECT_TRUE(pending.ready());
    EXPECT_EQ(calls.ends, 0);
    pending.wait(patience);
    EXPECT_EQ(calls.ends, 1);
    pending.wait(patience);
    EXPECT_TRUE(pending.ready());
    EXPECT_EQ(calls.waits, 1);
    EXPECT_EQ(calls.polls, 3);
}

TEST(pending, ends_its_transfer_also_when_the_wait_fails) {
    counted calls;
    comm::pending pending{std::make_unique<counting_transfer>(calls)};
    EXPECT_THROW(pending.wait(std::chrono::seconds{0}), comm::error);
    EXPECT_EQ(calls.ends, 1);
}

TEST(pending, gives_up_the_transfer_it_held_when_it_gets_another) {
    counted first;
    counted second;
    comm::pending pending{std::make_unique<counting_transfer>(first)};
    pending = comm::pending{std::make_unique<counting_transfer>(second)};
    EXPECT_EQ(first.ends, 1);
    EXPECT_EQ(second.ends, 0);
}

template <class Backend>
class pending_on : public on_ranks<Backend> {};
TYPED_TEST_SUITE(pending_on, backends, backend_name);

std::size_t large(std::size_t, std::size_t) { return 100'000; }

TYPED_TEST(pending_on, tells_every_rank_when_it_is_dropped) {
    this->run(3, [](comm::communicator& world) {
        mailbox box{world, large};
        if (world.rank() == world_rank{1}) {
            static_cast<void>(box.exchange(world));
            auto const error = error_of([&] { world.barrier().wait(patience); });
            EXPECT_EQ(error.peer(), world_rank{1});
        } else {
            auto const error = error_of([&] {
                // The exchange may be complete here before the other one drops its part; the next operation is not.
                box.exchange(world).wait(patience);
                world.barrier().wait(patience);
            });
            EXPECT_EQ(error.peer(), world_rank{1});
            EXPECT_THAT(error.what(), HasSubstr("rank 1 gave it up"));
        }
    });
}

TYPED_TEST(pending_on, gives_up_a_gathering_when_it_is_dropped) {
    this->run(2, [](comm::communicator& world) {
        auto all = untouched_bytes(2);
        if (world.rank() == world_rank{0}) {
            static_cast<void>(world.all_gather(payload(0, 1), all));
            // Where the other rank was quick, something has arrived before the drop; nothing does from then on.
            all = untouched_bytes(2);
        }
        auto const error = error_of([&] {
            if (world.rank() == world_rank{1}) {
                world.all_gather(payload(1, 1), all).wait(patience);
            }
            world.barrier().wait(patience);
        });
        EXPECT_EQ(error.peer(), world_rank{0});
        if (world.rank() == world_rank{0}) {
            EXPECT_EQ(all, untouched_bytes(2));
        }
    });
}

TYPED_TEST(pending_on, frees_its_buffers_when_it_is_dropped) {
    this->run(4, [](comm::communicator& world) {
        for (std::size_t round = 0; round < 20; ++round) {
            auto const part = world.split(0, 0, patience);
            std::size_t const self = to_index(part->rank());
            // One rank's buffers are gone as soon as it has dropped its transfer, while the others still copy.
            auto box = std::make_unique<mailbox>(*part, large, round);
            auto exchange = box->exchange(*part);
            try {
                if (self == round % 4) {
                    exchange = {};
                    box.reset();
                } else if (self % 2 == 0) {
                    exchange.wait(patience);
                } else {
                    for (comm::deadline const end = patience; !exchange.ready() && !end.passed();) {
                        std::this_thread::yield();
                    }
                    exchange.wait(patience);
                }
            } catch (comm::error const& error) {
                EXPECT_EQ(error.peer(), to_id<world_rank>(round % 4));
                exchange = {};
                box.reset();
            }
            world.barrier().wait(patience);
        }
    });
}

TYPED_TEST(pending_on, leaves_its_buffers_alone_once_it_is_dropped) {
    // Rank 1 drops its part at some moment of a copy that takes milliseconds.
    this->run(2, [](comm::communicator& world) {
        constexpr std::size_t size = 16'000'000;
        std::vector<std::byte> buffer(size);
        for (int const microseconds : {0, 300, 1'000, 2'000}) {
            auto const pair = world.split(0, 0, patience);
            if (world.rank() == world_rank{0}) {
                auto const error = error_of([&] {
                    pair->exchange(std::array{comm::outgoing{world_rank{1}, buffer}}, {}).wait(patience);
                    pair->barrier().wait(patience);
                });
                EXPECT_EQ(error.peer(), world_rank{1});
            } else {
                auto exchange = pair->exchange({}, std::array{comm::incoming{world_rank{0}, buffer}});
                std::this_thread::sleep_for(std::chrono::microseconds{microseconds});
                exchange = {};
                std::memset(buffer.data(), 0x5a, size);
                std::this_thread::sleep_for(std::chrono::milliseconds{5});
                EXPECT_EQ(buffer[0], std::byte{0x5a});
                EXPECT_EQ(std::memcmp(buffer.data(), buffer.data() + 1, size - 1), 0) << "some byte has changed";
            }
            world.barrier().wait(patience);
        }
    });
}

TYPED_TEST(pending_on, may_be_waited_for_after_its_communicator_has_ended) {
    this->run(3, [](comm::communicator& world) {
        auto part = world.split(0, 0, patience);
        mailbox box{*part, large};
        auto exchange = box.exchange(*part);
        auto barrier = part->barrier();
        part.reset();
        barrier.wait(patience);
        exchange.wait(patience);
        box.expect_everything();
    });
}

TYPED_TEST(pending_on, is_never_late_when_it_is_complete) {
    this->run(2, [](comm::communicator& world) {
        mailbox box{world, large};
        auto exchange = box.exchange(world);
        for (comm::deadline const end = patience; !exchange.ready() && !end.passed();) {
            std::this_thread::yield();
        }
        exchange.wait(std::chrono::hours{-1});
        box.expect_everything();
    });
}

}  // namespace
}  // namespace evenkeel::test::pending_test
