// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

#include "options.hpp"
#include "processes.hpp"

namespace evenkeel::examples {

/// Runs a program: calls `body` and makes the exit status.
///
///     int main(int argc, char** argv) {
///         return evenkeel::examples::run_program("draw_schedule", [&] { ...; return all_is_well; });
///     }
///
/// What `body` throws becomes one line on stderr, `draw_schedule: ...`; `help_wanted` goes to stdout.
///
/// @return  0 if `body` returns true or help was asked for, 2 for an `input_error`, 1 for anything else. Silently that
///          of another process where `body` throws `failed_elsewhere`.
[[nodiscard]] int run_program(std::string_view name, std::function<bool()> const& body) noexcept;

/// Runs the main job: as above, and `body` gets what the command line of `balance_a_trace` asks for, on all processes
/// or on none.
[[nodiscard]] int run_program(processes const& all, int argc, char const* const* argv,
                              std::function<bool(options const&)> const& body) noexcept;

/// Writes to stdout, at once.
///
/// @throws input_error  if stdout does not take it: a full disk, or a reader that went away.
void print(std::string_view text);

}  // namespace evenkeel::examples
