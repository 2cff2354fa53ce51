// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

namespace evenkeel::comm {

/// Room for `count` values, and for some more, so that the next step, which may have a few more, takes no memory.
template <class Value>
void make_room(std::vector<Value>& values, std::size_t count) {
    constexpr std::size_t least = 16;
    if (count > values.capacity()) {
        values.reserve(std::bit_ceil(std::max(count, least)));
    }
}

}  // namespace evenkeel::comm
