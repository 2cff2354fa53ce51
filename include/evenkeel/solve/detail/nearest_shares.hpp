// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/placement.hpp>

namespace evenkeel::detail {

/// Of several ways to share out the items of a few ranks, none of which reached a target load, the one that came
/// nearest: least is above the target in all.
class nearest_shares {
  public:
    void reserve(std::size_t items) { rank_of_.reserve(items); }

    void forget() noexcept { least_ = std::numeric_limits<std::uint64_t>::max(); }

    /// Whether what is there is nearer than what was kept, which `keep` has to replace then.
    [[nodiscard]] bool is_nearer(placement const& loads, std::uint64_t target) noexcept {
        std::uint64_t excess = 0;
        for (std::size_t rank = 0; rank < loads.ranks(); ++rank) {
            excess += loads.load(rank) - std::min(target, loads.load(rank));
        }
        bool const nearer = excess < least_;
        least_ = nearer ? excess : least_;
        return nearer;
    }

    /// @param rank_of  Of each item.
    void keep(std::span<std::uint32_t const> rank_of) { rank_of_.assign(rank_of.begin(), rank_of.end()); }

    [[nodiscard]] std::vector<std::uint32_t>& rank_of() noexcept { return rank_of_; }

  private:
    std::uint64_t least_ = std::numeric_limits<std::uint64_t>::max();
    std::vector<std::uint32_t> rank_of_;
};

}  // namespace evenkeel::detail
