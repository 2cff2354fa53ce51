// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include <evenkeel/core/layout.hpp>
#include <evenkeel/core/plan.hpp>

namespace evenkeel {

/// A 64-bit hash by which ranks find out that they do not hold the same values, before anything moves.
///
///     auto const mine = evenkeel::fingerprint{}.add(plan.items.size()).add(plan).value();
///
/// Equal inputs give equal values on every machine; any single changed word gives another value (each step is a
/// bijection of the state), and more changes collide with probability 2^-64. No protection against an attacker.
class fingerprint {
  public:
    constexpr fingerprint& add(std::uint64_t word) noexcept {
        // The finaliser of splitmix64 (Steele, Lea, Flood 2014), chained.
        std::uint64_t mixed = std::rotl(state_, 5) ^ word;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
        state_ = mixed ^ (mixed >> 31);
        return *this;
    }

    constexpr fingerprint& add(std::string_view text) noexcept {
        add(std::uint64_t{text.size()});
        for (char const letter : text) {
            add(static_cast<std::uint64_t>(static_cast<unsigned char>(letter)));
        }
        return *this;
    }

    fingerprint& add(plan const& plan) noexcept {
        add(std::uint64_t{plan.micro_batches}).add(std::uint64_t{plan.offsets.size()});
        for (auto const offset : plan.offsets) {
            add(std::uint64_t{offset});
        }
        for (auto const item : plan.items) {
            add(std::uint64_t{to_index(item)});
        }
        return *this;
    }

    fingerprint& add(layout const& layout) noexcept {
        add(std::uint64_t{layout.ranks.value}).add(std::uint64_t{layout.size()});
        for (auto const& place : layout.places) {
            add(std::uint64_t{to_index(place.rank)} << 32U | to_index(place.micro_batch));
            add(std::uint64_t{place.position});
        }
        return *this;
    }

    [[nodiscard]] constexpr std::uint64_t value() const noexcept { return state_; }

  private:
    std::uint64_t state_ = 0x9e3779b97f4a7c15ULL;
};

}  // namespace evenkeel
