// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <variant>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/parallel/cluster.hpp>
#include <evenkeel/parallel/cluster_plan.hpp>
#include <evenkeel/parallel/collectives.hpp>
#include <evenkeel/parallel/memory.hpp>
#include <evenkeel/parallel/model.hpp>
#include <evenkeel/parallel/parallelism.hpp>
#include <evenkeel/parallel/replica_seconds.hpp>
#include <evenkeel/parallel/role.hpp>
#include <evenkeel/parallel/stages.hpp>
#include <evenkeel/parallel/submodule.hpp>
#include <evenkeel/parallel/time_model.hpp>
#include <evenkeel/pipeline/times.hpp>

namespace evenkeel {

/// Which shares of the time of a micro-batch its passes take; the gradients of weights take the rest, and a whole
/// backward as long as both kinds of gradients. A model's multiplications are as many in each of the three; with a
/// second forward instead of kept activations it is {1.0 / 4, 1.0 / 2}. Inferred.
struct pass_shares {
    double forward = 1.0 / 3;
    double input_gradient = 1.0 / 3;

    friend bool operator==(pass_shares const&, pass_shares const&) = default;
};

/// How long the stages of a replica take, in seconds, by the time model of `parallel`: nothing has to be timed that a
/// plan does not know already.
///
///     auto const times = evenkeel::modelled_times(text, role, cluster, cut, stages, load);
///     auto const drawn = evenkeel::distmm_pipe({cut.pp}, {load.micro_batches()}, {load.group});
///     evenkeel::simulate(drawn, times).end;   // replica_seconds(text, role, cluster, cut, stages, load)
///
/// A stage takes its share of what the submodule takes for a micro-batch, all-reduces included. Even stages end when
/// `replica_seconds` says, uneven ones no later. A rate per sample has ramps and messages in its figure, so each of its
/// micro-batches takes as much as makes the whole come out, and hands on no bytes.
///
/// `link` and `gather` are left at nothing: where a replica stands is not known here, and what modalities tell each
/// other is for `score` to say.
///
/// @param load    The largest replica's.
/// @throws std::invalid_argument  if the time model does not know `cut.tp`, or `stages` or `shares` cannot be.
/// @throws std::overflow_error    if the bytes of a micro-batch exceed 63 bits.
[[nodiscard]] inline pipeline_times modelled_times(submodule const& submodule, modality_role const& role,
                                                   cluster const& cluster, parallelism cut, stage_split const& stages,
                                                   replica_load const& load, pass_shares shares = {}) {
    constexpr auto function = "modelled_times";
    auto const number = [](auto count) { return static_cast<double>(count); };
    if (cut.pp == 0 || stages.shares.size() != cut.pp) {
        throw_invalid(function, "stages.shares.size()", stages.shares.size(), "cut.pp, which is at least 1");
    }
    if (!(shares.forward >= 0 && shares.input_gradient >= 0 && shares.forward + shares.input_gradient <= 1)) {
        throw_invalid(function, "shares.forward + shares.input_gradient", shares.forward + shares.input_gradient,
                      "shares from 0 to 1 together");
    }
    pipeline_times result;
    double whole = 0;
    if (auto const* const rate = std::get_if<seconds_per_sample>(&submodule.time)) {
        double const samples = number(load.syncs) * number(load.share);
        whole = samples * rate->seconds / number(cut.pp - 1 + load.micro_batches()) / stages.largest_share();
    } else {
        auto const computing = compute_seconds(submodule, load.micro_batch, cut.tp);
        if (!computing) {
            throw_invalid(function, title_of(submodule) + ".time_table", "no row for tp = " + std::to_string(cut.tp),
                          "one");
        }
        whole =
            *computing + tensor_seconds(submodule, cluster, load.micro_batch, packed(cut.tp, cluster.gpus_per_node));
        double const bytes = std::ceil(activation_volume(submodule, number(load.micro_batch)));
        if (!(bytes < std::ldexp(1.0, 63))) {
            throw std::overflow_error{"modelled_times: the bytes of a micro-batch exceed 63 bits"};
        }
        result.boundary_bytes.assign(cut.pp - 1, static_cast<std::uint64_t>(bytes));
    }
    for (auto const share : stages.shares) {
        double const both = whole * share;
        stage_times one{.forward = both * shares.forward, .input_gradient = both * shares.input_gradient};
        one.backward = both - one.forward;
        one.weight_gradient = std::fmax(0, one.backward - one.input_gradient);
        result.stages.push_back(one);
    }
    result.sync =
        number(load.share) * (role.sample_seconds + role.pair_seconds * number(load.per_sync)) / number(cut.tp);
    return result;
}

/// What connects two stages of `tp` GPUs each, with the network for themselves. A stage's GPUs send a part each: side
/// by side within a node, together through its one way out.
///
/// @param over  How the two stand: on one node or on more.
[[nodiscard]] inline link_times stage_link(cluster const& cluster, std::size_t tp, spread over) noexcept {
    if (over.nodes > 1) {
        return {.latency = cluster.inter_latency, .bandwidth = cluster.inter_bandwidth};
    }
    return {.latency = cluster.intra_latency, .bandwidth = cluster.intra_bandwidth * static_cast<double>(tp)};
}

/// The same for a replica of a plan, with the links that it stands on: those between nodes, if any two of its
/// neighbouring stages stand on different ones.
///
///     auto const plan = evenkeel::plan_cluster(model, cluster, evenkeel::global_batch{72});
///     evenkeel::modelled_times(model, cluster, plan, 0, 3);   // the first modality's fourth replica
///
/// @throws std::invalid_argument  if the plan has no such modality or replica, or is another model's.
[[nodiscard]] inline pipeline_times modelled_times(multimodal_model const& model, cluster const& cluster,
                                                   cluster_plan const& plan, std::size_t modality, std::size_t replica,
                                                   pass_shares shares = {}) {
    constexpr auto function = "modelled_times";
    if (plan.modalities.size() != model.submodules.size()) {
        throw_invalid(function, "plan.modalities.size()", plan.modalities.size(),
                      std::to_string(model.submodules.size()) + ", one for each submodule");
    }
    if (modality >= plan.modalities.size()) {
        throw_invalid(function, "modality", modality, "less than " + std::to_string(plan.modalities.size()));
    }
    auto const& own = plan.modalities[modality];
    if (replica >= own.load.replicas) {
        throw_invalid(function, "replica", replica, "less than " + std::to_string(own.load.replicas));
    }
    auto const cut = own.deployment.cut;
    auto const& submodule = model.submodules[modality];
    auto result = modelled_times(submodule, roles_of(model)[modality], cluster, cut, own.stages, own.load, shares);
    if (result.boundary_bytes.empty()) {
        return result;
    }
    auto const node_of = [&](std::size_t stage) {
        return cluster.node_of(plan.placement.gpu_of(modality, cut, replica, stage, 0));
    };
    spread over;
    for (std::size_t stage = 1; stage < cut.pp; ++stage) {
        over.nodes = node_of(stage) == node_of(stage - 1) ? over.nodes : 2;
    }
    result.link = stage_link(cluster, cut.tp, over);
    return result;
}

}  // namespace evenkeel
