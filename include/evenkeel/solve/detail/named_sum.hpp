// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <evenkeel/core/checked.hpp>

namespace evenkeel::detail {

/// a + b, or an error that names who adds what. Makes no string unless it is needed.
[[nodiscard]] inline std::uint64_t named_sum(std::uint64_t a, std::uint64_t b, std::string_view function,
                                             std::string_view what) {
    std::uint64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) {
        return checked_add(a, b, std::string{function}.append(": ").append(what));
    }
    return sum;
}

}  // namespace evenkeel::detail
