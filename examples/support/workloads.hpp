// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace evenkeel::examples {

/// The names that `workload` knows, in the order in which tables show them.
[[nodiscard]] std::span<std::string_view const> workload_names() noexcept;

/// Made-up lengths under the name by which benches call them.
///
///     workload("lognormal_1.0", 102'400, 1);
///
/// | name | lengths |
/// |---|---|
/// | lognormal_0.5, lognormal_1.0, lognormal_1.5 | 400 exp(s N), from 1 to 32768 |
/// | uniform | 1 to 2000 |
/// | tiles | 0 in 30 % of the samples, else 1 to 5 tiles of 576 |
/// | vision, audio, llm | the image column, the audio column and the row sums of `tri_modal` |
///
/// @throws std::invalid_argument  if there is no workload of that name.
[[nodiscard]] std::vector<std::uint64_t> workload(std::string_view name, std::size_t count, std::uint64_t seed);

}  // namespace evenkeel::examples
