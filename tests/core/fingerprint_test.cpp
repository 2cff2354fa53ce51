// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/core/fingerprint.hpp>

#include "tests/support/layouts.hpp"

namespace evenkeel::fingerprint_test {
namespace {

template <class Value>
std::uint64_t print(Value const& value) {
    return fingerprint{}.add(value).value();
}

static_assert(fingerprint{}.add(1).value() != fingerprint{}.add(2).value(), "usable in constants");

TEST(fingerprint, of_equal_plans_is_equal) {
    auto const plan = test::plan_of({{3, 0}, {}, {1, 2}});
    auto const mine = evenkeel::fingerprint{}.add(plan.items.size()).add(plan).value();
    auto const copy = plan;
    EXPECT_EQ(mine, fingerprint{}.add(std::uint64_t{4}).add(copy).value());
}

// Ranks may run binaries of different compilers and releases, so these values must never change.
TEST(fingerprint, is_the_same_number_on_every_machine) {
    EXPECT_EQ(fingerprint{}.value(), 0x9e3779b97f4a7c15u);
    EXPECT_EQ(print(std::uint64_t{0}), 0xbcc9b8440aab3c68u);
    EXPECT_EQ(print(std::string_view{"balance"}), 0x81247b53cde0bfd5u);
    EXPECT_EQ(print(test::plan_of({{3, 0}, {}, {1, 2}})), 0x90de0987a9a570bau);
    EXPECT_EQ(print(home_layout(std::vector<std::size_t>{2, 0, 1})), 0x347c6fe396c3b07fu);
}

TEST(fingerprint, depends_on_the_order_of_words) {
    EXPECT_NE(fingerprint{}.add(1).add(2).value(), fingerprint{}.add(2).add(1).value());
    EXPECT_NE(fingerprint{}.add(0).value(), fingerprint{}.value());
    EXPECT_NE(fingerprint{}.add(0).add(0).value(), fingerprint{}.add(0).value());
}

TEST(fingerprint, depends_on_where_a_text_ends) {
    EXPECT_NE(fingerprint{}.add("ab").add("c").value(), fingerprint{}.add("a").add("bc").value());
    EXPECT_NE(fingerprint{}.add("").value(), fingerprint{}.value());
    EXPECT_NE(print(std::string_view{"\xff"}), print(std::string_view{"\x7f"}));
    EXPECT_EQ(print(std::string{"vision"}), print(std::string_view{"vision"}));
}

TEST(fingerprint, differs_after_any_single_bit_of_any_word) {
    std::vector<std::uint64_t> const words{0, 1, 0xffffffffffffffff, 42, 1u << 31};
    auto const print_of = [](std::vector<std::uint64_t> const& list) {
        fingerprint result;
        for (auto const word : list) {
            result.add(word);
        }
        return result.value();
    };
    std::set<std::uint64_t> prints{print_of(words)};
    for (std::size_t word = 0; word < words.size(); ++word) {
        for (unsigned bit = 0; bit < 64; ++bit) {
            auto changed = words;
            changed[word] ^= std::uint64_t{1} << bit;
            EXPECT_TRUE(prints.insert(print_of(changed)).second) << "word " << word << ", bit " << bit;
        }
    }
}

class fingerprint_law : public testing::TestWithParam<unsigned> {};

TEST_P(fingerprint_law, differs_after_any_change_to_a_plan) {
    test::seeded random{GetParam()};
    std::size_t const micro_batches = random.between(1, 3);
    auto const plan = test::random_plan(random, random.between(2, 20), {random.between(1, 6)}, micro_batches);
    std::set<std::uint64_t> prints{print(plan)};

    for (std::size_t position = 1; position < plan.items.size(); ++position) {
        auto swapped = plan;
        std::swap(swapped.items[position - 1], swapped.items[position]);
        EXPECT_TRUE(prints.insert(print(swapped)).second);
    }
    for (std::size_t list = 1; list + 1 < plan.offsets.size(); ++list) {
        auto cut = plan;
        ++cut.offsets[list];
        EXPECT_TRUE(prints.insert(print(cut)).second);
    }
    auto regrouped = plan;
    ++regrouped.micro_batches;
    EXPECT_TRUE(prints.insert(print(regrouped)).second);
    auto wider = plan;
    wider.offsets.push_back(wider.offsets.back());
    EXPECT_TRUE(prints.insert(print(wider)).second);
}

TEST_P(fingerprint_law, differs_after_any_change_to_a_layout) {
    test::seeded random{GetParam()};
    auto const layout = test::random_layout(random, random.between(1, 20), {random.between(1, 6)});
    std::set<std::uint64_t> prints{print(layout)};

    for (std::size_t item = 0; item < layout.size(); ++item) {
        for (auto const bit : {0u, 1u, 31u}) {
            auto moved = layout;
            auto& place = moved.places[item];
            place.rank = to_id<world_rank>(to_index(place.rank) ^ (1u << bit));
            EXPECT_TRUE(prints.insert(print(moved)).second);
            moved = layout;
            place.micro_batch = to_id<micro_batch_id>(to_index(place.micro_batch) ^ (1u << bit));
            EXPECT_TRUE(prints.insert(print(moved)).second);
            moved = layout;
            place.position ^= 1u << bit;
            EXPECT_TRUE(prints.insert(print(moved)).second);
        }
    }
    auto wider = layout;
    ++wider.ranks.value;
    EXPECT_TRUE(prints.insert(print(wider)).second);
    auto longer = layout;
    longer.places.emplace_back();
    EXPECT_TRUE(prints.insert(print(longer)).second);
}

INSTANTIATE_TEST_SUITE_P(seeds, fingerprint_law, testing::Range(0u, 50u));

}  // namespace
}  // namespace evenkeel::fingerprint_test
