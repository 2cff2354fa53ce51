// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include <evenkeel/comm/error.hpp>
#include <evenkeel/comm/lengths.hpp>
#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/errors.hpp>

#include "agreement.hpp"

namespace evenkeel::comm {

namespace {

struct drawn {
    std::uint64_t samples = 0;
    std::uint64_t phases = 0;  ///< 0 from a rank that refused its own lengths
};

/// Nothing can be gathered unless every rank counts the same phases.
void require_one_number_of_phases(std::vector<drawn> const& all, world_rank self) {
    std::vector<std::uint64_t> phases;
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        if (all[rank].phases == 0) {
            throw error{"all_gather_lengths", self, to_id<world_rank>(rank),
                        "rank " + std::to_string(rank) + " refused its lengths", aftermath::can_go_on};
        }
        phases.push_back(all[rank].phases);
    }
    std::uint64_t const common = most_common(phases);
    if (auto const odd = std::ranges::find_if(phases, [&](auto count) { return count != common; });
        odd != phases.end()) {
        auto const rank = static_cast<std::size_t>(odd - phases.begin());
        throw error{"all_gather_lengths", self, to_id<world_rank>(rank),
                    "rank " + std::to_string(rank) + " has " + std::to_string(*odd) + " phases, most ranks have " +
                        std::to_string(common),
                    aftermath::can_go_on};
    }
}

/// Waits until the others have heard that this rank refused, then tells the caller why.
[[noreturn]] void refuse(pending& gathering, std::size_t lengths, std::size_t phases, deadline until) {
    try {
        gathering.wait(until);
    } catch (error const&) {
        // Another rank has ended the communicator already, because of this one: whoever called this one knows more.
    }
    if (phases == 0) {
        throw_invalid("all_gather_lengths", "phases", 0, "at least 1");
    }
    throw_invalid("all_gather_lengths", "mine.size()", lengths, "a multiple of phases = " + std::to_string(phases));
}

}  // namespace

gathered_lengths all_gather_lengths(communicator& communicator, std::span<std::uint64_t const> mine, std::size_t phases,
                                    deadline until) {
    bool const whole = phases != 0 && mine.size() % phases == 0;
    drawn const here = whole ? drawn{mine.size() / phases, phases} : drawn{};
    std::vector<drawn> all(communicator.size().value);
    auto gathering =
        communicator.all_gather(std::as_bytes(std::span{&here, 1}), std::as_writable_bytes(std::span{all}));
    if (!whole) {
        refuse(gathering, mine.size(), phases, until);
    }
    gathering.wait(until);
    require_one_number_of_phases(all, communicator.rank());

    gathered_lengths result;
    result.phases = phases;
    std::vector<std::uint64_t> bytes;
    for (auto const& rank : all) {
        result.counts.push_back(rank.samples);
        result.samples += rank.samples;
        bytes.push_back(
            checked_multiply(rank.samples, phases * sizeof(std::uint64_t), "all_gather_lengths: the bytes"));
    }
    std::vector<std::uint64_t> by_sample(result.samples * phases);
    communicator.all_gather(std::as_bytes(mine), bytes, std::as_writable_bytes(std::span{by_sample})).wait(until);

    // Planning reads one phase at a time.
    result.values.resize(by_sample.size());
    for (std::size_t sample = 0; sample < result.samples; ++sample) {
        for (std::size_t phase = 0; phase < phases; ++phase) {
            result.values[phase * result.samples + sample] = by_sample[sample * phases + phase];
        }
    }
    return result;
}

}  // namespace evenkeel::comm
