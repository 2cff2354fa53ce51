// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <evenkeel/parallel/detail/amounts.hpp>
#include <evenkeel/parallel/in_flight.hpp>
#include <evenkeel/parallel/parallelism.hpp>
#include <evenkeel/parallel/role.hpp>
#include <evenkeel/parallel/stages.hpp>
#include <evenkeel/parallel/submodule.hpp>

namespace evenkeel {

/// How one replica works through its share of the samples.
struct replica_load {
    std::size_t replicas = 1;
    /// Samples that meet in one sync, of all replicas ...
    std::uint64_t per_sync = 1;
    /// ... and of the largest one.
    std::uint64_t share = 1;
    std::uint64_t micro_batch = 1;
    std::uint64_t group = 1;  ///< micro-batches per sync
    std::uint64_t syncs = 1;

    [[nodiscard]] std::uint64_t micro_batches() const noexcept { return group * syncs; }

    friend bool operator==(replica_load const&, replica_load const&) = default;
};

/// What a submodule's weights, gradients and optimiser states take up, cut over nothing but the replicas.
[[nodiscard]] inline double fixed_bytes(submodule const& submodule, std::size_t replicas) noexcept {
    double const states = submodule.optimizer_bytes / (submodule.shard_optimizer ? static_cast<double>(replicas) : 1);
    return submodule.parameters * (submodule.weight_bytes + submodule.gradient_bytes + states);
}

/// What one GPU of a stage holds at most, in bytes: its part of the weights and of what belongs to them, the
/// activations of the micro-batches in flight, and what the interaction keeps there.
///
/// Inferred, but for its consequences: with even stages and without an interaction it gives the paper's bounds (see
/// `memory_bounds.hpp`). Activations are cut like weights, by stages and by tensor-parallel GPUs.
[[nodiscard]] inline double stage_bytes(submodule const& submodule, modality_role const& role, parallelism cut,
                                        stage_split const& stages, std::size_t stage,
                                        replica_load const& load) noexcept {
    auto const number = [](auto count) { return static_cast<double>(count); };
    double const part = stages.shares[stage] / number(cut.tp);
    double const held =
        number(in_flight(role.order, cut.pp, stage, load.group, load.micro_batches())) * number(load.micro_batch);
    // A replica has no more samples in flight than it has samples.
    double const samples = std::min(held, number(load.share) * number(load.syncs));
    double bytes = fixed_bytes(submodule, load.replicas) * part + samples * submodule.activation_bytes * part;
    if (stage == 0) {
        bytes += samples * role.input_bytes;
    }
    if (stage + 1 == cut.pp) {
        bytes += number(load.share) * role.output_bytes + number(load.per_sync) * role.gathered_bytes +
                 number(load.share) * number(load.per_sync) * role.pair_bytes / number(cut.tp);
    }
    return bytes;
}

/// The fullest stage's.
[[nodiscard]] inline double replica_bytes(submodule const& submodule, modality_role const& role, parallelism cut,
                                          stage_split const& stages, replica_load const& load) noexcept {
    double most = 0;
    for (std::size_t stage = 0; stage < cut.pp; ++stage) {
        most = std::max(most, stage_bytes(submodule, role, cut, stages, stage, load));
    }
    return detail::rounded(most);
}

}  // namespace evenkeel
