// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace evenkeel::bench {

/// Adds the rows `orchestrate/...` of made-up steps: how long it takes to plan a whole step, and what it then moves.
///
/// A row stands for 12 seeds; see measure.hpp for its times. Every column but `text` is an encoder of its name, and all
/// bytes are those of the main job at full size, forward and backward, on nodes of 8. Subjects: `evenkeel`, all phases
/// together; `evenkeel_3e-3`, the same with that tolerance; `alone`, each phase for itself from where samples were drawn;
/// `published`, each from scratch, then relabelled; all composed. Counters, medians unless stated: `inter_node_mb`;
/// `over_bound` and `worst_over_bound`, the same over `bound_of`; `worst_busiest`, the busiest node over its bound;
/// `embeddings`, the largest share of outputs and gradients in the bytes between nodes; `gap`, the worst of all phases.
void add_orchestrate_rows();

/// The same of the *.csv files of several columns in `folder`.
void add_orchestrate_rows(std::filesystem::path const& folder);

}  // namespace evenkeel::bench
