// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <evenkeel/solve/detail/placement.hpp>
#include <evenkeel/solve/detail/room_queue.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// Whom a rank above the target is offered for an exchange: the ranks with most room, and others at a stride through
/// all.
class partners {
  public:
    static constexpr std::size_t most_offered = 32;

    void reserve(std::size_t ranks) { rooms_.reserve(ranks); }

    /// @param turn  Differs from try to try, so that others are met at a stride.
    void reset(placement const& loads, std::uint64_t target, std::size_t turn, step_budget& steps) {
        rooms_.reset(loads, target);
        loads_ = &loads;
        target_ = target;
        turn_ = turn;
        steps_ = &steps;
    }

    /// Lets a rank be offered whose load has changed, if it has room.
    void push(std::uint32_t rank) { rooms_.push(rank); }

    /// Offers the ranks with most room, one after the other, until `attempt` takes one.
    template <class Attempt>
    bool with_roomiest(std::size_t tries, Attempt attempt) {
        std::array<std::uint32_t, most_offered> tried;
        std::size_t size = 0;
        bool found = false;
        while (!found && size < tries) {
            auto const rank = rooms_.pop();
            if (!rank) {
                break;
            }
            steps_->spend(32);
            tried[size++] = *rank;
            found = attempt(*rank);
        }
        for (auto const rank : std::span{tried}.first(size)) {
            rooms_.push(rank);
        }
        return found;
    }

    /// Offers a rank others at a stride that have room, until `attempt` takes one.
    template <class Attempt>
    bool with_others(std::uint32_t rank, std::size_t tries, Attempt attempt) {
        for (std::size_t number = 0; number < tries; ++number) {
            std::uint32_t const partner = at_stride(rank, number, tries);
            if (loads_->load(partner) < target_ && attempt(partner)) {
                rooms_.push(partner);
                return true;
            }
        }
        return false;
    }

    /// Fills `roomiest` with the ranks with most room; returns those there are.
    [[nodiscard]] std::span<std::uint32_t> write_roomiest(std::span<std::uint32_t> roomiest) {
        std::size_t size = 0;
        with_roomiest(roomiest.size(), [&](std::uint32_t rank) {
            roomiest[size++] = rank;
            return false;
        });
        return roomiest.first(size);
    }

    /// The rank at place `number` of `of` on a way through all, from `rank` on.
    [[nodiscard]] std::uint32_t at_stride(std::uint32_t rank, std::size_t number, std::size_t of) const noexcept {
        std::size_t const stride = std::max<std::size_t>(1, loads_->ranks() / (of + 1));
        return static_cast<std::uint32_t>((rank + 1 + turn_ + number * stride) % loads_->ranks());
    }

  private:
    room_queue rooms_;
    placement const* loads_ = nullptr;
    std::uint64_t target_ = 0;
    std::size_t turn_ = 0;
    step_budget* steps_ = nullptr;
};

}  // namespace evenkeel::detail
