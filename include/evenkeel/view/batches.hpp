// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include <range/v3/functional/bind_back.hpp>
#include <range/v3/range/access.hpp>
#include <range/v3/range/concepts.hpp>
#include <range/v3/range/primitives.hpp>
#include <range/v3/view/all.hpp>
#include <range/v3/view/iota.hpp>
#include <range/v3/view/span.hpp>
#include <range/v3/view/transform.hpp>
#include <range/v3/view/view.hpp>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/plan.hpp>

namespace evenkeel::views {

template <class Samples>
using constant_view = ranges::views::all_t<Samples> const;

/// Samples whose view can be counted and looked up by number, also as a constant.
template <class Samples>
concept batchable = ranges::viewable_range<Samples> && ranges::random_access_range<constant_view<Samples>> &&
                    ranges::sized_range<constant_view<Samples>>;

struct batches_fn {
    template <batchable Samples>
    [[nodiscard]] auto operator()(Samples&& samples, plan const& plan) const {
        auto const count = static_cast<std::size_t>(ranges::size(samples));
        if (count != plan.items.size()) {
            throw_invalid("views::batches", "samples.size()", count,
                          "one sample for each of " + std::to_string(plan.items.size()) + " items of the plan");
        }
        auto batch_of = [all = ranges::views::all(static_cast<Samples&&>(samples)), &plan](std::size_t rank) {
            auto sample_of = [all](item_id item) -> decltype(auto) {
                return ranges::begin(all)[static_cast<ranges::range_difference_t<decltype(all)>>(to_index(item))];
            };
            return ranges::views::transform(ranges::span<item_id const>{plan[to_id<rank_id>(rank)]}, sample_of);
        };
        return ranges::views::transform(ranges::views::iota(std::size_t{0}, plan.ranks().value), batch_of);
    }

    /// The pipeable form: `samples | views::batches(plan)`.
    [[nodiscard]] auto operator()(plan const& plan) const {
        return ranges::make_view_closure(
            [&plan](auto&& samples) requires requires { batches_fn{}(static_cast<decltype(samples)>(samples), plan); } {
                return batches_fn{}(static_cast<decltype(samples)>(samples), plan);
            });
    }

    // The view refers to the plan.
    template <class Samples>
    auto operator()(Samples&& samples, plan const&& plan) const = delete;
    auto operator()(plan const&& plan) const = delete;
};

/// A plan as a range of per-rank batches of the caller's own samples.
///
///     for (auto&& batch : samples | evenkeel::views::batches(balanced.plan)) {
///         for (auto const& sample : batch) { ... }   // references into `samples`, rank after rank
///     }
///
/// A rank's micro-batches follow each other. Nothing is copied: the view refers to `samples` and to `plan`, both must
/// outlive it.
///
/// @throws std::invalid_argument  if the plan is of another number of samples.
inline constexpr batches_fn batches{};

}  // namespace evenkeel::views
