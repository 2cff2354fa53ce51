// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <evenkeel/parallel/cluster_plan.hpp>

#include "plan_input.hpp"

namespace evenkeel::examples {

/// Reads what is to be planned. Bytes, bytes per second, seconds; a key in brackets may be left out.
///
///     {"cluster": {"nodes", "gpus_per_node", "memory_bytes",         per GPU
///                  "intra_bandwidth", "inter_bandwidth",             of a GPU in its node; of a node, shared by all
///                  "intra_latency", "inter_latency", ["memory_reserve"]},
///      "global_batch": samples of a step,
///      "submodules": [{"name", "layers", "parameters",
///          one of   "seconds_per_sample": of a replica, ["colocated_seconds_per_sample"],
///                   "time_table": [{"micro_batch", "tp", "seconds"}, ...],
///                   "flops": {["per_sample"], "per_second", ["best_efficiency"], ["half_efficiency"]},
///          ["tp"], ["pp"], ["replicas"], ["micro_batches"]:          arrays to choose from
///          ["hidden"], ["heads"], ["tokens"], ["value_bytes"],
///          ["weight_bytes"], ["gradient_bytes"], ["optimizer_bytes"]: per parameter, ["shard_optimizer"],
///          ["activation_bytes"]: per sample, ["layer_weights"], ["inputs"]: names of submodules}, ...],
///      ["interaction"]: {["kind"]: "contrastive", "fusion", "join", or "none": contrastive without features,
///                        ["features"], ["value_bytes"], ["batch"]: samples that have to meet,
///                        ["flops_per_sample"], ["flops_per_second"]}}
///
/// What the keys mean is said at the members of `cluster`, `submodule`, `flops_time` and `interaction`.
///
/// @throws input_error  names the file, the JSON pointer, what was expected and what is there.
[[nodiscard]] plan_input parse_plan_input(std::string_view text, std::string_view name);
[[nodiscard]] plan_input read_plan_input(std::filesystem::path const& file);

/// What can be read again, and gives the same.
[[nodiscard]] std::string to_json(plan_input const& input);

/// A plan for programs.
///
///     {"modalities": [{"name", "tp", "pp", "replicas", "replica_batches": [samples of a step, ...], "micro_batch",
///                      "micro_batches_per_sync", "samples": [[first, last], ...] of each sync, "memory_bytes",
///                      "seconds": {"computing", "tensor", "pipeline", "gradients", "interaction"}}, ...],
///      "makespan", "colocated_makespan": null where it does not fit, "devices_used",
///      "placement": [{"gpu", "node", "modality", "replica", "stage", "tp_rank"}, ...] in the order of GPUs,
///      "syncs", "batch_per_sync", "colocation_wins", "recomputing_makespan", "lower_bound"}
[[nodiscard]] std::string to_json(cluster_plan const& plan, cluster const& cluster);

}  // namespace evenkeel::examples
