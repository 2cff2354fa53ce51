// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <evenkeel/core/ids.hpp>

namespace evenkeel::test {

/// Numbers from a seed, the same on every machine: the distributions of <random> are not.
class seeded {
  public:
    explicit seeded(std::uint64_t seed) : engine_{seed} {}

    /// From 0 to `last`, both included.
    std::uint64_t up_to(std::uint64_t last) { return engine_() % (last + 1); }

    std::uint64_t between(std::uint64_t first, std::uint64_t last) { return first + up_to(last - first); }

  private:
    std::mt19937_64 engine_;
};

/// Lengths and the ranks to balance them over.
struct batch {
    std::vector<std::uint64_t> lengths;
    rank_count ranks;
};

/// A batch small enough for `optimum`: up to 10 samples on up to 4 ranks, of a different kind from seed to seed:
/// few or many different lengths, tiles, some absent, more ranks than samples, none at all.
[[nodiscard]] inline batch small_batch(std::uint64_t seed) {
    seeded random{seed};
    constexpr std::uint64_t longest[] = {1, 3, 12, 220, 30'000, 4'000'000'000'000, 200'000'000'000'000'000};
    std::uint64_t const limit = longest[random.up_to(6)];
    std::uint64_t const tile = random.up_to(3) == 0 ? 7 : 1;
    bool const some_absent = random.up_to(3) == 0;
    batch result{.lengths = std::vector<std::uint64_t>(random.up_to(10)), .ranks = {random.between(1, 4)}};
    for (auto& length : result.lengths) {
        length = some_absent && random.up_to(2) == 0 ? 0 : tile * random.between(1, limit);
    }
    return result;
}

/// A batch of `ranks` x `per_rank` samples whose lengths fall off as in real mixtures: many short, few long, some
/// absent.
[[nodiscard]] inline batch mixed_batch(std::uint64_t seed, std::size_t ranks, std::size_t per_rank) {
    seeded random{seed};
    batch result{.lengths = std::vector<std::uint64_t>(ranks * per_rank), .ranks = {ranks}};
    for (auto& length : result.lengths) {
        std::uint64_t const octave = random.up_to(11);
        length = random.up_to(4) == 0 ? 0 : random.between(std::uint64_t{1} << octave, std::uint64_t{2} << octave);
    }
    return result;
}

/// A batch of images that are cut into one to five tiles of 576 tokens, three in ten absent.
[[nodiscard]] inline batch tiled_batch(std::uint64_t seed, std::size_t ranks, std::size_t per_rank) {
    seeded random{seed};
    batch result{.lengths = std::vector<std::uint64_t>(ranks * per_rank), .ranks = {ranks}};
    for (auto& length : result.lengths) {
        length = 576 * (random.up_to(9) < 3 ? 0 : random.between(1, 5));
    }
    return result;
}

/// A batch with few samples per rank and lengths of one order of magnitude, as videos have: hard to balance.
[[nodiscard]] inline batch sparse_batch(std::uint64_t seed, std::size_t ranks, std::size_t per_rank) {
    seeded random{seed};
    batch result{.lengths = std::vector<std::uint64_t>(ranks * per_rank), .ranks = {ranks}};
    for (auto& length : result.lengths) {
        length = 68 * random.between(30, 360);
        length += 34 * random.up_to(1);
    }
    return result;
}

}  // namespace evenkeel::test
