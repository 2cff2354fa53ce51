// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/comm/all_to_all.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/rearrange/field.hpp>
#include <evenkeel/rearrange/rearrangement.hpp>
#include <evenkeel/rearrange/traffic.hpp>

#include "tests/support/backends.hpp"
#include "tests/support/cargo.hpp"
#include "tests/support/counting_communicator.hpp"
#include "tests/support/layouts.hpp"

namespace evenkeel::test::all_to_all_test {
namespace {

using comm::all_to_all;
using comm::moving_field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

using record = counting_communicator::record;

template <class Backend>
class all_to_all_on : public on_ranks<Backend> {};
TYPED_TEST_SUITE(all_to_all_on, backends, backend_name);

/// From where the items were drawn, `counts[r]` on rank r, to where `lists` has them.
rearrangement from_home(std::vector<std::size_t> const& counts, std::vector<std::vector<std::uint32_t>> const& lists) {
    return {home_layout(counts), layout_of(plan_of(lists))};
}

/// Five items on three ranks: one stays, rank 1 gets all of one, rank 2 had nothing.
///
///     before   rank 0: 0 1 2   rank 1: 3 4   rank 2: -
///     after    rank 0: 4 1     rank 1: 2     rank 2: 3 0
rearrangement five_items() { return from_home({3, 2, 0}, {{4, 1}, {2}, {3, 0}}); }

std::vector<field> three_fields() {
    return {{"token ids", {8, 16, 24, 0, 8}}, {"pixels", {0, 0, 300, 0, 5}}, {"label", {1, 1, 1, 1, 1}}};
}

void move_and_check(comm::communicator& world, rearrangement const& move, std::vector<field> const& fields) {
    cargo goods{move, world.rank(), fields};
    all_to_all(world, move, goods.moving()).wait(patience);
    goods.expect_arrived();
}

std::vector<std::byte> bytes_of(std::string const& text) {
    std::vector<std::byte> result;
    for (char const letter : text) {
        result.push_back(static_cast<std::byte>(letter));
    }
    return result;
}

TYPED_TEST(all_to_all_on, moves_every_item_with_all_its_fields) {
    this->run(2, [](comm::communicator& world) {
        auto const move = from_home({2, 1}, {{2, 0}, {1}});
        field const words{.name = "words", .bytes = {3, 2, 4}};
        field const marks{.name = "marks", .bytes = {1, 1, 0}};
        bool const first = world.rank() == world_rank{0};
        auto const drawn_words = bytes_of(first ? "oneto" : "four");
        auto const drawn_marks = bytes_of(first ? "12" : "");
        std::vector<std::byte> words_here(bytes_on(move.to(), world.rank(), words));
        std::vector<std::byte> marks_here(bytes_on(move.to(), world.rank(), marks));

        all_to_all(
            world, move,
            std::array{moving_field{words, drawn_words, words_here}, moving_field{marks, drawn_marks, marks_here}})
            .wait(patience);

        EXPECT_EQ(words_here, bytes_of(first ? "fourone" : "to"));
        EXPECT_EQ(marks_here, bytes_of(first ? "1" : "2"));
    });
}

TYPED_TEST(all_to_all_on, does_what_rearrange_does_in_one_memory) {
    for (std::size_t ranks = 1; ranks <= std::min<std::size_t>(8, TypeParam::most_ranks()); ++ranks) {
        this->run(ranks, [](comm::communicator& world) {
            for (std::uint64_t seed = 0; seed < 25; ++seed) {
                if (!TypeParam::takes(seed)) {
                    continue;
                }
                SCOPED_TRACE("seed " + std::to_string(seed));
                seeded random{1000 * world.size().value + seed};
                // Homes, plans in several micro-batches, and groups that leave world ranks without items.
                std::size_t const items = random.up_to(30);
                auto const from = random_layout(random, items, world.size());
                auto const to = random_layout(random, items, world.size());
                std::vector<field> fields;
                for (std::uint64_t number = random.between(1, 4); number > 0; --number) {
                    fields.push_back({.name = "field " + std::to_string(number), .bytes = random_bytes(random, items)});
                }
                move_and_check(world, {from, to}, fields);
            }
        });
    }
}

TYPED_TEST(all_to_all_on, brings_everything_back_on_the_inverse) {
    this->run(4, [](comm::communicator& world) {
        for (std::uint64_t seed = 0; seed < 10; ++seed) {
            seeded random{seed};
            rearrangement const move{random_layout(random, 20, world.size()), random_layout(random, 20, world.size())};
            cargo there{
                move, world.rank(), {{"pixels", random_bytes(random, 20)}, {"label", random_bytes(random, 20)}}};
            all_to_all(world, move, there.moving()).wait(patience);
            std::vector<std::vector<std::byte>> back;
            std::vector<moving_field> returning;
            for (std::size_t f = 0; f < 2; ++f) {
                back.push_back(untouched_bytes(there.sources()[f].size()));
            }
            for (std::size_t f = 0; f < 2; ++f) {
                returning.push_back({there.fields()[f], there.targets()[f], back[f]});
            }
            all_to_all(world, invert(move), returning).wait(patience);
            EXPECT_EQ(back, there.sources()) << "seed " << seed;
        }
    });
}

TYPED_TEST(all_to_all_on, packs_all_fields_for_a_peer_into_one_message) {
    this->run(3, [](comm::communicator& world) {
        counting_communicator counting{world};
        move_and_check(counting, five_items(), three_fields());
        EXPECT_EQ(counting.exchanges, 1u);
        EXPECT_EQ(counting.others, 0u);
        // Item 0 is 9 bytes in two fields, item 2 325 in three, item 3 1 byte, item 4 14 in three; item 1 stays.
        if (world.rank() == world_rank{0}) {
            EXPECT_THAT(counting.sent, UnorderedElementsAre(record{world_rank{1}, 325}, record{world_rank{2}, 9}));
            EXPECT_THAT(counting.received, UnorderedElementsAre(record{world_rank{1}, 14}));
        } else if (world.rank() == world_rank{1}) {
            EXPECT_THAT(counting.sent, UnorderedElementsAre(record{world_rank{0}, 14}, record{world_rank{2}, 1}));
            EXPECT_THAT(counting.received, UnorderedElementsAre(record{world_rank{0}, 325}));
        } else {
            EXPECT_THAT(counting.sent, IsEmpty());
            EXPECT_THAT(counting.received, UnorderedElementsAre(record{world_rank{0}, 9}, record{world_rank{1}, 1}));
        }
    });
}

TYPED_TEST(all_to_all_on, never_gives_the_communicator_what_stays) {
    this->run(4, [](comm::communicator& world) {
        for (std::uint64_t seed = 0; seed < 10; ++seed) {
            seeded random{seed};
            rearrangement const move{random_layout(random, 30, world.size()), random_layout(random, 30, world.size())};
            field const pixels{.name = "pixels", .bytes = random_bytes(random, 30)};
            counting_communicator counting{world};
            move_and_check(counting, move, {pixels});
            std::uint64_t leaving = 0;
            for (item_id const item : items_on(move.from(), world.rank())) {
                leaving += move.to()[item].rank == world.rank() ? 0 : pixels.bytes[to_index(item)];
            }
            std::uint64_t sent = 0;
            for (auto const& message : counting.sent) {
                EXPECT_NE(message.peer, world.rank());
                sent += message.bytes;
            }
            EXPECT_EQ(sent, leaving) << "seed " << seed;
        }
    });
}

TYPED_TEST(all_to_all_on, sends_no_byte_from_a_rank_whose_items_all_stay) {
    // Ranks 0 and 1 swap, rank 2 only turns its own around.
    this->run(3, [](comm::communicator& world) {
        auto const move = from_home({1, 1, 2}, {{1}, {0}, {3, 2}});
        counting_communicator counting{world};
        move_and_check(counting, move, {field_per_item("label", 4, 6)});
        EXPECT_EQ(counting.exchanges, 1u) << "it takes part all the same";
        EXPECT_EQ(counting.sent.size(), world.rank() == world_rank{2} ? 0u : 1u);
        EXPECT_EQ(counting.received.size(), counting.sent.size());
    });
}

TYPED_TEST(all_to_all_on, sends_nothing_at_all_where_nobody_moves) {
    this->run(3, [](comm::communicator& world) {
        auto const home = home_layout(std::vector<std::size_t>{2, 0, 3});
        counting_communicator counting{world};
        move_and_check(counting, {home, home}, {field_per_item("label", 5, 6)});
        EXPECT_THAT(counting.sent, IsEmpty());
        EXPECT_THAT(counting.received, IsEmpty());
    });
}

TYPED_TEST(all_to_all_on, takes_a_rank_along_that_has_no_item_before_and_after) {
    this->run(3, [](comm::communicator& world) {
        for (int time = 0; time < 2; ++time) {
            move_and_check(world, from_home({2, 1, 0}, {{2}, {1, 0}, {}}), {field_per_item("label", 3, 6)});
        }
    });
}

TYPED_TEST(all_to_all_on, moves_items_without_a_byte_by_moving_nothing) {
    this->run(2, [](comm::communicator& world) {
        counting_communicator counting{world};
        auto const move = from_home({2, 1}, {{2}, {1, 0}});
        move_and_check(counting, move, {field_per_item("label", 3, 0), field_per_item("mark", 3, 0)});
        move_and_check(counting, move, {});
        move_and_check(counting, from_home({0, 0}, {{}, {}}), {field_per_item("label", 0, 8)});
        EXPECT_THAT(counting.sent, IsEmpty());
    });
}

TYPED_TEST(all_to_all_on, moves_large_fields_both_ways_at_once) {
    this->run(2, [](comm::communicator& world) {
        move_and_check(world, from_home({2, 2}, {{3, 0}, {1, 2}}),
                       {{"pixels", {1'000'000, 2'000'003, 77, 1'500'001}}, {"label", {1, 2, 3, 4}}});
    });
}

TYPED_TEST(all_to_all_on, may_be_on_its_way_several_times_and_waited_for_in_any_order) {
    this->run(3, [](comm::communicator& world) {
        auto const move = from_home({2, 2, 2}, {{5, 2}, {1, 4}, {3, 0}});
        std::vector<cargo> goods;
        for (std::size_t number = 0; number < 3; ++number) {
            // Of the same sizes, so that nothing but the order tells them apart.
            goods.emplace_back(move, world.rank(), std::vector{field_per_item("label", 6, 10)});
            for (auto& byte : goods.back().sources()[0]) {
                byte ^= static_cast<std::byte>(number);
            }
        }
        std::vector<comm::pending> moves;
        for (auto& one : goods) {
            moves.push_back(all_to_all(world, move, one.moving()));
        }
        auto barrier = world.barrier();
        for (std::size_t turn = 0; turn < 3; ++turn) {
            moves[(turn + to_index(world.rank())) % 3].wait(patience);
        }
        barrier.wait(patience);
        for (std::size_t number = 0; number < 3; ++number) {
            for (auto& byte : goods[number].targets()[0]) {
                byte ^= static_cast<std::byte>(number);
            }
            goods[number].expect_arrived();
        }
    });
}

TYPED_TEST(all_to_all_on, completes_by_asking_whether_it_is_ready) {
    this->run(3, [](comm::communicator& world) {
        cargo goods{five_items(), world.rank(), three_fields()};
        auto moving = all_to_all(world, five_items(), goods.moving());
        for (comm::deadline const end = patience; !moving.ready() && !end.passed();) {
            std::this_thread::yield();
        }
        goods.expect_arrived();
        moving.wait(std::chrono::seconds{0});
    });
}

TYPED_TEST(all_to_all_on, needs_only_the_buffers_after_the_call) {
    this->run(3, [](comm::communicator& world) {
        cargo goods{five_items(), world.rank(), three_fields()};
        comm::pending moving;
        {
            auto const move = std::make_unique<rearrangement>(five_items());
            auto fields = goods.fields();
            std::vector<moving_field> described;
            for (std::size_t f = 0; f < fields.size(); ++f) {
                described.push_back({fields[f], goods.sources()[f], goods.targets()[f]});
            }
            moving = all_to_all(world, *move, described);
        }
        moving.wait(patience);
        goods.expect_arrived();
    });
}

/// What rank 1 may get wrong: the others must be told, and nothing may move.
struct mistake {
    std::string name;
    std::function<rearrangement()> move = five_items;
    std::function<std::vector<field>()> fields = three_fields;
};

std::vector<mistake> disagreements() {
    auto const with = [](auto change) {
        return [change] {
            auto fields = three_fields();
            change(fields);
            return fields;
        };
    };
    return {
        {.name = "another plan",
         .move =
             [] {
                 return from_home({3, 2, 0}, {{4, 1}, {3}, {2, 0}});
             }},
        {.name = "another order",
         .move =
             [] {
                 return from_home({3, 2, 0}, {{1, 4}, {2}, {3, 0}});
             }},
        {.name = "another home",
         .move =
             [] {
                 return from_home({2, 3, 0}, {{4, 1}, {2}, {3, 0}});
             }},
        {.name = "another size", .fields = with([](auto& fields) { ++fields[0].bytes[2]; })},
        {.name = "another size of what stays", .fields = with([](auto& fields) { ++fields[0].bytes[1]; })},
        {.name = "another name", .fields = with([](auto& fields) { fields[1].name = "pixel"; })},
        {.name = "a field less", .fields = with([](auto& fields) { fields.pop_back(); })},
        {.name = "another order of fields", .fields = with([](auto& fields) { std::swap(fields[0], fields[2]); })},
        {.name = "sizes of other fields",
         .fields = with([](auto& fields) { std::swap(fields[0].bytes, fields[1].bytes); })},
    };
}

TYPED_TEST(all_to_all_on, moves_nothing_when_a_rank_holds_another_plan_or_other_fields) {
    this->run(3, [](comm::communicator& world) {
        for (auto const& mistake : disagreements()) {
            SCOPED_TRACE(mistake.name);
            bool const wrong = world.rank() == world_rank{1};
            auto const move = wrong ? mistake.move() : five_items();
            cargo goods{move, world.rank(), wrong ? mistake.fields() : three_fields()};
            auto const error = error_of([&] { all_to_all(world, move, goods.moving()).wait(patience); });
            EXPECT_EQ(error.what(), "all_to_all on rank " + std::to_string(to_index(world.rank())) +
                                        ": rank 1 holds other values than most");
            EXPECT_EQ(error.peer(), world_rank{1});
            goods.expect_untouched();
        }
        move_and_check(world, five_items(), three_fields());
    });
}

/// Calls with what `spoil` makes of rank 1's fields; there it is refused with `text`, elsewhere rank 1 is named.
template <class Spoil>
void expect_refusal(comm::communicator& world, Spoil spoil, std::string const& text) {
    SCOPED_TRACE(text);
    cargo goods{five_items(), world.rank(), three_fields()};
    auto moving = goods.moving();
    if (world.rank() == world_rank{1}) {
        spoil(goods, moving);
        EXPECT_EQ(refusal_of([&] { all_to_all(world, five_items(), moving).wait(patience); }), text);
    } else {
        auto const error = error_of([&] { all_to_all(world, five_items(), moving).wait(patience); });
        EXPECT_EQ(error.what(),
                  "all_to_all on rank " + std::to_string(to_index(world.rank())) + ": rank 1 refused its arguments");
        EXPECT_EQ(error.peer(), world_rank{1});
    }
    goods.expect_untouched();
    move_and_check(world, five_items(), three_fields());
}

TYPED_TEST(all_to_all_on, refuses_buffers_that_are_not_of_the_size_of_the_ranks_items) {
    this->run(3, [](comm::communicator& world) {
        using fields = std::vector<moving_field>;
        // Before: items 3 and 4. After: item 2.
        expect_refusal(
            world, [](cargo&, fields& moving) { moving[0].source = moving[0].source.first(7); },
            "all_to_all: fields[0].source.size() = 7, expected the 8 bytes of this rank's items");
        expect_refusal(
            world, [](cargo&, fields& moving) { moving[1].source = {}; },
            "all_to_all: fields[1].source.size() = 0, expected the 5 bytes of this rank's items");
        expect_refusal(
            world, [](cargo&, fields& moving) { moving[1].target = moving[1].target.first(299); },
            "all_to_all: fields[1].target.size() = 299, expected the 300 bytes of this rank's items");
        expect_refusal(
            world,
            [](cargo& goods, fields& moving) {
                goods.targets()[2].push_back(untouched);
                moving[2].target = goods.targets()[2];
            },
            "all_to_all: fields[2].target.size() = 2, expected the 1 bytes of this rank's items");
    });
}

TYPED_TEST(all_to_all_on, refuses_a_field_that_does_not_know_each_items_bytes) {
    this->run(3, [](comm::communicator& world) {
        expect_refusal(
            world, [](cargo& goods, std::vector<moving_field>&) { goods.fields()[1].bytes.pop_back(); },
            "bytes_of_items: fields[1].bytes.size() = 4, expected one size for each of 5 items");
    });
}

TYPED_TEST(all_to_all_on, refuses_buffers_that_overlap) {
    this->run(3, [](comm::communicator& world) {
        using fields = std::vector<moving_field>;
        expect_refusal(
            world,
            [](cargo& goods, fields& moving) {
                goods.targets()[1].resize(304, untouched);
                moving[1].source = std::span{goods.targets()[1]}.subspan(299, 5);
                moving[1].target = std::span{goods.targets()[1]}.first(300);
            },
            "all_to_all: fields[1].target = a buffer that overlaps fields[1].source, expected buffers of their own");
        expect_refusal(
            world,
            [](cargo& goods, fields& moving) { moving[2].source = std::span{goods.targets()[0]}.subspan(22, 2); },
            "all_to_all: fields[0].target = a buffer that overlaps fields[2].source, expected buffers of their own");
        expect_refusal(
            world,
            [](cargo& goods, fields& moving) { moving[2].target = std::span{goods.targets()[1]}.subspan(299, 1); },
            "all_to_all: fields[2].target = a buffer that overlaps fields[1].target, expected buffers of their own");
    });
}

TYPED_TEST(all_to_all_on, takes_buffers_that_touch) {
    this->run(2, [](comm::communicator& world) {
        auto const move = from_home({1, 1}, {{1}, {0}});
        auto const label = field_per_item("label", 2, 4);
        auto memory = untouched_bytes(8);
        auto const mine = payload(to_index(world.rank()), 4);
        std::ranges::copy(mine, memory.begin());
        auto const both = std::span{memory};
        all_to_all(world, move, std::array{moving_field{label, both.first(4), both.last(4)}}).wait(patience);
        EXPECT_EQ(std::vector(memory.begin(), memory.begin() + 4), mine);
        EXPECT_EQ(std::vector(memory.begin() + 4, memory.end()), payload(1 - to_index(world.rank()), 4));
    });
}

TYPED_TEST(all_to_all_on, refuses_a_move_of_another_world) {
    this->run(3, [](comm::communicator& world) {
        auto const move = from_home({1, 1}, {{1}, {0}});
        EXPECT_EQ(refusal_of([&] { all_to_all(world, move, {}).wait(patience); }),
                  "all_to_all: move.ranks() = 2, expected the 3 ranks of the communicator");
        world.barrier().wait(patience);
    });
}

TYPED_TEST(all_to_all_on, refuses_a_field_beyond_64_bits) {
    this->run(2, [](comm::communicator& world) {
        // Two items that stay on rank 0: only there is the sum ever formed.
        auto const home = home_layout(std::vector<std::size_t>{2, 0});
        field const huge = field_per_item("huge", 2, std::uint64_t{1} << 63U);
        auto const call = [&] {
            all_to_all(world, {home, home}, std::array{moving_field{huge, {}, {}}}).wait(patience);
        };
        if (world.rank() == world_rank{0}) {
            EXPECT_THROW(call(), std::overflow_error);
        } else {
            EXPECT_EQ(error_of(call).peer(), world_rank{0});
        }
    });
}

TYPED_TEST(all_to_all_on, keeps_telling_what_it_refused_however_often_it_is_asked) {
    this->run(2, [](comm::communicator& world) {
        auto const move = from_home({1, 0}, {{}, {0}});
        auto moving = all_to_all(world, move, {});
        cargo goods{move, world.rank(), {field_per_item("label", 1, 8)}};
        auto fields = goods.moving();
        fields[0].source = {};  // wrong on rank 0
        auto refused = all_to_all(world, move, fields);
        auto const poll = [&] {
            for (comm::deadline const end = patience; !refused.ready() && !end.passed();) {
                std::this_thread::yield();
            }
        };
        for (int time = 0; time < 2; ++time) {
            if (world.rank() == world_rank{0}) {
                EXPECT_THROW(poll(), std::invalid_argument);
            } else {
                EXPECT_EQ(error_of(poll).peer(), world_rank{0});
            }
        }
        moving.wait(patience);
        world.barrier().wait(patience);
    });
}

TYPED_TEST(all_to_all_on, tells_every_rank_when_one_gives_it_up) {
    this->run(3, [](comm::communicator& world) {
        cargo goods{five_items(), world.rank(), three_fields()};
        auto const error = error_of([&] {
            auto moving = all_to_all(world, five_items(), goods.moving());
            if (world.rank() == world_rank{0}) {
                moving = {};
            }
            moving.wait(patience);
            world.barrier().wait(patience);
        });
        EXPECT_EQ(error.operation(), "all_to_all");
        EXPECT_EQ(error.peer(), world_rank{0});
    });
}

TYPED_TEST(all_to_all_on, reports_a_rank_that_does_not_come) {
    this->run(2, [](comm::communicator& world) {
        if (world.rank() == world_rank{1}) {
            return;
        }
        auto const move = from_home({2, 1}, {{2}, {1, 0}});
        cargo goods{move, world.rank(), {field_per_item("label", 3, 8)}};
        auto const error = error_of([&] { all_to_all(world, move, goods.moving()).wait(impatience); });
        EXPECT_EQ(error.operation(), "all_to_all");
        EXPECT_EQ(error.peer(), world_rank{1});
        goods.expect_untouched();
    });
}

}  // namespace
}  // namespace evenkeel::test::all_to_all_test
