// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/infeasible.hpp>
#include <evenkeel/pipeline/distmm_pipe.hpp>
#include <evenkeel/pipeline/memory.hpp>
#include <evenkeel/pipeline/schedule.hpp>
#include <evenkeel/pipeline/simulate.hpp>
#include <evenkeel/pipeline/times.hpp>

namespace evenkeel {

/// What was measured with one size of micro-batch.
struct measured_size {
    std::size_t samples = 0;  ///< in a micro-batch
    pipeline_times times = {};
    pipeline_memory memory = {};
};

/// One replica of a modality, whose micro-batches are yet to be cut.
struct measured_pipeline {
    /// What this replica adds to one contrastive batch: micro-batch times group.
    std::size_t samples_per_sync = 0;
    /// The sizes to choose from.
    std::vector<measured_size> sizes = {};
};

/// How finely each pipeline's share of the contrastive batch is cut.
struct group_search {
    /// Per pipeline, of `measured_pipeline::sizes`.
    std::vector<std::size_t> size = {};
    /// Per pipeline, micro-batches per batch-sync.
    std::vector<group_size> group = {};
    std::vector<schedule> schedules = {};
    simulation simulated = {};
    /// Simulations that this took.
    std::size_t tried = 0;
};

namespace detail {

struct size_choice {
    std::size_t size = 0;
    schedule drawn = {};
    double alone = 0;
};

/// The sizes with which one pipeline fits into its memory, the one that is fastest on its own first.
inline std::vector<size_choice> choices_of(measured_pipeline const& pipeline, std::string const& name,
                                           std::size_t syncs, std::uint64_t memory_limit, std::size_t& tried) {
    std::vector<size_choice> choices;
    std::optional<std::uint64_t> least_peak;
    for (std::size_t size = 0; size < pipeline.sizes.size(); ++size) {
        auto const& measured = pipeline.sizes[size];
        auto const size_name = name + element(".sizes", size);
        if (measured.samples == 0) {
            throw_invalid("search_groups", size_name + ".samples", 0, "at least 1");
        }
        if (measured.times.stages.empty()) {
            throw_invalid("search_groups", size_name + ".times.stages.size()", 0, "at least 1");
        }
        if (pipeline.samples_per_sync == 0 || pipeline.samples_per_sync % measured.samples != 0) {
            continue;
        }
        group_size const group{pipeline.samples_per_sync / measured.samples};
        constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();
        if (syncs > most / group.value) {
            throw_invalid("search_groups", "syncs", syncs,
                          "at most 4294967295 micro-batches: with " + size_name + " each sync is of " +
                              std::to_string(group.value));
        }
        auto drawn = distmm_pipe({measured.times.stages.size()}, {syncs * group.value}, group);
        auto const simulated = simulate(drawn, measured.times);
        ++tried;
        std::uint64_t peak = 0;
        for (auto const& device : use_of(drawn, simulated.pipelines.front(), measured.memory)) {
            peak = std::max(peak, device.peak);
        }
        least_peak = std::min(least_peak.value_or(peak), peak);
        if (peak <= memory_limit) {
            choices.push_back({size, std::move(drawn), simulated.end});
        }
    }
    if (!least_peak) {
        throw_invalid("search_groups", name + ".sizes", "no divisor",
                      "a size that divides the " + std::to_string(pipeline.samples_per_sync) + " samples per sync");
    }
    if (choices.empty()) {
        throw infeasible{"search_groups: the memory of " + name, std::nullopt, *least_peak - memory_limit};
    }
    std::ranges::stable_sort(choices, {}, &size_choice::alone);
    return choices;
}

}  // namespace detail

/// The sizes of micro-batches with which DistMM-Pipe is fastest and fits into memory, found by simulation.
///
///     auto const best = evenkeel::search_groups(std::array{text, image}, 3, 80'000'000'000);
///     best.group[0];   // micro-batches per batch-sync of the text pipeline
///
/// Smaller micro-batches shorten the ramps and hold less memory, but kernels get less efficient: hence measured times.
/// The paper always halves; that the size is worth a search is inferred. Every combination is simulated unless one of
/// its pipelines, on its own, is no faster than the best found: joining pipelines only adds waiting, so the result is
/// the optimum; among equally fast ones the first that was tried.
///
/// @param pipelines     One for every replica of every modality.
/// @param syncs         Batch-syncs in a step.
/// @param memory_limit  Bytes of one device.
/// @throws std::invalid_argument  if no size divides a pipeline's samples per sync, a time or size is missing, or a
///                                step has more micro-batches than 32 bits count.
/// @throws infeasible  if a pipeline fits with none of its sizes; `amount` is how many bytes it lacks at best.
[[nodiscard]] inline group_search search_groups(
    std::span<measured_pipeline const> pipelines, std::size_t syncs,
    std::uint64_t memory_limit = std::numeric_limits<std::uint64_t>::max()) {
    group_search best;
    std::vector<std::vector<detail::size_choice>> choices;
    for (std::size_t number = 0; number < pipelines.size(); ++number) {
        choices.push_back(
            detail::choices_of(pipelines[number], element("pipelines", number), syncs, memory_limit, best.tried));
    }
    std::vector<std::size_t> at(pipelines.size());
    std::optional<double> end;
    for (std::size_t turned = 0; turned < at.size() || !end;) {
        std::vector<schedule> schedules;
        std::vector<pipeline_times> times;
        bool promising = true;
        for (std::size_t number = 0; number < pipelines.size(); ++number) {
            auto const& choice = choices[number][at[number]];
            promising = promising && (!end || choice.alone < *end);
            schedules.push_back(choice.drawn);
            times.push_back(pipelines[number].sizes[choice.size].times);
        }
        if (promising) {
            auto simulated = simulate(schedules, times);
            ++best.tried;
            if (!end || simulated.end < *end) {
                end = simulated.end;
                best.simulated = std::move(simulated);
                best.schedules = std::move(schedules);
                best.size.clear();
                best.group.clear();
                for (std::size_t number = 0; number < pipelines.size(); ++number) {
                    best.size.push_back(choices[number][at[number]].size);
                    best.group.push_back({best.schedules[number].group});
                }
            }
        }
        // The next combination; all have been tried when every wheel has turned.
        for (turned = 0; turned < at.size() && ++at[turned] == choices[turned].size(); ++turned) {
            at[turned] = 0;
        }
    }
    return best;
}

}  // namespace evenkeel
