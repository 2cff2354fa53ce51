// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace evenkeel::detail {

/// What one rank holds: so many items of each of a few sizes, out of many.
struct wide_pattern {
    static constexpr std::size_t most_sizes = 15;
    static constexpr std::uint64_t most_of_a_size = 255;

    struct some {
        std::uint16_t size;
        std::uint16_t number;
    };

    std::array<some, most_sizes> holds;
    std::size_t sizes = 0;

    [[nodiscard]] bool full() const noexcept { return sizes == most_sizes; }

    void add(std::size_t size, std::uint64_t number) noexcept {
        holds[sizes++] = {static_cast<std::uint16_t>(size), static_cast<std::uint16_t>(number)};
    }

    void remove_last() noexcept { --sizes; }
};

/// Calls `visit` with each size of which a pattern holds some, and how many.
template <class Visit>
void for_each_size(wide_pattern const& pattern, Visit visit) {
    for (std::size_t index = 0; index < pattern.sizes; ++index) {
        visit(std::size_t{pattern.holds[index].size}, std::int64_t{pattern.holds[index].number});
    }
}

}  // namespace evenkeel::detail
