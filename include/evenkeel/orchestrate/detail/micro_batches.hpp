// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/plan.hpp>
#include <evenkeel/orchestrate/detail/dealing.hpp>
#include <evenkeel/orchestrate/detail/in_phase.hpp>
#include <evenkeel/orchestrate/detail/step_problem.hpp>
#include <evenkeel/orchestrate/options.hpp>

namespace evenkeel::detail {

/// The micro-batch of each sample, and the samples of each micro-batch, ascending.
struct step_slots {
    std::vector<micro_batch_id> slot_of;
    std::vector<item_id> samples;
    std::vector<std::size_t> offsets;
    std::vector<std::size_t> next;  ///< while they are filled in

    [[nodiscard]] std::span<item_id const> samples_of(std::size_t slot) const noexcept {
        return std::span{samples}.subspan(offsets[slot], offsets[slot + 1] - offsets[slot]);
    }
};

[[nodiscard]] inline std::vector<micro_batch_id> slots_of_plan(plan const& plan) {
    std::vector<micro_batch_id> result(plan.items.size());
    for (std::size_t rank = 0; rank < plan.ranks().value; ++rank) {
        for (std::size_t slot = 0; slot < plan.micro_batches; ++slot) {
            for (item_id const item : plan.batch(to_id<rank_id>(rank), to_id<micro_batch_id>(slot))) {
                result[to_index(item)] = to_id<micro_batch_id>(slot);
            }
        }
    }
    return result;
}

/// Heavy samples together or level, whichever has the lower bounds; as drawn where that is no worse in any respect, as
/// of ranks that all have the same.
///
/// @param slot_of  Heavy samples together; then the best.
inline void deal_best(step_problem const& problem, sample_dealer& dealer, std::vector<micro_batch_id>& slot_of) {
    std::uint64_t const together = dealer.sum_of_bounds(problem, slot_of);
    dealer.deal(problem, false, slot_of);
    std::uint64_t const level = dealer.sum_of_bounds(problem, slot_of);
    if (together < level) {
        dealer.deal(problem, true, slot_of);
    }
    auto& drawn = dealer.other();
    dealer.as_drawn(problem, drawn);
    if (dealer.sum_of_bounds(problem, drawn) <= std::min(together, level) &&
        dealer.bytes_to_leave(problem, drawn) <= dealer.bytes_to_leave(problem, slot_of)) {
        slot_of.swap(drawn);
    }
}

inline void deal_slots(step_problem const& problem, orchestrate_options const& options, sample_dealer& dealer,
                       std::vector<micro_batch_id>& slot_of) {
    if (options.micro_batches.value == 1) {
        slot_of.assign(problem.samples.size(), {});
        return;
    }
    if (!options.micro_batch_of_sample.empty()) {
        slot_of = options.micro_batch_of_sample;
        return;
    }
    if (problem.phases.back().given) {
        slot_of = slots_of_plan(*problem.phases.back().given);
        return;
    }
    dealer.start(problem, options.micro_batches.value);
    if (options.deal == dealing::as_drawn) {
        dealer.as_drawn(problem, slot_of);
        return;
    }
    dealer.deal(problem, options.deal != dealing::even, slot_of);
    if (options.deal == dealing::best) {
        deal_best(problem, dealer, slot_of);
    }
}

/// Refuses a given plan that runs a unit in another micro-batch than its sample.
inline void require_slots(step_problem const& problem, std::size_t number, std::span<micro_batch_id const> slot_of) {
    auto const slots = slots_of_plan(*problem.phases[number].given);
    for (std::size_t sample = 0; sample < slot_of.size(); ++sample) {
        bool const encoder = number < problem.encoders();
        auto const* offsets = encoder ? problem.samples.inputs[number].units.offsets.data() + sample : nullptr;
        for (std::size_t item = encoder ? offsets[0] : sample; item < (encoder ? offsets[1] : sample + 1); ++item) {
            if (slots[item] != slot_of[sample]) {
                throw_invalid("orchestrate", "the micro-batch of item " + std::to_string(item) + " in given",
                              to_index(slots[item]),
                              "that of its sample, " + std::to_string(to_index(slot_of[sample])));
            }
        }
    }
}

/// Deals the samples of a step, or takes what the caller has decided.
inline void write_slots(step_problem const& problem, orchestrate_options const& options, sample_dealer& dealer,
                        step_slots& result) {
    if (options.micro_batches.value == 1 && result.offsets.size() == 2 &&
        result.samples.size() == problem.samples.size()) {
        return;  // as last time
    }
    deal_slots(problem, options, dealer, result.slot_of);
    for (std::size_t number = 0; number < problem.phases.size(); ++number) {
        if (problem.phases[number].given) {
            in_phase(problem.phases, number, [&] { require_slots(problem, number, result.slot_of); });
        }
    }
    result.samples.resize(problem.samples.size());
    result.offsets.assign(options.micro_batches.value + 1, 0);
    for (auto const slot : result.slot_of) {
        ++result.offsets[to_index(slot) + 1];
    }
    for (std::size_t slot = 1; slot < result.offsets.size(); ++slot) {
        result.offsets[slot] += result.offsets[slot - 1];
    }
    result.next.assign(result.offsets.begin(), result.offsets.end());
    for (std::size_t sample = 0; sample < result.slot_of.size(); ++sample) {
        result.samples[result.next[to_index(result.slot_of[sample])]++] = to_id<item_id>(sample);
    }
}

}  // namespace evenkeel::detail
