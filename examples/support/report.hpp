// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace evenkeel::examples {

/// What balancing did to one phase. Imbalance is largest load / mean load; a phase without load has imbalance 1 and gap
/// 0.
struct phase_report {
    std::string name = {};
    double imbalance_before = 1;
    double imbalance_after = 1;
    double lower_bound_over_mean = 1;
    double gap = 0;
    double plan_ms = 0;
    /// The length-weighted share of the items that work on another rank than their home ...
    double moved_share = 0;
    /// ... and on another node.
    double inter_node_share = 0;
    /// Tokens of the busiest rank, which decide how much memory a rank needs.
    std::uint64_t max_tokens_before = 0;
    std::uint64_t max_tokens_after = 0;
};

/// Bytes that leave their rank, at full size.
struct moving_bytes {
    std::uint64_t total = 0;
    std::uint64_t between_nodes = 0;

    friend bool operator==(moving_bytes const&, moving_bytes const&) = default;
};

/// What a phase moves: an encoder its inputs, its outputs and their gradients; the LLM text.
struct phase_bytes {
    std::string name = {};
    moving_bytes raw = {};
    moving_bytes output = {};
    moving_bytes text = {};

    friend bool operator==(phase_bytes const&, phase_bytes const&) = default;
};

/// What went over the wire.
struct exchange_report {
    std::uint64_t bytes = 0;
    std::uint64_t inter_node_bytes = 0;
    /// Bytes that were not what the receiver knows they have to be.
    std::uint64_t wrong = 0;
};

struct report {
    std::string method = {};
    std::size_t ranks = 0;
    std::size_t ranks_per_node = 0;
    std::size_t samples = 0;
    std::vector<phase_report> phases = {};
    exchange_report exchange = {};
    /// Over all steps.
    std::vector<phase_bytes> by_phase = {};
    /// What going home between encoder and LLM would move beyond that.
    std::uint64_t composed_saving = 0;
};

/// The report for programs: an object with the members of `report` under their names, in their order.
[[nodiscard]] std::string to_json(report const& report);

/// The reports of several methods: an object with the member `methods`, one report each.
[[nodiscard]] std::string to_json(std::span<report const> methods);

/// The report for people: `headline`, a row per phase, what the words mean and what was moved.
[[nodiscard]] std::string to_table(report const& report, std::string_view headline);

/// The reports of several methods for the same phases, side by side: a row per phase and method.
[[nodiscard]] std::string to_table(std::span<report const> methods, std::string_view headline);

}  // namespace evenkeel::examples
