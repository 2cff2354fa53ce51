// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/parallel/allocation_option.hpp>
#include <evenkeel/parallel/cluster.hpp>
#include <evenkeel/parallel/deployment.hpp>
#include <evenkeel/parallel/detail/level_programme.hpp>

namespace evenkeel {

/// Which option each modality takes.
struct allocation {
    std::vector<std::size_t> chosen = {};  ///< per modality, the position in its options
    gpu_count gpus = {};
    double seconds = 0;

    friend bool operator==(allocation const&, allocation const&) = default;
};

/// Gives each modality so many GPUs that the step is as short as it can be: the data load balancer.
///
///     using options = std::vector<evenkeel::allocation_option>;
///     auto const modalities = std::vector{options{{.gpus = 1, .seconds = 12}, {.gpus = 2, .seconds = 6}},
///                                         options{{.gpus = 3, .seconds = 7}}};
///     evenkeel::allocate(modalities, evenkeel::gpu_count{8});   // 2 and 3 GPUs, 7 seconds; 3 GPUs stay idle
///
/// F(i, n) = min over options of i with d <= n GPUs of max(F(i - 1, n - d), seconds of the option); F(0, n) = 0. The
/// optimum of the options given. GPUs stay idle where they do not help. The paper gives the objective and says that it
/// is solved by dynamic programming; the recurrence is inferred.
///
/// With levels (encoders, then an LLM) it minimises `combined`: each level by the recurrence, then, over the ways to
/// share the GPUs between levels, the busiest level and the sum of all. Inferred; exact as well.
///
/// Equally fast ones: fewer GPUs, then for each modality the fastest option on its fewest GPUs, then the first in
/// order.
///
/// @param modalities  Per modality, what it could be given; in any order.
/// @param levels      Per modality; empty: all side by side.
/// @param syncs       How finely levels overlap.
/// @return            Nothing where not even the smallest options fit.
/// @throws std::invalid_argument  if an option has no GPU or a time that is none, there are more than `max_gpus`, or
///                                `levels` has another size.
/// @complexity O(modalities * gpus * log gpus + options * log options) with one level.
[[nodiscard]] inline std::optional<allocation> allocate(std::span<std::vector<allocation_option> const> modalities,
                                                        gpu_count gpus, std::span<std::size_t const> levels = {},
                                                        std::uint64_t syncs = 1) {
    if (!levels.empty() && levels.size() != modalities.size()) {
        throw_invalid("allocate", "levels.size()", levels.size(), "one for each modality, or none");
    }
    if (gpus.value > max_gpus) {
        throw_invalid("allocate", "gpus", gpus.value, "at most " + std::to_string(max_gpus));
    }
    if (syncs == 0) {
        throw_invalid("allocate", "syncs", 0, "at least 1");
    }
    for (std::size_t i = 0; i < modalities.size(); ++i) {
        for (std::size_t option = 0; option < modalities[i].size(); ++option) {
            auto const name = [&] { return element(element("modalities", i), option); };
            if (modalities[i][option].gpus == 0) {
                throw_invalid("allocate", name() + ".gpus", 0, "at least 1");
            }
            double const seconds = modalities[i][option].seconds;
            if (!(seconds >= 0) || seconds > std::numeric_limits<double>::max()) {
                throw_invalid("allocate", name() + ".seconds", seconds, "a time of at least 0");
            }
        }
    }

    std::size_t const depth = levels.empty() ? 1 : *std::ranges::max_element(levels) + 1;
    std::vector<std::vector<detail::time_step>> envelopes;
    for (std::size_t level = 0; level < depth; ++level) {
        std::vector<std::vector<detail::time_step>> of_level;
        for (std::size_t i = 0; i < modalities.size(); ++i) {
            if (levels.empty() || levels[i] == level) {
                of_level.push_back(detail::time_steps(modalities[i], gpus.value));
            }
        }
        envelopes.push_back(detail::slowest_of(of_level, gpus.value));
    }
    auto const limits = detail::share_between_levels(envelopes, gpus.value, syncs);
    if (!limits) {
        return std::nullopt;
    }

    allocation result;
    std::vector<double> seconds;
    for (std::size_t i = 0; i < modalities.size(); ++i) {
        double const limit = (*limits)[levels.empty() ? 0 : levels[i]];
        auto const& options = modalities[i];
        std::size_t best = options.size();
        for (std::size_t option = 0; option < options.size(); ++option) {
            if (options[option].seconds <= limit && (best == options.size() || options[option] < options[best])) {
                best = option;
            }
        }
        result.chosen.push_back(best);
        result.gpus.value += options[best].gpus;
        seconds.push_back(options[best].seconds);
    }
    std::vector<std::size_t> const flat(modalities.size());
    result.seconds = combined(seconds, levels.empty() ? flat : levels, syncs);
    return result;
}

}  // namespace evenkeel
