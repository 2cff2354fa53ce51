// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace evenkeel::detail {

/// An item that a node may give away: its weight, what moving it costs, and its number.
struct export_item {
    std::uint64_t weight;
    std::uint64_t cost;
    std::uint32_t item;
};

}  // namespace evenkeel::detail
