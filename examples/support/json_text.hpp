// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace evenkeel::examples {

/// JSON for people to read and edit: what fits into a line stands on one, and so does a list of numbers of any length.
[[nodiscard]] std::string json_text(nlohmann::ordered_json const& value);

}  // namespace evenkeel::examples
