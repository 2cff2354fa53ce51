// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/parallel/interaction.hpp>
#include <evenkeel/parallel/submodule.hpp>

namespace evenkeel {

/// What is trained: submodules and how they meet.
struct multimodal_model {
    std::vector<submodule> submodules = {};
    evenkeel::interaction interaction = {};

    friend bool operator==(multimodal_model const&, multimodal_model const&) = default;
};

/// The most submodules of a model.
inline constexpr std::size_t max_submodules = 256;

/// Why a submodule takes in another's features.
enum class flow_kind : std::uint8_t {
    input,     ///< it works on them, from its first stage on
    fused,     ///< its last stage fuses them with its own, sample by sample
    gathered,  ///< its last stage compares its own with those of all samples of the sync
};

/// Features on their way from one submodule to another.
struct feature_flow {
    std::size_t producer = 0;
    std::size_t consumer = 0;
    flow_kind kind = flow_kind::input;

    friend bool operator==(feature_flow const&, feature_flow const&) = default;
};

namespace detail {

[[nodiscard]] inline std::optional<std::size_t> position_of(multimodal_model const& model, std::string_view name) {
    auto const found = std::ranges::find(model.submodules, name, &submodule::name);
    return found == model.submodules.end() ? std::nullopt
                                           : std::optional{static_cast<std::size_t>(found - model.submodules.begin())};
}

/// Submodules each of which waits for the next, the last for the first, where not every submodule has a level.
[[nodiscard]] inline std::vector<std::size_t> cycle_of(multimodal_model const& model,
                                                       std::vector<std::optional<std::size_t>> const& levels) {
    auto at = static_cast<std::size_t>(std::ranges::find(levels, std::optional<std::size_t>{}) - levels.begin());
    std::vector<std::size_t> path;
    while (std::ranges::find(path, at) == path.end()) {
        path.push_back(at);
        for (auto const& input : model.submodules[at].inputs) {
            auto const next = *position_of(model, input);
            if (!levels[next]) {
                at = next;
                break;
            }
        }
    }
    path.erase(path.begin(), std::ranges::find(path, at));
    return path;
}

}  // namespace detail

/// How many submodules a sample goes through before each, at most: 0 for towers and encoders, 1 for the LLM behind
/// them.
///
/// @throws std::invalid_argument  if an input is unknown or named twice, or submodules wait for each other in a cycle,
///                                which it names.
[[nodiscard]] inline std::vector<std::size_t> levels_of(multimodal_model const& model,
                                                        std::string_view function = "levels_of") {
    auto const& all = model.submodules;
    for (auto const& one : all) {
        for (std::size_t i = 0; i < one.inputs.size(); ++i) {
            auto const name = element(title_of(one) + ".inputs", i);
            if (!detail::position_of(model, one.inputs[i])) {
                throw_invalid(function, name, "'" + one.inputs[i] + "'", "the name of a submodule");
            }
            auto const here = one.inputs.begin() + static_cast<std::ptrdiff_t>(i);
            if (std::find(one.inputs.begin(), here, one.inputs[i]) != here) {
                throw_invalid(function, name, "'" + one.inputs[i] + "'", "every input once");
            }
        }
    }
    std::vector<std::optional<std::size_t>> levels(all.size());
    // A level is known once those of all inputs are: a model without cycles has them after as many passes as levels.
    for (bool found = true; found;) {
        found = false;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (levels[i]) {
                continue;
            }
            std::size_t level = 0;
            bool const known = std::ranges::all_of(all[i].inputs, [&](std::string const& input) {
                auto const below = levels[*detail::position_of(model, input)];
                level = std::max(level, below.value_or(0) + 1);
                return below.has_value();
            });
            if (known) {
                levels[i] = level;
                found = true;
            }
        }
    }
    if (std::ranges::find(levels, std::optional<std::size_t>{}) != levels.end()) {
        auto const cycle = detail::cycle_of(model, levels);
        auto text = all[cycle.front()].name;
        for (std::size_t i = 1; i <= cycle.size(); ++i) {
            text.append(" <- ").append(all[cycle[i % cycle.size()]].name);
        }
        throw_invalid(function, title_of(all[cycle.front()]) + ".inputs", text, "a model without cycles");
    }
    std::vector<std::size_t> result;
    for (auto const& level : levels) {
        result.push_back(*level);
    }
    return result;
}

/// Which features go where: along `inputs`, and between all submodules that are nobody's input.
///
/// In the order of consumers, then producers.
[[nodiscard]] inline std::vector<feature_flow> feature_flows(multimodal_model const& model) {
    auto const& all = model.submodules;
    auto const feeds = [&](std::size_t producer, std::size_t consumer) {
        return std::ranges::find(all[consumer].inputs, all[producer].name) != all[consumer].inputs.end();
    };
    auto const is_end = [&](std::size_t one) {
        for (std::size_t other = 0; other < all.size(); ++other) {
            if (feeds(one, other)) {
                return false;
            }
        }
        return true;
    };
    std::vector<feature_flow> flows;
    for (std::size_t consumer = 0; consumer < all.size(); ++consumer) {
        for (std::size_t producer = 0; producer < all.size(); ++producer) {
            if (feeds(producer, consumer)) {
                flows.push_back({producer, consumer, flow_kind::input});
            } else if (model.interaction.kind != interaction_kind::join && producer != consumer && is_end(producer) &&
                       is_end(consumer)) {
                bool const contrasts = model.interaction.kind == interaction_kind::contrastive;
                flows.push_back({producer, consumer, contrasts ? flow_kind::gathered : flow_kind::fused});
            }
        }
    }
    return flows;
}

/// Refuses a model that cannot be trained as described.
///
/// @throws std::invalid_argument  names the submodule and what is wrong with it.
inline void require_model(std::string_view function, multimodal_model const& model) {
    if (model.submodules.empty()) {
        throw_invalid(function, "model.submodules", "[]", "at least one submodule");
    }
    if (model.submodules.size() > max_submodules) {
        throw_invalid(function, "model.submodules.size()", model.submodules.size(),
                      "at most " + std::to_string(max_submodules));
    }
    for (std::size_t i = 0; i < model.submodules.size(); ++i) {
        require_submodule(function, model.submodules[i]);
        if (*detail::position_of(model, model.submodules[i].name) != i) {
            throw_invalid(function, element("model.submodules", i) + ".name", "'" + model.submodules[i].name + "'",
                          "a name of its own");
        }
    }
    require_interaction(function, model.interaction);
    auto const levels = levels_of(model, function);
    if (model.interaction.kind == interaction_kind::join && *std::ranges::max_element(levels) == 0) {
        throw_invalid(function, "interaction.kind", "join", "a submodule with inputs that it can join");
    }
}

}  // namespace evenkeel
