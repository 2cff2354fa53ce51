// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/plan.hpp>
#include <evenkeel/orchestrate/detail/dealing.hpp>
#include <evenkeel/orchestrate/detail/joint.hpp>
#include <evenkeel/orchestrate/options.hpp>

namespace evenkeel::detail {

/// The micro-batch of each sample, and the samples of each micro-batch, ascending.
struct step_slots {
    std::vector<micro_batch_id> slot_of;
    std::vector<item_id> samples;
    std::vector<std::size_t> offsets;

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

[[nodiscard]] inline std::vector<micro_batch_id> dealt_slots(step_problem const& problem,
                                                             orchestrate_options const& options) {
    if (options.micro_batches.value == 1) {
        return std::vector<micro_batch_id>(problem.samples.size());
    }
    if (!options.micro_batch_of_sample.empty()) {
        return options.micro_batch_of_sample;
    }
    if (problem.phases.back().given) {
        return slots_of_plan(*problem.phases.back().given);
    }
    sample_dealer const dealer{problem, options.micro_batches.value};
    if (options.deal == dealing::as_drawn) {
        return dealer.as_drawn();
    }
    if (options.deal == dealing::even) {
        return dealer.even();
    }
    auto together = dealer.heavy_together();
    if (options.deal == dealing::best) {
        auto even = dealer.even();
        return dealer.sum_of_bounds(together) < dealer.sum_of_bounds(even) ? together : even;
    }
    return together;
}

/// Refuses a given plan that runs a unit in another micro-batch than its sample.
inline void require_slots(step_problem const& problem, std::span<micro_batch_id const> slot_of) {
    for (std::size_t number = 0; number < problem.phases.size(); ++number) {
        if (!problem.phases[number].given) {
            continue;
        }
        auto const slots = slots_of_plan(*problem.phases[number].given);
        for (std::size_t sample = 0; sample < slot_of.size(); ++sample) {
            bool const encoder = number < problem.encoders();
            auto const* offsets = encoder ? problem.samples.inputs[number].units.offsets.data() + sample : nullptr;
            for (std::size_t item = encoder ? offsets[0] : sample; item < (encoder ? offsets[1] : sample + 1); ++item) {
                if (slots[item] != slot_of[sample]) {
                    throw_invalid("orchestrate",
                                  "the micro-batch of item " + std::to_string(item) + " in " +
                                      element("phases", number) + ".given",
                                  to_index(slots[item]),
                                  "that of its sample, " + std::to_string(to_index(slot_of[sample])));
                }
            }
        }
    }
}

/// Deals the samples of a step, or takes what the caller has decided.
[[nodiscard]] inline step_slots micro_batches_of(step_problem const& problem, orchestrate_options const& options) {
    step_slots result{.slot_of = dealt_slots(problem, options),
                      .samples = std::vector<item_id>(problem.samples.size()),
                      .offsets = std::vector<std::size_t>(options.micro_batches.value + 1)};
    require_slots(problem, result.slot_of);
    for (auto const slot : result.slot_of) {
        ++result.offsets[to_index(slot) + 1];
    }
    for (std::size_t slot = 1; slot < result.offsets.size(); ++slot) {
        result.offsets[slot] += result.offsets[slot - 1];
    }
    auto next = result.offsets;
    for (std::size_t sample = 0; sample < result.slot_of.size(); ++sample) {
        result.samples[next[to_index(result.slot_of[sample])]++] = to_id<item_id>(sample);
    }
    return result;
}

}  // namespace evenkeel::detail
