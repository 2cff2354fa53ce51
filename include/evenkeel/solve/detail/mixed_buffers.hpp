// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <evenkeel/solve/detail/mixed_complete.hpp>
#include <evenkeel/solve/detail/mixed_exchange.hpp>
#include <evenkeel/solve/detail/mixed_patterns.hpp>
#include <evenkeel/solve/detail/mixed_search.hpp>
#include <evenkeel/solve/detail/mixed_sizes.hpp>

namespace evenkeel::detail {

/// What a rank has taken on.
struct mixed_load {
    std::uint64_t count = 0;    ///< of items
    std::uint64_t packed = 0;   ///< their packed weight
    std::uint32_t longest = 0;  ///< the size of the first
};

/// What `balance` of a `mixed_model` remembers beside what all solvers do.
struct mixed_buffers {
    void reserve(std::size_t count, std::size_t ranks) {
        sizes.reserve(count);
        searching.reserve(count);
        exchanging.reserve(count, ranks);
        cursors.reserve(count + 1);
        loads.reserve(ranks);
    }

    std::vector<std::uint64_t> padded;  ///< weights of the whole batch
    mixed_sizes sizes;
    mixed_search searching;
    mixed_patterns patterns;
    mixed_exchange exchanging;
    mixed_complete complete;
    std::vector<std::uint32_t> cursors;  ///< the next item of each size
    std::vector<mixed_load> loads;       ///< of each rank
};

}  // namespace evenkeel::detail
