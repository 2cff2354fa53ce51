// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/parallel/cluster.hpp>
#include <evenkeel/parallel/detail/amounts.hpp>
#include <evenkeel/parallel/time_model.hpp>

namespace evenkeel {

/// One modality's part of a model: a tower, an encoder, the LLM. A stack of layers that may be cut into stages
/// (pipeline) and whose layers may be cut over GPUs (tensor parallelism).
///
///     evenkeel::submodule{.name = "vision", .layers = 24, .parameters = 760e6, .hidden = 1536, .tokens = 442,
///                         .activation_bytes = 1.1e9, .time = evenkeel::flops_time{.flops_per_second = 125e12}}
struct submodule {
    std::string name = {};
    std::size_t layers = 1;
    double parameters = 0;
    std::size_t hidden = 0;
    /// Where given, a tensor-parallel degree has to divide them.
    std::size_t heads = 0;
    /// Per sample.
    double tokens = 0;
    /// Of one number that goes from one layer to the next. With `hidden` and `tokens` it is what stages hand on and,
    /// where the time model does not include it, what tensor-parallel GPUs reduce.
    double value_bytes = 2;

    /// Per parameter.
    double weight_bytes = 2;
    double gradient_bytes = 2;
    double optimizer_bytes = 12;
    /// The optimiser's states are cut over the replicas (ZeRO-1).
    bool shard_optimizer = false;
    /// Of all layers, per sample, from its forward to its backward.
    double activation_bytes = 0;

    time_model time = {};

    /// How heavy each layer is, in time, parameters and activations alike; empty: all the same.
    std::vector<std::uint64_t> layer_weights = {};

    /// Degrees to choose from; empty: all that make sense on the cluster.
    std::vector<std::size_t> tp = {};
    std::vector<std::size_t> pp = {};
    /// Numbers of replicas to choose from; empty: any.
    std::vector<std::size_t> replicas = {};
    /// Sizes to choose from; empty: powers of two and the share of a replica over its stages.
    std::vector<std::uint64_t> micro_batches = {};

    /// The submodules whose features this one takes in: an LLM's encoders. A tower has none.
    std::vector<std::string> inputs = {};

    friend bool operator==(submodule const&, submodule const&) = default;
};

namespace detail {

template <class Count>
void require_choices(std::string_view function, std::string const& name, std::vector<Count> const& choices,
                     Count most) {
    for (std::size_t i = 0; i < choices.size(); ++i) {
        if (choices[i] == 0 || choices[i] > most) {
            throw_invalid(function, element(name, i), choices[i], "from 1 to " + std::to_string(most));
        }
        auto const here = choices.begin() + static_cast<std::ptrdiff_t>(i);
        if (std::find(choices.begin(), here, choices[i]) != here) {
            throw_invalid(function, element(name, i), choices[i], "every choice once");
        }
    }
}

}  // namespace detail

/// The most layers of a submodule, and the most samples of a global batch.
inline constexpr std::size_t max_layers = 4096;
inline constexpr std::uint64_t max_batch = std::uint64_t{1} << 40U;

/// How errors call a submodule.
[[nodiscard]] inline std::string title_of(submodule const& submodule) { return "submodule '" + submodule.name + "'"; }

/// Refuses a submodule with a number that cannot be.
///
/// @throws std::invalid_argument  names the submodule and the member.
inline void require_submodule(std::string_view function, submodule const& submodule) {
    auto const owner = title_of(submodule);
    if (submodule.name.empty()) {
        throw_invalid(function, "submodule.name", "''", "a name");
    }
    if (submodule.layers == 0 || submodule.layers > max_layers) {
        throw_invalid(function, owner + ".layers", submodule.layers, "from 1 to " + std::to_string(max_layers));
    }
    auto const amount = [&](char const* member, double value) {
        detail::require_amount(function, owner + member, value);
    };
    amount(".parameters", submodule.parameters);
    amount(".tokens", submodule.tokens);
    amount(".value_bytes", submodule.value_bytes);
    amount(".weight_bytes", submodule.weight_bytes);
    amount(".gradient_bytes", submodule.gradient_bytes);
    amount(".optimizer_bytes", submodule.optimizer_bytes);
    amount(".activation_bytes", submodule.activation_bytes);
    detail::require_time_model(function, owner, submodule.time);
    if (auto const* const flops = std::get_if<flops_time>(&submodule.time)) {
        if (flops->flops_per_sample == 0 && submodule.parameters * submodule.tokens == 0) {
            throw_invalid(function, owner + ".flops.per_sample", 0,
                          "more than 0 where parameters or tokens are not given");
        }
        if (flops->half_efficiency > 0 && (submodule.tokens == 0 || submodule.hidden == 0)) {
            throw_invalid(function, owner + ".flops.half_efficiency", flops->half_efficiency,
                          "0 where tokens or hidden are not given");
        }
    }
    if (!submodule.layer_weights.empty()) {
        if (submodule.layer_weights.size() != submodule.layers) {
            throw_invalid(function, owner + ".layer_weights.size()", submodule.layer_weights.size(),
                          "one for each of the " + std::to_string(submodule.layers) + " layers");
        }
        for (std::size_t layer = 0; layer < submodule.layers; ++layer) {
            constexpr auto most = std::uint64_t{1} << 32U;
            if (submodule.layer_weights[layer] == 0 || submodule.layer_weights[layer] > most) {
                throw_invalid(function, element(owner + ".layer_weights", layer), submodule.layer_weights[layer],
                              "from 1 to " + std::to_string(most));
            }
        }
    }
    detail::require_choices(function, owner + ".tp", submodule.tp, max_gpus);
    for (std::size_t i = 0; i < submodule.tp.size(); ++i) {
        if (submodule.heads % submodule.tp[i] != 0) {
            throw_invalid(function, element(owner + ".tp", i), submodule.tp[i],
                          "a divisor of the " + std::to_string(submodule.heads) + " heads");
        }
    }
    detail::require_choices(function, owner + ".pp", submodule.pp, submodule.layers);
    detail::require_choices(function, owner + ".replicas", submodule.replicas, max_gpus);
    detail::require_choices(function, owner + ".micro_batches", submodule.micro_batches, max_batch);
}

}  // namespace evenkeel
