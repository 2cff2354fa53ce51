// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/core/quality.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/orchestrate/detail/amounts.hpp>
#include <evenkeel/orchestrate/phase.hpp>
#include <evenkeel/orchestrate/samples.hpp>

namespace evenkeel::detail {

/// All that decides a step.
struct step_problem {
    step_samples const& samples;
    std::span<phase const> phases;
    topology const& cluster;
    step_amounts const& amounts;
    layout const& home;

    [[nodiscard]] std::size_t encoders() const noexcept { return phases.size() - 1; }

    /// The encoders, the one with most raw bytes first.
    void order_encoders(std::vector<std::size_t>& order) const {
        order.resize(encoders());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            auto const bytes_a = amounts.phases[a].total_bytes;
            auto const bytes_b = amounts.phases[b].total_bytes;
            return bytes_a != bytes_b ? bytes_a > bytes_b : a < b;
        });
    }

    /// Visits what each world rank has drawn of a phase, rank by rank: `visit(rank, first, last)`, items `first` to
    /// before `last`. Most stay where they were drawn, so that what is moved is found quicker from there than one by
    /// one.
    template <class Visit>
    void for_each_drawn(std::size_t phase, Visit visit) const {
        std::size_t first = 0;
        for (std::size_t rank = 0; rank < samples.counts.size(); ++rank) {
            std::size_t const last = first + samples.counts[rank];
            if (phase < encoders()) {
                auto const& offsets = samples.inputs[phase].units.offsets;
                visit(to_id<world_rank>(rank), offsets[first], offsets[last]);
            } else {
                visit(to_id<world_rank>(rank), first, last);
            }
            first = last;
        }
    }

    /// How often the outputs of an encoder travel.
    [[nodiscard]] std::uint64_t ways(std::size_t encoder) const noexcept { return ways_of(phases[encoder]); }
};

/// What has been decided of one phase: the rank of each item, and per micro-batch how even that is.
struct phase_ranks {
    std::vector<std::uint32_t> rank_of;
    std::vector<quality> qualities;
    bool from_scratch = false;
};

}  // namespace evenkeel::detail
