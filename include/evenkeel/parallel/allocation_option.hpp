// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>

namespace evenkeel {

/// Something that a modality could be given: so many GPUs, on which its part of a step takes so long. Ordered as
/// `allocate` prefers them.
struct allocation_option {
    std::size_t gpus = 0;
    double seconds = 0;

    friend auto operator<=>(allocation_option const&, allocation_option const&) = default;
    friend bool operator==(allocation_option const&, allocation_option const&) = default;
};

}  // namespace evenkeel
