// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/comm/communicator.hpp>

#include "tests/support/backends.hpp"
#include "tests/support/batches.hpp"
#include "tests/support/mailbox.hpp"

namespace evenkeel::test::communicator_exchange_test {
namespace {

using testing::HasSubstr;

template <class Backend>
class exchange_on : public on_ranks<Backend> {};
TYPED_TEST_SUITE(exchange_on, backends, backend_name);

void exchange_and_check(comm::communicator& world, mailbox const& box) {
    box.exchange(world).wait(patience);
    box.expect_everything();
}

std::size_t everybody_a_little(std::size_t from, std::size_t to) { return 10 * from + to + 1; }

TYPED_TEST(exchange_on, passes_messages_around_a_ring) {
    for (std::size_t const ranks : {1u, 2u, 3u, 8u}) {
        if (ranks > TypeParam::most_ranks()) {
            break;
        }
        this->run(ranks, [ranks](comm::communicator& world) {
            exchange_and_check(world, mailbox{world, [&](std::size_t from, std::size_t to) {
                                                  return to == (from + 1) % ranks ? from + 1 : 0;
                                              }});
        });
    }
}

TYPED_TEST(exchange_on, carries_a_message_of_its_own_size_between_all_pairs) {
    this->run(4, [](comm::communicator& world) { exchange_and_check(world, mailbox{world, everybody_a_little}); });
}

TYPED_TEST(exchange_on, completes_when_a_rank_only_receives) {
    // The send counts {{1, 1}, {0, 0}}; what rank 0 keeps is no message.
    this->run(2, [](comm::communicator& world) {
        exchange_and_check(world, mailbox{world, [](std::size_t from, std::size_t) { return from == 0 ? 1u : 0u; }});
    });
}

TYPED_TEST(exchange_on, takes_a_rank_that_neither_sends_nor_receives_along_in_order) {
    this->run(3, [](comm::communicator& world) {
        for (std::size_t round = 0; round < 3; ++round) {
            mailbox box{world, [](std::size_t from, std::size_t to) { return from < 2 && to < 2 ? 4u : 0u; }, round};
            exchange_and_check(world, box);
        }
        // Rank 2 is at the same operation as the others: this one is met.
        exchange_and_check(world, mailbox{world, everybody_a_little});
    });
}

TYPED_TEST(exchange_on, completes_without_any_message) {
    this->run(2, [](comm::communicator& world) { world.exchange({}, {}).wait(patience); });
}

TYPED_TEST(exchange_on, is_an_operation_of_its_own_on_a_single_rank) {
    this->run(1, [](comm::communicator& world) {
        world.exchange({}, {}).wait(patience);
        world.barrier().wait(patience);
    });
}

TYPED_TEST(exchange_on, carries_large_messages_both_ways_at_once) {
    this->run(2, [](comm::communicator& world) {
        exchange_and_check(world, mailbox{world, [](std::size_t from, std::size_t) { return 4'000'000 + from; }});
    });
}

TYPED_TEST(exchange_on, completes_at_both_ends_of_a_message_that_one_of_them_copies) {
    // Both wait at the same time for one copy that takes milliseconds.
    this->run(2, [](comm::communicator& world) {
        std::vector<std::byte> buffer(16'000'000);
        for (int time = 0; time < 6; ++time) {
            std::vector<comm::outgoing> sends;
            std::vector<comm::incoming> receives;
            if (world.rank() == world_rank{0}) {
                sends.push_back({world_rank{1}, buffer});
            } else {
                receives.push_back({world_rank{0}, buffer});
            }
            auto exchange = world.exchange(sends, receives);
            world.barrier().wait(patience);
            exchange.wait(patience);
        }
    });
}

TYPED_TEST(exchange_on, matches_random_traffic) {
    this->run(4, [](comm::communicator& world) {
        for (std::size_t round = 0; round < 60; ++round) {
            seeded random{round};
            std::vector<std::size_t> sizes(16);
            for (auto& size : sizes) {
                size = random.up_to(2) == 0 ? random.up_to(2'000) : 0;
            }
            auto const between = [&](std::size_t from, std::size_t to) { return sizes[4 * from + to]; };
            exchange_and_check(world, mailbox{world, between, round});
        }
    });
}

TYPED_TEST(exchange_on, may_be_waited_for_in_another_order_on_each_rank) {
    this->run(3, [](comm::communicator& world) {
        constexpr std::size_t rounds = 8;
        std::vector<mailbox> boxes;
        for (std::size_t round = 0; round < rounds; ++round) {
            boxes.emplace_back(world, everybody_a_little, round);
        }
        std::vector<comm::pending> exchanges;
        for (auto const& box : boxes) {
            exchanges.push_back(box.exchange(world));
        }
        // Steps that have no divisor in common with 8: forwards, backwards and across.
        constexpr std::size_t steps[] = {1, 7, 3};
        for (std::size_t turn = 0; turn < rounds; ++turn) {
            exchanges[turn * steps[to_index(world.rank())] % rounds].wait(patience);
        }
        for (auto const& box : boxes) {
            box.expect_everything();
        }
    });
}

TYPED_TEST(exchange_on, is_not_held_up_by_a_peer_that_waits_for_another_one) {
    // Rank 0 waits for the second first; rank 1 does not even call it before its part in the first is complete.
    this->run(2, [](comm::communicator& world) {
        auto const large = [](std::size_t, std::size_t) { return std::size_t{300'000}; };
        mailbox one{world, large, 1};
        mailbox two{world, large, 2};
        auto first = one.exchange(world);
        if (world.rank() == world_rank{0}) {
            two.exchange(world).wait(patience);
            first.wait(patience);
        } else {
            first.wait(patience);
            two.exchange(world).wait(patience);
        }
        one.expect_everything();
        two.expect_everything();
    });
}

TYPED_TEST(exchange_on, completes_by_asking_whether_it_is_ready) {
    this->run(3, [](comm::communicator& world) {
        mailbox one{world, everybody_a_little, 1};
        mailbox two{world, everybody_a_little, 2};
        auto first = one.exchange(world);
        auto second = two.exchange(world);
        comm::deadline const end = patience;
        bool complete = false;
        while (!complete && !end.passed()) {
            // In another order than the calls.
            bool const second_ready = second.ready();
            complete = first.ready() && second_ready;
            std::this_thread::yield();
        }
        EXPECT_TRUE(complete);
        one.expect_everything();
        two.expect_everything();
        // Nothing is left to do, so nothing is too late.
        first.wait(std::chrono::seconds{-1});
        second.wait(std::chrono::seconds{0});
    });
}

TYPED_TEST(exchange_on, gives_buffers_back_when_the_wait_returns) {
    this->run(3, [](comm::communicator& world) {
        for (std::size_t round = 0; round < 50; ++round) {
            mailbox box{world, everybody_a_little, round};
            box.exchange(world).wait(patience);
            box.overwrite_sent();
            box.expect_everything();
        }
    });
}

TYPED_TEST(exchange_on, lets_other_operations_pass_while_it_is_on_its_way) {
    this->run(3, [](comm::communicator& world) {
        mailbox box{world, everybody_a_little};
        auto exchange = box.exchange(world);
        auto const mine = payload(to_index(world.rank()), 1);
        auto all = untouched_bytes(3);
        world.all_gather(mine, all).wait(patience);
        auto const inner = world.split(0, 0, patience);
        mailbox inside{*inner, everybody_a_little, 1};
        exchange_and_check(*inner, inside);
        exchange.wait(patience);
        box.expect_everything();
        EXPECT_EQ(all, (std::vector{payload(0, 1)[0], payload(1, 1)[0], payload(2, 1)[0]}));
    });
}

TYPED_TEST(exchange_on, refuses_messages_that_break_its_rules) {
    this->run(3, [](comm::communicator& world) {
        auto bytes = untouched_bytes(4);
        auto const sending = [&](std::vector<std::pair<std::size_t, std::size_t>> const& messages) {
            std::vector<comm::outgoing> sends;
            for (auto const& [peer, size] : messages) {
                sends.push_back({to_id<world_rank>(peer), std::span{bytes}.first(size)});
            }
            return refusal_of([&] { return world.exchange(sends, {}); });
        };
        auto const receiving = [&](std::vector<std::pair<std::size_t, std::size_t>> const& messages) {
            std::vector<comm::incoming> receives;
            for (auto const& [peer, size] : messages) {
                receives.push_back({to_id<world_rank>(peer), std::span{bytes}.first(size)});
            }
            return refusal_of([&] { return world.exchange({}, receives); });
        };
        std::size_t const self = to_index(world.rank());
        std::size_t const low = self == 0 ? 1 : 0;
        std::size_t const high = self == 2 ? 1 : 2;
        auto const number = [](std::size_t value) { return std::to_string(value); };

        EXPECT_EQ(sending({{3, 1}}), "exchange: sends[0].peer = 3, expected a rank below 3");
        EXPECT_EQ(receiving({{low, 1}, {77, 1}}), "exchange: receives[1].peer = 77, expected a rank below 3");
        EXPECT_EQ(sending({{self, 1}}), "exchange: sends[0].peer = " + number(self) +
                                            ", expected another rank: what stays is no message but a local copy");
        EXPECT_EQ(receiving({{self, 1}}), "exchange: receives[0].peer = " + number(self) +
                                              ", expected another rank: what stays is no message but a local copy");
        EXPECT_EQ(sending({{high, 1}, {low, 1}}), "exchange: sends[1].peer = " + number(low) +
                                                      ", expected more than the peer before it, " + number(high));
        EXPECT_EQ(receiving({{low, 1}, {low, 1}}), "exchange: receives[1].peer = " + number(low) +
                                                       ", expected more than the peer before it, " + number(low));
        EXPECT_EQ(sending({{low, 0}}),
                  "exchange: sends[0].bytes.size() = 0, expected at least 1: a message without bytes is left out");
        EXPECT_EQ(receiving({{low, 4}, {high, 0}}),
                  "exchange: receives[1].bytes.size() = 0, expected at least 1: a message without bytes is left out");
        EXPECT_EQ(bytes, untouched_bytes(4));

        // A refused call is no operation: the next one is met by the others.
        exchange_and_check(world, mailbox{world, everybody_a_little});
    });
}

/// Checks that an exchange fails on every rank before a byte has moved, and that nothing works afterwards.
/// @param sent, expected  How many bytes the sender thinks that it sends, and the receiver that it gets.
template <class Sent, class Expected>
void expect_mismatch(comm::communicator& world, Sent sent, Expected expected, std::string const& text) {
    mailbox sending{world, sent};
    mailbox receiving{world, expected};
    auto const error = error_of([&] { world.exchange(sending.sends, receiving.receives).wait(patience); });
    EXPECT_EQ(error.operation(), "exchange");
    EXPECT_EQ(error.rank(), world.rank());
    EXPECT_THAT(error.what(), HasSubstr(text));
    receiving.expect_nothing();
    auto const again = error_of([&] { world.barrier().wait(patience); });
    EXPECT_STREQ(again.what(), error.what());
}

TYPED_TEST(exchange_on, is_refused_on_every_rank_when_a_message_is_sent_with_another_size_than_expected) {
    this->run(3, [](comm::communicator& world) {
        auto const sent = [](std::size_t from, std::size_t to) { return from == 0 && to == 1 ? 1u : 7u; };
        auto const expected = [](std::size_t from, std::size_t to) { return from == 0 && to == 1 ? 3u : 7u; };
        expect_mismatch(world, sent, expected, "rank 0 sends 1 byte to rank 1, which expects 3");
    });
}

TYPED_TEST(exchange_on, is_refused_on_every_rank_when_a_message_is_sent_but_not_expected) {
    this->run(3, [](comm::communicator& world) {
        auto const sent = [](std::size_t, std::size_t) { return 2u; };
        auto const expected = [](std::size_t from, std::size_t to) { return from == 2 && to == 0 ? 0u : 2u; };
        expect_mismatch(world, sent, expected, "rank 2 sends 2 bytes to rank 0, which expects 0");
    });
}

TYPED_TEST(exchange_on, is_refused_on_every_rank_when_a_message_is_expected_but_not_sent) {
    this->run(3, [](comm::communicator& world) {
        auto const sent = [](std::size_t from, std::size_t to) { return from == 0 && to == 2 ? 0u : 2u; };
        auto const expected = [](std::size_t, std::size_t) { return 2u; };
        expect_mismatch(world, sent, expected, "rank 0 sends 0 bytes to rank 2, which expects 2");
    });
}

TYPED_TEST(exchange_on, is_never_ready_when_its_messages_do_not_match) {
    this->run(2, [](comm::communicator& world) {
        for (std::size_t round = 0; round < 50; ++round) {
            auto const pair = world.split(0, 0, patience);
            bool const first = world.rank() == world_rank{0};
            mailbox box{*pair, [&](std::size_t from, std::size_t) { return from == 0 && first ? 1u : 2u; }};
            auto exchange = box.exchange(*pair);
            static_cast<void>(error_of([&] {
                for (comm::deadline const end = patience; !exchange.ready() && !end.passed();) {
                    std::this_thread::yield();
                }
            }));
            box.expect_nothing();
        }
    });
}

TYPED_TEST(exchange_on, moves_nothing_when_the_ranks_state_different_values) {
    this->run(3, [](comm::communicator& world) {
        auto const state = [&](comm::statement const& mine) {
            mailbox box{world, everybody_a_little};
            auto const error = error_of([&] { world.exchange(box.sends, box.receives, {}, mine).wait(patience); });
            EXPECT_EQ(error.operation(), "move");
            EXPECT_EQ(error.rank(), world.rank());
            box.expect_nothing();
            return error;
        };
        bool const odd = world.rank() == world_rank{1};
        auto const differs = state({.operation = "move", .value = odd ? 8u : 7u});
        EXPECT_EQ(differs.peer(), world_rank{1});
        EXPECT_THAT(differs.what(), HasSubstr("rank 1 holds other values than most"));

        auto const refused = state({.operation = "move", .value = 7, .refused = odd});
        EXPECT_EQ(refused.peer(), world_rank{1});
        EXPECT_THAT(refused.what(), HasSubstr("rank 1 refused its arguments"));

        // Nothing was on its way, so nothing is broken.
        exchange_and_check(world, mailbox{world, everybody_a_little});
    });
}

TYPED_TEST(exchange_on, does_not_need_matching_messages_to_find_that_a_rank_refused) {
    this->run(3, [](comm::communicator& world) {
        bool const odd = world.rank() == world_rank{2};
        mailbox box{world, everybody_a_little};
        auto const error = error_of([&] {
            if (odd) {
                world.exchange({}, {}, {}, {.refused = true}).wait(patience);
            } else {
                box.exchange(world).wait(patience);
            }
        });
        EXPECT_EQ(error.peer(), world_rank{2});
        box.expect_nothing();
        exchange_and_check(world, mailbox{world, everybody_a_little});
    });
}

TYPED_TEST(exchange_on, keeps_telling_that_the_ranks_disagree_however_often_it_is_asked) {
    this->run(2, [](comm::communicator& world) {
        auto exchange = world.exchange({}, {}, {}, {.value = to_index(world.rank())});
        comm::deadline const end = patience;
        for (int time = 0; time < 3; ++time) {
            static_cast<void>(error_of([&] {
                while (!exchange.ready() && !end.passed()) {
                    std::this_thread::yield();
                }
            }));
        }
        static_cast<void>(error_of([&] { exchange.wait(patience); }));
        world.barrier().wait(patience);
    });
}

}  // namespace
}  // namespace evenkeel::test::communicator_exchange_test
