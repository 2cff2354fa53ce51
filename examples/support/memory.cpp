// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "balanced_step.hpp"
#include "input_error.hpp"
#include "text.hpp"

namespace evenkeel::examples {

void require_memory(std::string_view what, double bytes) {
    auto const pages = ::sysconf(_SC_PHYS_PAGES);
    auto const page = ::sysconf(_SC_PAGESIZE);
    // Where the system does not say, the allocation will.
    if (pages <= 0 || page <= 0) {
        return;
    }
    auto const memory = static_cast<double>(pages) * static_cast<double>(page);
    if (bytes > memory) {
        throw input_error{fmt::format("{} would take about {} of memory, expected at most the {} of this machine", what,
                                      human_bytes(bytes), human_bytes(memory))};
    }
}

void require_memory_for_step(options const& options, std::span<phase_lengths const> phases) {
    auto const drawing = options.drawing();
    auto const payload = heaviest_step(phases, drawing, options.steps) *
                         static_cast<double>(options.scale.of(bytes_per_token("image").out));
    // Each rank holds the gathered lengths of all samples, flat, by phase and for the plan, with weights and bytes, the
    // layouts of all phases, and what one plan takes.
    auto const kept = 120 * static_cast<double>(phases.size()) + 300;
    auto const samples = static_cast<double>(drawing.samples());
    require_memory("a step of that size", 4 * payload + kept * samples * static_cast<double>(options.ranks));
}

}  // namespace evenkeel::examples
