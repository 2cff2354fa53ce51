// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <evenkeel/parallel/in_flight.hpp>
#include <evenkeel/parallel/model.hpp>

namespace evenkeel {

/// What the interaction asks of one submodule, in memory and time.
struct modality_role {
    /// How many submodules a sample has been through before.
    std::size_t level = 0;
    pipeline_order order = pipeline_order::batch_sync;

    /// Bytes on the first stage for each sample in flight: what its inputs hand to it.
    double input_bytes = 0;
    /// Bytes on the last stage for each of the replica's samples of a sync: its own features and those fused with them.
    double output_bytes = 0;
    /// Bytes on the last stage for each sample of the sync: gathered features.
    double gathered_bytes = 0;
    /// Bytes on the last stage for each pair of an own sample and one of the sync: similarities.
    double pair_bytes = 0;
    /// Seconds per own sample, and per such pair; both cut over the tensor-parallel GPUs.
    double sample_seconds = 0;
    double pair_seconds = 0;

    friend bool operator==(modality_role const&, modality_role const&) = default;
};

/// The role of each submodule.
///
/// That every GPU holds similarities of its own samples with the whole sync's and runs its part of the interaction is
/// the paper's ("evenly distributed"); the bytes and FLOPs are inferred from the shapes.
[[nodiscard]] inline std::vector<modality_role> roles_of(multimodal_model const& model) {
    auto const& meeting = model.interaction;
    double const feature_bytes = meeting.features * meeting.value_bytes;
    double const per_flop = meeting.flops_per_second == 0 ? 0 : 1 / meeting.flops_per_second;
    auto const levels = levels_of(model);
    std::vector<modality_role> roles(model.submodules.size());
    std::vector<bool> hands_on(roles.size());
    std::vector<bool> shows_features(roles.size());
    std::vector<bool> takes_features(roles.size());
    for (auto const& flow : feature_flows(model)) {
        auto& role = roles[flow.consumer];
        shows_features[flow.producer] = true;
        bool const is_input = flow.kind == flow_kind::input;
        hands_on[flow.producer] = hands_on[flow.producer] || is_input;
        if (flow.kind == flow_kind::gathered) {
            role.gathered_bytes += feature_bytes;
            role.pair_bytes += meeting.features == 0 ? 0 : meeting.value_bytes;
            role.pair_seconds += 6 * meeting.features * per_flop;
        } else {
            takes_features[flow.consumer] = true;
            (is_input ? role.input_bytes : role.output_bytes) += feature_bytes;
        }
    }
    for (std::size_t i = 0; i < roles.size(); ++i) {
        auto& role = roles[i];
        role.level = levels[i];
        role.order = hands_on[i]                              ? pipeline_order::one_group_ahead
                     : meeting.kind == interaction_kind::join ? pipeline_order::one_f_one_b
                                                              : pipeline_order::batch_sync;
        role.output_bytes += shows_features[i] ? feature_bytes : 0;
        role.sample_seconds = takes_features[i] ? meeting.flops_per_sample * per_flop : 0;
    }
    return roles;
}

}  // namespace evenkeel
