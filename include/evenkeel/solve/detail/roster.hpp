// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/placement.hpp>
#include <evenkeel/solve/detail/wish_problem.hpp>

namespace evenkeel::detail {

/// One, two or none of a rank's bundles, and what they come to.
struct handful {
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    holding what;
    std::uint32_t first = none;   ///< positions in the rank's list,
    std::uint32_t second = none;  ///< the second one larger
};

/// Which bundles each rank has, and what they come to together with what is pinned there.
class roster {
  public:
    void reserve(std::size_t bundles, std::size_t ranks) {
        lists_.reserve(bundles, ranks);
        held_.reserve(ranks);
    }

    void reset(wish_problem const& problem, std::span<std::uint32_t const> rank_of) {
        problem_ = &problem;
        watches_quantity_ = problem.limits.quantity != rank_limits::none;
        lists_.reset(problem.weights, rank_of, problem.ranks());
        held_ = problem.base;
        for (std::size_t bundle = 0; bundle < rank_of.size(); ++bundle) {
            problem.add(held_[rank_of[bundle]], bundle);
        }
    }

    [[nodiscard]] wish_problem const& problem() const noexcept { return *problem_; }
    [[nodiscard]] std::size_t ranks() const noexcept { return held_.size(); }
    [[nodiscard]] holding const& operator[](std::size_t rank) const noexcept { return held_[rank]; }
    [[nodiscard]] std::span<holding const> all() const noexcept { return held_; }

    /// The bundles of `rank` that can move, heaviest first.
    [[nodiscard]] std::span<std::uint32_t const> bundles(std::size_t rank) const noexcept { return lists_.items(rank); }
    [[nodiscard]] std::span<std::uint64_t const> weights(std::size_t rank) const noexcept {
        return lists_.weights(rank);
    }

    /// What the bundle at `position` of the rank's list comes to. Quantities without a limit are not looked up.
    [[nodiscard]] handful hand(std::size_t rank, std::uint32_t position) const noexcept {
        std::uint64_t const weight = weights(rank)[position];
        auto const bundle = [&] { return bundles(rank)[position]; };
        return {.what = {.load = weight,
                         .quantity = watches_quantity_ ? problem_->quantities[bundle()] : 0,
                         .count = problem_->single ? 1 : problem_->counts[bundle()],
                         .working = weight > 0 ? 1U : 0U},
                .first = position,
                .second = handful::none};
    }

    /// Whether bundles of the same weight are all alike.
    [[nodiscard]] bool weight_says_all() const noexcept { return problem_->single && !watches_quantity_; }

    [[nodiscard]] handful both(handful const& one, handful const& other) const noexcept {
        auto const [low, high] =
            one.first < other.first ? std::array{one.first, other.first} : std::array{other.first, one.first};
        return {.what = sum(one.what, other.what), .first = low, .second = high};
    }

    /// What a rank would have that gives and takes.
    [[nodiscard]] static holding after(holding const& before, handful const& gives, handful const& takes) noexcept {
        return {.load = before.load - gives.what.load + takes.what.load,
                .quantity = before.quantity - gives.what.quantity + takes.what.quantity,
                .count = before.count - gives.what.count + takes.what.count,
                .working = before.working - gives.what.working + takes.what.working};
    }

    void exchange(std::size_t giver, handful const& gives, std::size_t taker, handful const& takes) {
        auto const given = take_off(giver, gives);
        auto const taken = take_off(taker, takes);
        put(taker, given);
        put(giver, taken);
        auto const& held = held_;
        held_[giver] = after(held[giver], gives, takes);
        held_[taker] = after(held[taker], takes, gives);
    }

    void store(std::span<std::uint32_t> rank_of) const noexcept { lists_.store(rank_of); }

  private:
    using bundle_pair = std::array<std::uint32_t, 2>;

    [[nodiscard]] static holding sum(holding const& a, holding const& b) noexcept {
        return {.load = a.load + b.load,
                .quantity = a.quantity + b.quantity,
                .count = a.count + b.count,
                .working = a.working + b.working};
    }

    bundle_pair take_off(std::size_t rank, handful const& what) {
        bundle_pair result{handful::none, handful::none};
        // The later position first, so that the other does not change.
        if (what.second != handful::none) {
            result[1] = bundles(rank)[what.second];
            lists_.remove(rank, what.second);
        }
        if (what.first != handful::none) {
            result[0] = bundles(rank)[what.first];
            lists_.remove(rank, what.first);
        }
        return result;
    }

    void put(std::size_t rank, bundle_pair const& what) {
        for (auto const bundle : what) {
            if (bundle != handful::none) {
                lists_.insert(rank, bundle, problem_->weights[bundle]);
            }
        }
    }

    wish_problem const* problem_ = nullptr;
    bool watches_quantity_ = false;
    placement lists_;
    std::vector<holding> held_;
};

}  // namespace evenkeel::detail
