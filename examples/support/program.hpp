// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

#include "options.hpp"

namespace evenkeel::examples {

/// Runs the main job: reads the command line, calls `body` and makes the exit status.
///
///     int main(int argc, char** argv) {
///         return evenkeel::examples::run_program(argc, argv, [](auto const& options) { ... return all_is_well; });
///     }
///
/// What `body` or the command line throws becomes one line on stderr, `balance_a_trace: ...`.
///
/// @return  0 if `body` returns true or help was asked for, 2 for an `input_error`, 1 for anything else.
[[nodiscard]] int run_program(int argc, char const* const* argv,
                              std::function<bool(options const&)> const& body) noexcept;

/// Writes to stdout, at once.
///
/// @throws input_error  if stdout does not take it: a full disk, or a reader that went away.
void print(std::string_view text);

}  // namespace evenkeel::examples
