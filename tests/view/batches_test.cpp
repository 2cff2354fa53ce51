// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <range/v3/iterator/operations.hpp>
#include <range/v3/numeric/accumulate.hpp>
#include <range/v3/range/concepts.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/iota.hpp>
#include <range/v3/view/join.hpp>
#include <range/v3/view/transform.hpp>

#include <evenkeel/view/batches.hpp>

#include "tests/support/layouts.hpp"

namespace evenkeel::batches_test {
namespace {

template <class Samples, class Plan>
concept pipes = requires(Samples&& samples, Plan&& plan) {
    std::forward<Samples>(samples) | views::batches(std::forward<Plan>(plan));
};
template <class Samples, class Plan>
concept calls = requires(Samples&& samples, Plan&& plan) {
    views::batches(std::forward<Samples>(samples), std::forward<Plan>(plan));
};
template <class Samples, class Plan>
concept accepted = pipes<Samples, Plan> && calls<Samples, Plan>;
template <class Samples, class Plan>
concept refused = !pipes<Samples, Plan> && !calls<Samples, Plan>;

using integers = std::vector<int>;
using strings = std::vector<std::string>;
using counting = ranges::iota_view<int, int>;

static_assert(accepted<integers&, plan&> && accepted<integers const&, plan const&>);
static_assert(accepted<std::span<int>, plan&> && accepted<counting, plan&>, "views may end with the expression");
static_assert(accepted<int (&)[3], plan&>);
static_assert(refused<integers&, plan>, "the view would outlive its plan");
static_assert(refused<integers&, plan const>, "the view would outlive its plan");
static_assert(refused<integers, plan&>, "the view would outlive its samples");
static_assert(refused<std::list<int>&, plan&>, "a plan takes samples from anywhere");
static_assert(refused<int, plan&>);

struct counts_calls {
    int calls = 0;
    int operator()(int number) { return number + calls++; }
};
static_assert(refused<ranges::transform_view<counting, counts_calls>, plan&>,
              "what changes as it is read has no samples to refer to");

template <class Batches>
auto nested(Batches&& batches) {
    std::vector<std::vector<ranges::range_value_t<ranges::range_reference_t<Batches>>>> result;
    for (auto&& batch : batches) {
        result.emplace_back();
        for (auto&& sample : batch) {
            result.back().push_back(sample);
        }
    }
    return result;
}

///     rank 0: d a    rank 1: nothing    rank 2: b c
plan three_ranks() { return test::plan_of({{3, 0}, {}, {1, 2}}); }

TEST(batches, are_the_samples_of_each_rank_in_the_order_of_the_plan) {
    struct {
        evenkeel::plan plan = three_ranks();
    } const balanced;
    auto const samples = strings{"a", "b", "c", "d"};

    std::vector<strings> seen;
    for (auto&& batch : samples | evenkeel::views::batches(balanced.plan)) {
        seen.emplace_back();
        for (auto const& sample : batch) {
            seen.back().push_back(sample);
        }
    }
    EXPECT_EQ(seen, (std::vector<strings>{{"d", "a"}, {}, {"b", "c"}}));
}

TEST(batches, may_be_called_or_piped) {
    auto const samples = strings{"a", "b", "c", "d"};
    auto const plan = three_ranks();
    EXPECT_EQ(nested(views::batches(samples, plan)), nested(samples | views::batches(plan)));
}

TEST(batches, give_a_rank_without_samples_an_empty_batch) {
    auto const samples = integers{5, 3};
    auto const plan = test::plan_of({{0}, {1}, {}});
    EXPECT_EQ(nested(samples | views::batches(plan)), (std::vector<integers>{{5}, {3}, {}}));
}

TEST(batches, of_no_ranks_are_none) {
    auto const samples = integers{};
    auto const nobody = plan{};
    auto const two = test::plan_of({{}, {}});
    EXPECT_EQ(ranges::size(samples | views::batches(nobody)), 0u);
    EXPECT_EQ(nested(samples | views::batches(two)), (std::vector<integers>{{}, {}}));
}

TEST(batches, join_the_micro_batches_of_a_rank) {
    auto const samples = strings{"a", "b", "c", "d", "e"};
    auto const plan = test::plan_of({{0, 3}, {}, {1, 2}, {4}}, 2);
    EXPECT_EQ(nested(samples | views::batches(plan)), (std::vector<strings>{{"a", "d"}, {"b", "c", "e"}}));
}

TEST(batches, refer_to_the_samples_and_copy_none) {
    std::vector<std::unique_ptr<int>> samples;
    for (int number = 0; number < 4; ++number) {
        samples.push_back(std::make_unique<int>(number));
    }
    auto const plan = three_ranks();
    auto const batches = samples | views::batches(plan);

    static_assert(std::is_same_v<decltype(batches[0][0]), std::unique_ptr<int>&>);
    EXPECT_EQ(&batches[0][0], &samples[3]);
    EXPECT_EQ(&batches[0][1], &samples[0]);
    EXPECT_EQ(&batches[2][1], &samples[2]);
}

TEST(batches, let_their_samples_be_changed) {
    auto samples = integers{10, 20, 30, 40};
    auto const plan = three_ranks();
    for (auto&& batch : samples | views::batches(plan)) {
        for (auto& sample : batch) {
            ++sample;
        }
    }
    EXPECT_EQ(samples, (integers{11, 21, 31, 41}));
}

TEST(batches, of_constant_samples_are_constant) {
    auto const samples = integers{10, 20, 30, 40};
    auto const plan = three_ranks();
    auto const batches = samples | views::batches(plan);
    static_assert(std::is_same_v<decltype(batches[0][0]), int const&>);
    EXPECT_EQ(&batches[2][0], &samples[1]);
}

TEST(batches, have_random_access_and_a_size) {
    auto const samples = strings{"a", "b", "c", "d"};
    auto const plan = three_ranks();
    auto const batches = samples | views::batches(plan);
    static_assert(ranges::random_access_range<decltype(batches)> && ranges::sized_range<decltype(batches)>);
    static_assert(ranges::random_access_range<decltype(batches[0])> && ranges::sized_range<decltype(batches[0])>);
    static_assert(ranges::viewable_range<decltype(batches)>);

    EXPECT_EQ(ranges::size(batches), 3u);
    EXPECT_EQ(ranges::size(batches[2]), 2u);
    EXPECT_EQ(batches[2][1], "c");
}

TEST(batches, can_be_kept_after_the_range_of_them_has_gone) {
    auto const samples = strings{"a", "b", "c", "d"};
    auto const plan = three_ranks();
    auto const last = [&] {
        auto const batches = samples | views::batches(plan);
        return batches[2];
    }();
    EXPECT_EQ(last | ranges::to<std::vector>(), (strings{"b", "c"}));
}

TEST(batches, take_a_span_a_built_in_array_and_a_container) {
    int numbers[] = {10, 20, 30, 40};
    auto const plan = three_ranks();
    auto const expected = std::vector<integers>{{40, 10}, {}, {20, 30}};
    EXPECT_EQ(nested(numbers | views::batches(plan)), expected);
    EXPECT_EQ(nested(std::span{numbers} | views::batches(plan)), expected);
    EXPECT_EQ(nested(std::span<int const>{numbers} | views::batches(plan)), expected);
    auto array = std::array{10, 20, 30, 40};
    EXPECT_EQ(nested(array | views::batches(plan)), expected);
}

TEST(batches, take_a_view_that_makes_its_samples) {
    auto const plan = three_ranks();
    auto tens = ranges::views::iota(1, 5) | ranges::views::transform([](int number) { return number * 10; });
    auto const expected = std::vector<integers>{{40, 10}, {}, {20, 30}};
    EXPECT_EQ(nested(tens | views::batches(plan)), expected);
    EXPECT_EQ(nested(ranges::views::iota(1, 5) | ranges::views::transform([](int number) { return number * 10; }) |
                     views::batches(plan)),
              expected);
}

TEST(batches, go_on_through_further_views) {
    auto const samples = integers{10, 20, 30, 40};
    auto const plan = three_ranks();
    auto const loads = samples | views::batches(plan) |
                       ranges::views::transform([](auto&& batch) { return ranges::accumulate(batch, 0); }) |
                       ranges::to<std::vector>();
    EXPECT_EQ(loads, (integers{50, 0, 50}));

    auto const in_order = samples | views::batches(plan) | ranges::views::join | ranges::to<std::vector>();
    EXPECT_EQ(in_order, (integers{40, 10, 20, 30}));
}

TEST(batches, refuse_the_plan_of_another_batch) {
    auto const plan = three_ranks();
    auto const message = "views::batches: samples.size() = 3, expected one sample for each of 4 items of the plan";
    auto const samples = integers{10, 20, 30};
    EXPECT_THAT([&] { (void)(samples | views::batches(plan)); },
                testing::ThrowsMessage<std::invalid_argument>(message));
    EXPECT_THAT([&] { (void)views::batches(samples, plan); }, testing::ThrowsMessage<std::invalid_argument>(message));
    auto const too_many = integers{10, 20, 30, 40, 50};
    EXPECT_THROW((void)views::batches(too_many, plan), std::invalid_argument);
}

}  // namespace
}  // namespace evenkeel::batches_test
