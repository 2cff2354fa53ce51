// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include <fmt/format.h>
#include <unistd.h>

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
    constexpr auto copies = 3.0;
    constexpr auto bytes_per_item = 64.0;
    auto const drawing = options.drawing();
    auto const payload = heaviest_step(phases, drawing, options.steps) * static_cast<double>(options.bytes_per_token);
    auto const items = static_cast<double>(drawing.samples()) * static_cast<double>(phases.size());
    require_memory("a step", copies * payload + bytes_per_item * items);
}

}  // namespace evenkeel::examples
