// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/parallel/detail/amounts.hpp>

namespace evenkeel {

/// How modalities meet.
enum class interaction_kind : std::uint8_t {
    contrastive,  ///< every sample's features against those of every other sample of the sync (CLIP)
    fusion,       ///< every sample's features with its own of the other modalities (cross-attention)
    join,         ///< features go from submodules to those that name them as inputs (encoders and an LLM)
};

/// What the modalities hand to each other, and what that costs. Without features it costs nothing.
///
///     evenkeel::interaction{.kind = evenkeel::interaction_kind::contrastive, .features = 1024, .batch = 600}
///
/// In every kind a submodule's `inputs` hand it the features of the samples that it works on. Contrastive and fusion
/// besides go on between all submodules that are nobody's input. The paper is about contrastive ones; the other two and
/// all costs are inferred.
struct interaction {
    interaction_kind kind = interaction_kind::contrastive;
    /// Numbers per sample that one submodule hands to another, forwards, and gets back as gradients.
    double features = 0;
    double value_bytes = 2;
    /// The samples that at least have to meet in one sync (the contrastive batch). 0: the whole global batch where they
    /// are contrasted, otherwise as few as the planner likes.
    std::uint64_t batch = 0;
    /// What a sample costs where features meet, forward and backward; a contrastive one costs 6 * features for each
    /// sample of the sync and modality that it meets.
    double flops_per_sample = 0;
    /// What a GPU achieves at that; 0: it takes no time.
    double flops_per_second = 0;

    friend bool operator==(interaction const&, interaction const&) = default;
};

/// @throws std::invalid_argument  names the first member that cannot be.
inline void require_interaction(std::string_view function, interaction const& interaction) {
    detail::require_amount(function, "interaction.features", interaction.features);
    detail::require_amount(function, "interaction.value_bytes", interaction.value_bytes);
    detail::require_amount(function, "interaction.flops_per_sample", interaction.flops_per_sample);
    detail::require_amount(function, "interaction.flops_per_second", interaction.flops_per_second);
}

}  // namespace evenkeel
