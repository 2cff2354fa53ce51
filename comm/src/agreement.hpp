// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/core/ids.hpp>

namespace evenkeel::comm {

/// Who does not mean the same as the others, told to each rank in its own `comm::error`.
struct dissent {
    std::optional<world_rank> peer;  ///< if it is one rank alone
    std::string reason;
};

/// The value that most ranks state; among equally frequent ones that of the lowest rank.
///
/// @param values  Per rank, at least one.
[[nodiscard]] std::uint64_t most_common(std::span<std::uint64_t const> values);

/// The judgement on what all ranks have stated, for the backends: every rank comes to the same.
///
/// @param statements  Per rank.
/// @return            The ranks that refused, if any did, else those that differ from the most common value, else
///                    nothing.
[[nodiscard]] std::optional<dissent> dissent_in(std::span<statement const> statements);

}  // namespace evenkeel::comm
