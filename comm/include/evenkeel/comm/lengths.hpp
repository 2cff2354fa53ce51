// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/comm/deadline.hpp>

namespace evenkeel::comm {

/// Every sample's length in every phase, the same on every rank: all that a plan needs.
struct gathered_lengths {
    /// How many samples each rank drew; `home_layout(counts)` is where they are.
    std::vector<std::size_t> counts;
    std::size_t samples = 0;
    std::size_t phases = 0;
    /// Phase after phase; within a phase in order of rank, then of the rank's own order.
    std::vector<std::uint64_t> values;

    /// The lengths of all samples in one phase, by item id.
    [[nodiscard]] std::span<std::uint64_t const> operator[](std::size_t phase) const noexcept {
        return std::span{values}.subspan(phase * samples, samples);
    }
};

/// Tells all ranks the lengths of the samples that each has drawn. Ranks may hold different numbers of samples, or
/// none.
///
///     auto const lengths = all_gather_lengths(communicator, mine, 2, 30s);
///     auto const llm = evenkeel::balance(lengths[1], ranks, model);      // the same plan on every rank
///
/// 8 bytes per sample and phase; one all-gather for the counts, one for the lengths. Every rank must call it.
///
/// @param mine    Sample after sample, each with one length per phase. May lie on the device, where the communicator is
///                one of devices.
/// @param phases  The same on every rank, at least 1.
/// @throws std::invalid_argument  on the rank whose `mine` is no whole number of samples; the others get a
/// @throws comm::error            that names it; likewise for ranks that differ in `phases`.
[[nodiscard]] gathered_lengths all_gather_lengths(communicator& communicator, std::span<std::uint64_t const> mine,
                                                  std::size_t phases, deadline until);

}  // namespace evenkeel::comm
