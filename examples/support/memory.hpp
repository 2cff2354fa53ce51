// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "options.hpp"
#include "phases.hpp"

namespace evenkeel::examples {

/// Refuses work that is larger than the machine before it starts.
///
///     require_memory("the payload", 3 * tokens * bytes_per_token);
///
/// @param bytes  An estimate, which may well be too large for any integer.
/// @throws input_error  if the machine has less memory than that; the message says both.
void require_memory(std::string_view what, double bytes);

/// Refuses steps that this machine can't hold when all ranks are threads of one process: the payload as drawn, in both
/// directions and as received, and what every rank keeps of every sample.
///
/// @throws input_error  as above
void require_memory_for_step(options const& options, std::span<phase_lengths const> phases);

}  // namespace evenkeel::examples
