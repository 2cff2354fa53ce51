// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

namespace evenkeel::examples {

/// The sequence by which one 64-bit seed fills the state of a larger generator (Steele, Lea and Flood 2014).
class splitmix64 {
  public:
    explicit constexpr splitmix64(std::uint64_t seed) noexcept : state_{seed} {}

    constexpr std::uint64_t operator()() noexcept {
        state_ += 0x9e3779b97f4a7c15;
        auto mixed = (state_ ^ (state_ >> 30u)) * 0xbf58476d1ce4e5b9;
        mixed = (mixed ^ (mixed >> 27u)) * 0x94d049bb133111eb;
        return mixed ^ (mixed >> 31u);
    }

  private:
    std::uint64_t state_;
};

/// xoshiro256++ (Blackman and Vigna 2019) with the draws that workloads need. The standard's distributions differ from
/// one library to the next; these do not.
class random_source {
  public:
    using result_type = std::uint64_t;

    explicit constexpr random_source(std::uint64_t seed) noexcept {
        auto seeder = splitmix64{seed};
        for (auto& word : state_) {
            word = seeder();
        }
    }

    explicit constexpr random_source(std::array<std::uint64_t, 4> const& state) noexcept : state_{state} {}

    [[nodiscard]] static constexpr result_type min() noexcept { return 0; }
    [[nodiscard]] static constexpr result_type max() noexcept { return std::numeric_limits<result_type>::max(); }

    constexpr result_type operator()() noexcept {
        auto const result = std::rotl(state_[0] + state_[3], 23) + state_[0];
        auto const shifted = state_[1] << 17u;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = std::rotl(state_[3], 45);
        return result;
    }

    /// From 0 up to, not including, 1; 53 bits.
    constexpr double uniform() noexcept { return static_cast<double>((*this)() >> 11u) * 0x1p-53; }

    /// A whole number from `least` to `most`.
    constexpr std::uint64_t between(std::uint64_t least, std::uint64_t most) noexcept {
        return least + static_cast<std::uint64_t>(uniform() * static_cast<double>(most - least + 1));
    }

    /// Mean 0, deviation 1 (Box and Muller 1958, the cosine branch).
    double normal() noexcept {
        auto const radius = std::sqrt(-2 * std::log(1 - uniform()));
        return radius * std::cos(2 * std::numbers::pi * uniform());
    }

    /// `median * exp(spread * normal)`.
    double lognormal(double median, double spread) noexcept { return median * std::exp(spread * normal()); }

  private:
    std::array<std::uint64_t, 4> state_{};
};

}  // namespace evenkeel::examples
