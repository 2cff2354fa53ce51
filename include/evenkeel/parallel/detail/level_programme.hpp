// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <evenkeel/parallel/allocation_option.hpp>
#include <evenkeel/parallel/detail/amounts.hpp>

namespace evenkeel::detail {

/// From so many GPUs on it takes so long: lists of these rise in GPUs and fall in seconds.
using time_step = allocation_option;

inline constexpr double never = std::numeric_limits<double>::infinity();

/// What more GPUs buy one modality.
[[nodiscard]] inline std::vector<time_step> time_steps(std::vector<allocation_option> options, std::size_t gpus) {
    std::ranges::sort(options);
    std::vector<time_step> steps;
    for (auto const& option : options) {
        if (option.gpus <= gpus && (steps.empty() || option.seconds < steps.back().seconds)) {
            steps.push_back(option);
        }
    }
    return steps;
}

/// What more GPUs buy modalities that work side by side, the slowest of which counts: F(i, n) after the last i.
[[nodiscard]] inline std::vector<time_step> slowest_of(std::span<std::vector<time_step> const> modalities,
                                                       std::size_t gpus) {
    std::vector<double> slowest(gpus + 1, 0.0);
    std::vector<double> next(gpus + 1);
    for (auto const& steps : modalities) {
        for (std::size_t n = 0; n <= gpus; ++n) {
            // With each further step this modality gets faster and those before it, on what is left, slower: the best
            // is where they cross.
            auto const fits =
                static_cast<std::size_t>(std::ranges::upper_bound(steps, n, {}, &time_step::gpus) - steps.begin());
            std::size_t low = 0;
            std::size_t high = fits;
            while (low < high) {
                std::size_t const middle = low + (high - low) / 2;
                (slowest[n - steps[middle].gpus] >= steps[middle].seconds) ? high = middle : low = middle + 1;
            }
            next[n] = low < fits ? slowest[n - steps[low].gpus] : never;
            if (low > 0) {
                next[n] = std::min(next[n], steps[low - 1].seconds);
            }
        }
        slowest.swap(next);
    }
    std::vector<time_step> result;
    for (std::size_t n = 0; n <= gpus; ++n) {
        if (slowest[n] < (result.empty() ? never : result.back().seconds)) {
            result.push_back({n, slowest[n]});
        }
    }
    return result;
}

/// One way to share the first n GPUs between the first levels.
struct shared_gpus {
    double busiest = 0;
    double through = 0;
    std::size_t gpus = 0;
    std::size_t step = 0;    ///< of the last of these levels
    std::size_t before = 0;  ///< among the ways of the levels before
};

/// The ways that no other beats in all of `busiest`, `through` and `gpus`.
[[nodiscard]] inline std::vector<shared_gpus> unbeaten(std::vector<shared_gpus> ways) {
    std::ranges::stable_sort(ways, [](shared_gpus const& a, shared_gpus const& b) {
        return std::tie(a.gpus, a.busiest, a.through) < std::tie(b.gpus, b.busiest, b.through);
    });
    // Of the ways on as many or fewer GPUs, those that trade `busiest` (rising) for `through` (falling).
    std::vector<std::pair<double, double>> front;
    std::vector<shared_gpus> result;
    for (auto const& way : ways) {
        auto const after = std::ranges::upper_bound(front, way.busiest, {}, &std::pair<double, double>::first);
        if (after != front.begin() && std::prev(after)->second <= way.through) {
            continue;
        }
        result.push_back(way);
        auto first = std::ranges::lower_bound(front, way.busiest, {}, &std::pair<double, double>::first);
        auto last = first;
        while (last != front.end() && last->second >= way.through) {
            ++last;
        }
        first = front.erase(first, last);
        front.insert(first, {way.busiest, way.through});
    }
    return result;
}

/// Shares the GPUs between levels so that `combined` is least.
///
/// @param levels  Per level, what more GPUs buy it.
/// @return        Per level, how long it may take; nothing where the levels do not all fit.
[[nodiscard]] inline std::optional<std::vector<double>> share_between_levels(
    std::span<std::vector<time_step> const> levels, std::size_t gpus, std::uint64_t syncs) {
    auto const parts = static_cast<double>(syncs);
    auto const seconds_of = [&](double busiest, double through) { return busiest + (through - busiest) / parts; };
    std::vector<std::vector<shared_gpus>> ways{{shared_gpus{}}};
    auto const fastest = slowest_of(levels, gpus);
    if (fastest.empty()) {
        return std::nullopt;
    }
    // Ways that are slower than all levels at that pace lead nowhere. A little above it, as sums are rounded.
    double const all_levels = fastest.back().seconds * static_cast<double>(levels.size());
    double const reached = seconds_of(fastest.back().seconds, all_levels) * (1 + 1e-9);
    auto const key = [&](shared_gpus const& way) {
        return std::pair{rounded(seconds_of(way.busiest, way.through)), way.gpus};
    };
    for (std::size_t level = 0; level < levels.size(); ++level) {
        bool const is_last = level + 1 == levels.size();
        auto const& steps = levels[level];
        std::vector<shared_gpus> longer;
        for (std::size_t before = 0; before < ways.back().size(); ++before) {
            auto const& way = ways.back()[before];
            for (std::size_t step = 0; step < steps.size() && way.gpus + steps[step].gpus <= gpus; ++step) {
                shared_gpus const next{.busiest = std::max(way.busiest, steps[step].seconds),
                                       .through = way.through + steps[step].seconds,
                                       .gpus = way.gpus + steps[step].gpus,
                                       .step = step,
                                       .before = before};
                if (seconds_of(next.busiest, next.through) > reached) {
                    continue;
                }
                if (!is_last || longer.empty()) {
                    longer.push_back(next);
                } else if (key(next) < key(longer.front())) {
                    longer.front() = next;
                }
            }
        }
        ways.push_back(is_last ? std::move(longer) : unbeaten(std::move(longer)));
    }
    std::vector<double> limits(levels.size());
    std::size_t at = 0;
    for (std::size_t level = levels.size(); level > 0; --level) {
        auto const& way = ways[level][at];
        limits[level - 1] = levels[level - 1][way.step].seconds;
        at = way.before;
    }
    return limits;
}

}  // namespace evenkeel::detail
