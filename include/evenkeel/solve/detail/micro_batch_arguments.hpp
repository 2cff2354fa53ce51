// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/solve/detail/arguments.hpp>
#include <evenkeel/solve/micro_batch_options.hpp>

namespace evenkeel::detail {

/// Refuses options that make no sense or contradict another.
inline void require_micro_batches(std::size_t ranks, micro_batch_options const& options) {
    require_counts("micro_batches", 0, {ranks});
    if (!(options.tolerance >= 0)) {
        throw_invalid("micro_batches", "options.tolerance", options.tolerance, "at least 0");
    }
    if (options.multiple_of == 0) {
        throw_invalid("micro_batches", "options.multiple_of", 0, "at least 1");
    }
    if (options.count % options.multiple_of != 0) {
        throw_invalid("micro_batches", "options.count", options.count,
                      "a multiple of options.multiple_of = " + std::to_string(options.multiple_of));
    }
    if (options.count != 0 && options.count < options.at_least) {
        throw_invalid("micro_batches", "options.count", options.count,
                      "no fewer than options.at_least = " + std::to_string(options.at_least));
    }
    if (std::max(options.at_least, options.multiple_of) > max_items) {
        throw_invalid("micro_batches", "options.at_least or options.multiple_of",
                      std::max(options.at_least, options.multiple_of), "fewer than 2^32");
    }
    if (options.count > max_items / ranks) {
        throw_invalid(
            "micro_batches", "options.count", options.count,
            "at most " + std::to_string(max_items / ranks) + ", as ranks * micro-batches are fewer than 2^32");
    }
}

}  // namespace evenkeel::detail
