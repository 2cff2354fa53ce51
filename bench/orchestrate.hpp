// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace evenkeel::bench {

/// Adds the rows `orchestrate/...` of made-up steps: how long it takes to plan a whole step, and what it then moves.
///
/// A row stands for 12 seeds; see measure.hpp for its times. Every column but `text` is an encoder of its name, and
/// all bytes are those of the main job at full size, forward and backward, on nodes of 8. Workloads: `tri_modal`, one
/// unit per sample; `tri_modal_text5`, the same with 5 % of the samples text alone instead of 30; `tri_modal_images`,
/// every fourth sample with two to eight images; `..._clips`, video in units of 1024 tokens. Subjects: `evenkeel`, all
/// phases together, in a workspace; `evenkeel_3e-3`, the same with that tolerance; `alone`, each phase for itself from
/// where samples were drawn; `llm_only`, encoders where the balanced LLM has their samples; `published`, each from
/// scratch, then relabelled; all composed. Counters, medians unless stated: `inter_node_mb`; `over_bound` and
/// `worst_over_bound`, the same over `bound_of`; `worst_busiest`, the busiest node over its bound; `embeddings`, the
/// largest share of outputs and gradients in the bytes between nodes; `gap`, the worst of all phases; `load_<phase>`,
/// its busiest rank over the lower bound; `composed`, bytes of outputs over those if they go home first.
void add_orchestrate_rows();

/// The same of the *.csv files of several columns in `folder`.
void add_orchestrate_rows(std::filesystem::path const& folder);

}  // namespace evenkeel::bench
