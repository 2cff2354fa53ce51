// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/errors.hpp>
#include <evenkeel/parallel/submodule.hpp>

namespace evenkeel {

/// Cuts a stack of layers into consecutive stages so that the heaviest stage is as light as possible.
///
///     evenkeel::split_layers(std::vector<std::uint64_t>{9, 1, 1, 1, 1, 1}, 2);   // {0, 1, 6}: 9 | 1 1 1 1 1
///
/// The linear-partition dynamic programme, so no cut is better. Among the best it takes, from the end, the stages that
/// are nearest to an even share: the first stages hold most micro-batches in flight and should not be the full ones.
///
/// @return  Where each stage begins, and the number of layers; no stage is empty.
/// @throws std::invalid_argument  if there are fewer layers than stages, or no stage.
/// @throws std::overflow_error    if the weight of all layers, times the stages, exceeds 64 bits.
/// @complexity O(stages * layers * log layers)
[[nodiscard]] inline std::vector<std::size_t> split_layers(std::span<std::uint64_t const> weights, std::size_t stages) {
    std::size_t const layers = weights.size();
    if (stages == 0 || stages > layers) {
        throw_invalid("split_layers", "stages", stages, "from 1 to the " + std::to_string(layers) + " layers");
    }
    std::vector<std::uint64_t> before(layers + 1);
    for (std::size_t layer = 0; layer < layers; ++layer) {
        before[layer + 1] = checked_add(before[layer], weights[layer], "split_layers: the weight of all layers");
    }
    static_cast<void>(checked_multiply(before[layers], stages, "split_layers: stages times the weight of all layers"));
    auto const weight = [&](std::size_t first, std::size_t last) { return before[last] - before[first]; };

    // heaviest[p][l]: the heaviest of p stages over the first l layers.
    std::vector<std::vector<std::uint64_t>> heaviest(stages + 1, std::vector<std::uint64_t>(layers + 1));
    heaviest[0].assign(layers + 1, std::numeric_limits<std::uint64_t>::max());
    for (std::size_t last = 1; last <= layers; ++last) {
        heaviest[1][last] = before[last];
    }
    for (std::size_t stage = 2; stage <= stages; ++stage) {
        auto const& fewer = heaviest[stage - 1];
        for (std::size_t last = stage; last <= layers; ++last) {
            // A later cut makes what is before it heavier and what is behind it lighter: the best is where they meet.
            std::size_t low = stage - 1;
            std::size_t high = last - 1;
            while (low < high) {
                std::size_t const middle = low + (high - low) / 2;
                (fewer[middle] >= weight(middle, last)) ? high = middle : low = middle + 1;
            }
            auto best = std::max(fewer[low], weight(low, last));
            if (low > stage - 1) {
                best = std::min(best, std::max(fewer[low - 1], weight(low - 1, last)));
            }
            heaviest[stage][last] = best;
        }
    }

    std::uint64_t const most = heaviest[stages][layers];
    std::vector<std::size_t> starts(stages + 1);
    starts[stages] = layers;
    for (std::size_t stage = stages; stage > 1; --stage) {
        std::size_t const last = starts[stage];
        std::size_t best = last - 1;
        std::uint64_t nearest = std::numeric_limits<std::uint64_t>::max();
        for (std::size_t first = stage - 1; first < last; ++first) {
            if (weight(first, last) > most || heaviest[stage - 1][first] > most) {
                continue;
            }
            // In units of weight / stage, which are whole.
            auto const own = weight(first, last) * stage;
            auto const distance = own > before[last] ? own - before[last] : before[last] - own;
            if (distance < nearest) {
                nearest = distance;
                best = first;
            }
        }
        starts[stage - 1] = best;
    }
    return starts;
}

/// The stages of a submodule: where they begin, and the share of the whole that each holds.
struct stage_split {
    std::vector<std::size_t> starts = {};
    std::vector<double> shares = {};

    [[nodiscard]] double largest_share() const noexcept { return *std::ranges::max_element(shares); }

    friend bool operator==(stage_split const&, stage_split const&) = default;
};

/// Cuts a submodule: by `layer_weights` where given, into equal numbers of layers otherwise.
[[nodiscard]] inline stage_split split_stages(submodule const& submodule, std::size_t stages) {
    stage_split result;
    std::uint64_t total = 0;
    std::vector<std::uint64_t> weights = submodule.layer_weights;
    if (weights.empty()) {
        weights.assign(submodule.layers, 1);
        // The dynamic programme's answer for equal layers, without its cost for a thousand of them.
        for (std::size_t stage = 0; stage <= stages; ++stage) {
            result.starts.push_back(stage * submodule.layers / stages);
        }
    } else {
        result.starts = split_layers(weights, stages);
    }
    for (auto const weight : weights) {
        total += weight;
    }
    for (std::size_t stage = 0; stage < stages; ++stage) {
        std::uint64_t own = 0;
        for (std::size_t layer = result.starts[stage]; layer < result.starts[stage + 1]; ++layer) {
            own += weights[layer];
        }
        result.shares.push_back(static_cast<double>(own) / static_cast<double>(total));
    }
    return result;
}

}  // namespace evenkeel
