// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/comm/hierarchy.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/rearrange/rearrangement.hpp>

#include "tests/support/backends.hpp"
#include "tests/support/cargo.hpp"
#include "tests/support/layouts.hpp"
#include "tests/support/mailbox.hpp"
#include "tests/support/traffics.hpp"

namespace evenkeel::test::hierarchy_test {
namespace {

using comm::hierarchy;
using testing::HasSubstr;

using enum exchange_algorithm;
constexpr std::array algorithms{flat, two_hop, spread, automatic};

template <class Backend>
class hierarchy_on : public on_ranks<Backend> {};
TYPED_TEST_SUITE(hierarchy_on, backends, backend_name);

topology two_by_two() { return uniform_topology(world_size{4}, node_size{2}); }

/// @param between  How many bytes go from one rank to another.
template <class Sizes>
pair_traffic traffic_of(world_size ranks, Sizes between) {
    std::vector<std::uint64_t> matrix;
    for (std::size_t cell = 0; cell < ranks.value * ranks.value; ++cell) {
        matrix.push_back(between(cell / ranks.value, cell % ranks.value));
    }
    return pair_traffic_of(matrix, ranks);
}

template <class Sizes>
void exchange_and_check(hierarchy& ways, comm::communicator& world, Sizes between, std::size_t round = 0) {
    auto const all = traffic_of(world.size(), between);
    for (auto const algorithm : algorithms) {
        SCOPED_TRACE(name_of(algorithm));
        mailbox const box{world, between, 4 * round + static_cast<std::size_t>(algorithm)};
        ways.exchange(all, box.sends, box.receives, {.algorithm = algorithm}).wait(patience);
        box.expect_everything();
    }
}

std::size_t a_little(std::size_t from, std::size_t to) { return 1 + 10 * from + to; }

TYPED_TEST(hierarchy_on, carries_the_same_bytes_whatever_the_algorithm) {
    this->run(two_by_two(), [](comm::communicator& world) {
        hierarchy ways{world, patience};
        exchange_and_check(ways, world, a_little);
        exchange_and_check(ways, world, [](std::size_t, std::size_t) { return std::size_t{0}; });
        exchange_and_check(ways, world, [](std::size_t, std::size_t) { return std::size_t{1}; });
        exchange_and_check(ways, world, [](std::size_t, std::size_t to) { return to == 3 ? std::size_t{777} : 0; });
        exchange_and_check(ways, world,
                           [](std::size_t from, std::size_t) { return from == 1 ? std::size_t{4'099} : 0; });
        exchange_and_check(ways, world, [](std::size_t from, std::size_t to) {
            return from == 0 && to == 2 ? std::size_t{65'537} : 0;
        });
        exchange_and_check(ways, world, [](std::size_t from, std::size_t to) {
            return (from + to) % 2 == 0 ? std::size_t{0} : 900'001 + from;
        });
    });
}

TYPED_TEST(hierarchy_on, carries_random_traffic_over_nodes_of_any_size) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        if (!TypeParam::takes(seed)) {
            continue;
        }
        seeded random{seed};
        auto const nodes = random_nodes(random, random.between(1, 8));
        this->run(nodes, [seed](comm::communicator& world) {
            hierarchy ways{world, patience};
            seeded sizes{1'000 + seed};
            for (std::size_t round = 0; round < 3; ++round) {
                SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
                std::vector<std::uint64_t> matrix(world.size().value * world.size().value);
                for (auto const& pair : random_traffic(sizes, world.size()).pairs) {
                    matrix[to_index(pair.from) * world.size().value + to_index(pair.to)] = pair.bytes;
                }
                exchange_and_check(
                    ways, world,
                    [&](std::size_t from, std::size_t to) {
                        return static_cast<std::size_t>(matrix[from * world.size().value + to]);
                    },
                    round);
            }
        });
    }
}

TYPED_TEST(hierarchy_on, goes_over_ranks_that_were_split_off_whatever_the_number_of_their_node) {
    this->run(uniform_topology(world_size{6}, node_size{2}), [](comm::communicator& world) {
        auto const pair = world.split(static_cast<std::uint32_t>(world.rank()) / 2, 0, patience);
        hierarchy ways{*pair, patience};
        exchange_and_check(ways, *pair, a_little);
        ways.measure(patience, 1'000);
        exchange_and_check(ways, *pair, a_little);
        EXPECT_EQ(predict(traffic_of(pair->size(), a_little), ways.topology(), flat).busiest_node(), 0u);
    });
}

TYPED_TEST(hierarchy_on, moves_all_fields_of_all_items) {
    this->run(two_by_two(), [](comm::communicator& world) {
        hierarchy ways{world, patience};
        for (std::uint64_t seed = 0; seed < 12; ++seed) {
            seeded random{seed};
            std::size_t const items = random.up_to(40);
            rearrangement const move{random_layout(random, items, world.size()),
                                     random_layout(random, items, world.size())};
            for (auto const algorithm : algorithms) {
                SCOPED_TRACE("seed " + std::to_string(seed) + " " + std::string{name_of(algorithm)});
                cargo goods{move,
                            world.rank(),
                            {{"pixels", random_bytes(random, items)}, {"label", random_bytes(random, items)}}};
                all_to_all(ways, move, goods.moving(), {.algorithm = algorithm}).wait(patience);
                goods.expect_arrived();
            }
        }
    });
}

TYPED_TEST(hierarchy_on, may_have_several_transfers_under_way_and_wait_for_them_in_any_order) {
    this->run(two_by_two(), [](comm::communicator& world) {
        hierarchy ways{world, patience};
        auto const all = traffic_of(world.size(), a_little);
        std::vector<std::unique_ptr<mailbox>> boxes;
        std::vector<comm::pending> transfers;
        for (std::size_t number = 0; number < 4; ++number) {
            boxes.push_back(std::make_unique<mailbox>(world, a_little, number));
            transfers.push_back(
                ways.exchange(all, boxes[number]->sends, boxes[number]->receives, {.algorithm = algorithms[number]}));
        }
        for (std::size_t turn = 0; turn < 4; ++turn) {
            transfers[(turn + to_index(world.rank())) % 4].wait(patience);
        }
        for (auto const& box : boxes) {
            box->expect_everything();
        }
    });
}

TYPED_TEST(hierarchy_on, completes_by_asking_whether_it_is_ready) {
    this->run(two_by_two(), [](comm::communicator& world) {
        hierarchy ways{world, patience};
        auto const all = traffic_of(world.size(), a_little);
        for (auto const algorithm : algorithms) {
            mailbox const box{world, a_little};
            auto moving = ways.exchange(all, box.sends, box.receives, {.algorithm = algorithm});
            for (comm::deadline const end = patience; !moving.ready() && !end.passed();) {
                std::this_thread::yield();
            }
            box.expect_everything();
            moving.wait(std::chrono::seconds{0});
        }
    });
}

TYPED_TEST(hierarchy_on, moves_nothing_when_a_rank_holds_other_values_and_can_go_on) {
    this->run(uniform_topology(world_size{6}, node_size{2}), [](comm::communicator& world) {
        hierarchy ways{world, patience};
        seeded random{3};
        rearrangement const move{random_layout(random, 30, world.size()), random_layout(random, 30, world.size())};
        for (auto const algorithm : algorithms) {
            for (std::size_t const odd : {0u, 3u}) {
                SCOPED_TRACE(std::string{name_of(algorithm)} + ", rank " + std::to_string(odd));
                bool const wrong = to_index(world.rank()) == odd;
                cargo goods{move, world.rank(), {field_per_item(wrong ? "label" : "mark", 30, 3)}};
                auto const error =
                    error_of([&] { all_to_all(ways, move, goods.moving(), {.algorithm = algorithm}).wait(patience); });
                EXPECT_EQ(error.peer(), to_id<world_rank>(odd));
                EXPECT_EQ(error.rank(), world.rank());
                EXPECT_TRUE(error.can_go_on());
                EXPECT_EQ(error.reason(), "rank " + std::to_string(odd) + " holds other values than most");
                goods.expect_untouched();
            }
            exchange_and_check(ways, world, a_little);
        }
    });
}

TYPED_TEST(hierarchy_on, tells_all_when_the_buffers_of_one_rank_do_not_fit) {
    this->run(two_by_two(), [](comm::communicator& world) {
        hierarchy ways{world, patience};
        seeded random{7};
        rearrangement const move{random_layout(random, 20, world.size()), random_layout(random, 20, world.size())};
        for (auto const algorithm : algorithms) {
            SCOPED_TRACE(name_of(algorithm));
            cargo goods{move, world.rank(), {field_per_item("label", 20, 3)}};
            auto moving = goods.moving();
            if (world.rank() == world_rank{1}) {
                std::vector<std::byte> const larger(1'000);
                moving[0].source = larger;
                auto const refusal =
                    refusal_of([&] { all_to_all(ways, move, moving, {.algorithm = algorithm}).wait(patience); });
                EXPECT_THAT(refusal, HasSubstr("all_to_all: fields[0].source.size() = 1000"));
            } else {
                auto const error =
                    error_of([&] { all_to_all(ways, move, moving, {.algorithm = algorithm}).wait(patience); });
                EXPECT_EQ(error.peer(), world_rank{1});
                EXPECT_EQ(error.reason(), "rank 1 refused its arguments");
            }
            goods.expect_untouched();
        }
        exchange_and_check(ways, world, a_little);
    });
}

TYPED_TEST(hierarchy_on, refuses_messages_that_are_not_this_ranks_part) {
    this->run(two_by_two(), [](comm::communicator& world) {
        hierarchy ways{world, patience};
        auto const all = traffic_of(world.size(), a_little);
        for (auto const algorithm : {flat, two_hop, spread}) {
            mailbox box{world, a_little};
            bool const wrong = world.rank() == world_rank{2};
            auto const begin = [&] {
                return ways.exchange(all, std::span{std::as_const(box.sends)}.first(wrong ? 2 : 3), box.receives,
                                     {.algorithm = algorithm});
            };
            if (wrong) {
                EXPECT_THAT(
                    refusal_of([&] { begin().wait(patience); }),
                    HasSubstr("hierarchy::exchange: sends[2] = something else, expected 24 bytes, rank 2 to rank 3"));
            } else {
                EXPECT_EQ(error_of([&] { begin().wait(patience); }).peer(), world_rank{2});
            }
        }
        exchange_and_check(ways, world, a_little);
    });
}

TYPED_TEST(hierarchy_on, fails_on_every_rank_in_time_when_one_does_not_come) {
    for (auto const algorithm : algorithms) {
        this->run(two_by_two(), [algorithm](comm::communicator& world) {
            SCOPED_TRACE(name_of(algorithm));
            hierarchy ways{world, patience};
            auto const all = traffic_of(world.size(), a_little);
            mailbox const box{world, a_little};
            auto const came = world.split(world.rank() == world_rank{3} ? 1 : 0, 0, patience);
            if (world.rank() != world_rank{3}) {
                auto moving = ways.exchange(all, box.sends, box.receives, {.algorithm = algorithm});
                came->barrier().wait(patience);
                auto const begun = std::chrono::steady_clock::now();
                auto const error = error_of([&] {
                    // Only the neighbour of the missing rank is impatient: the others are told.
                    comm::deadline const until = world.rank() == world_rank{2} ? impatience : impatience * 300;
                    moving.wait(until);
                });
                EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds{30});
                EXPECT_EQ(error.peer(), world_rank{3});
                EXPECT_EQ(error.rank(), world.rank());
                EXPECT_FALSE(error.can_go_on());
                EXPECT_EQ(error_of([&] {
                              ways.exchange(all, box.sends, box.receives, {.algorithm = algorithm}).wait(patience);
                          }).can_go_on(),
                          false);
            }
            // The communicator that the hierarchy was made of lives.
            world.barrier().wait(patience);
        });
    }
}

TYPED_TEST(hierarchy_on, fails_on_every_rank_and_names_no_rank_that_was_held_up_itself) {
    for (auto const algorithm : {two_hop, spread}) {
        this->run(uniform_topology(world_size{6}, node_size{3}), [algorithm](comm::communicator& world) {
            SCOPED_TRACE(name_of(algorithm));
            hierarchy ways{world, patience};
            auto const between = [](std::size_t from, std::size_t) { return from == 4 ? std::size_t{9'000} : 10; };
            auto const all = traffic_of(world.size(), between);
            mailbox const box{world, between};
            auto const came = world.split(world.rank() == world_rank{4} ? 1 : 0, 0, patience);
            if (world.rank() != world_rank{4}) {
                auto moving = ways.exchange(all, box.sends, box.receives, {.algorithm = algorithm});
                came->barrier().wait(patience);
                // All are as impatient. Ranks 0 to 2 wait for 3 and 5, which wait for 4.
                auto const error = error_of([&] { moving.wait(impatience); });
                EXPECT_EQ(error.peer().value_or(world_rank{4}), world_rank{4}) << error.what();
                EXPECT_FALSE(error.can_go_on());
            }
            world.barrier().wait(patience);
        });
    }
}

TYPED_TEST(hierarchy_on, refuses_what_is_no_algorithm_and_tells_all) {
    this->run(two_by_two(), [](comm::communicator& world) {
        hierarchy ways{world, patience};
        auto const all = traffic_of(world.size(), a_little);
        mailbox const box{world, a_little};
        EXPECT_EQ(refusal_of([&] {
                      ways.exchange(all, box.sends, box.receives, {.algorithm = exchange_algorithm{9}}).wait(patience);
                  }),
                  "hierarchy::exchange: algorithm = 9, expected flat, two_hop or spread");
        auto const other = traffic_of(world_size{2}, a_little);
        EXPECT_EQ(refusal_of([&] { ways.exchange(other, {}, {}, {.algorithm = two_hop}).wait(patience); }),
                  "hierarchy::exchange: topology.size() = 4, expected the 2 ranks of the traffic");
        exchange_and_check(ways, world, a_little);
    });
}

TYPED_TEST(hierarchy_on, fails_on_every_rank_when_one_drops_its_transfer) {
    for (auto const algorithm : algorithms) {
        this->run(two_by_two(), [algorithm](comm::communicator& world) {
            SCOPED_TRACE(name_of(algorithm));
            hierarchy ways{world, patience};
            auto const all = traffic_of(world.size(), [](std::size_t, std::size_t) { return std::size_t{50'000}; });
            mailbox const box{world, [](std::size_t, std::size_t) { return std::size_t{50'000}; }};
            world.barrier().wait(patience);
            if (world.rank() == world_rank{1}) {
                static_cast<void>(ways.exchange(all, box.sends, box.receives, {.algorithm = algorithm}));
            }
            // Only then do the others come, so that it cannot be complete.
            world.barrier().wait(patience);
            auto const error =
                error_of([&] { ways.exchange(all, box.sends, box.receives, {.algorithm = algorithm}).wait(patience); });
            EXPECT_FALSE(error.can_go_on());
            EXPECT_EQ(error.peer(), world_rank{1});
            EXPECT_EQ(error.operation(), "exchange");
            // A rank that tells what it did itself is not named twice.
            EXPECT_FALSE(error.reason().starts_with("rank " + std::to_string(to_index(world.rank())) + ": "))
                << error.what();
        });
    }
}

TYPED_TEST(hierarchy_on, ends_for_all_when_a_rank_dies_between_two_exchanges) {
    for (auto const algorithm : algorithms) {
        this->run(two_by_two(), [algorithm](comm::communicator& world) {
            SCOPED_TRACE(name_of(algorithm));
            hierarchy ways{world, patience};
            auto const all = traffic_of(world.size(), a_little);
            auto const step = [&](std::size_t round) {
                mailbox const box{world, a_little, round};
                ways.exchange(all, box.sends, box.receives, {.algorithm = algorithm}).wait(patience);
                box.expect_everything();
            };
            if (world.rank() == world_rank{2}) {
                for (std::size_t round = 0; round < 3; ++round) {
                    step(round);
                }
                world.abort("died");
            } else {
                // It may die before all others have come out of the third.
                auto const error = error_of([&] {
                    for (std::size_t round = 0; round < 4; ++round) {
                        step(round);
                    }
                });
                EXPECT_FALSE(error.can_go_on());
                EXPECT_THAT(error.what(), HasSubstr("rank 2: died"));
            }
        });
    }
}

TYPED_TEST(hierarchy_on, reckons_with_costs_that_all_ranks_have_measured) {
    this->run(two_by_two(), [](comm::communicator& world) {
        hierarchy ways{world, patience};
        EXPECT_EQ(ways.costs(), comm::hierarchy(world, patience).costs());
        auto const found = ways.measure(patience, 10'000);
        EXPECT_EQ(ways.costs(), found);
        std::vector<link_costs> all(world.size().value);
        world.all_gather(std::as_bytes(std::span{&found, 1}), std::as_writable_bytes(std::span{all})).wait(patience);
        for (auto const& costs : all) {
            EXPECT_EQ(costs, found);
        }
        EXPECT_LE(found.cards_per_node, 2u);
        exchange_and_check(ways, world, a_little);
    });
}

TYPED_TEST(hierarchy_on, is_not_made_where_ranks_pass_other_costs) {
    this->run(two_by_two(), [](comm::communicator& world) {
        link_costs costs;
        costs.inside_ps_per_byte += world.rank() == world_rank{3} ? 1U : 0U;
        EXPECT_EQ(error_of([&] { hierarchy(world, patience, costs); }).peer(), world_rank{3});
    });
}

TYPED_TEST(hierarchy_on, works_on_one_rank_and_on_one_node) {
    for (std::size_t const ranks : {1u, 3u}) {
        this->run(ranks, [](comm::communicator& world) {
            hierarchy ways{world, patience};
            exchange_and_check(ways, world, a_little);
            ways.measure(patience, 100);
        });
    }
}

}  // namespace
}  // namespace evenkeel::test::hierarchy_test
