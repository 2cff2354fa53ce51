// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string_view>

#include "text.hpp"

namespace evenkeel::examples {

/// What the person at the keyboard can mend: a file, a cell, an option. `what()` is one line, fit for a terminal
/// whatever bytes the file name or the cell was made of.
class input_error : public std::runtime_error {
  public:
    explicit input_error(std::string_view text) : std::runtime_error{printable(text)} {}
};

}  // namespace evenkeel::examples
