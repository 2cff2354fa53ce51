// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/comm/deadline.hpp>

namespace evenkeel::comm {

/// Makes sure that all ranks hold the same values before they act on them.
///
///     agree(communicator, "plan of llm", evenkeel::fingerprint{}.add(plan).value(), 30s);
///
/// Costs one exchange without messages. Every rank must call it.
///
/// @param what   Names the values in an error.
/// @param value  Their `fingerprint`.
/// @throws comm::error  on every rank if any value differs; names the ranks that differ from the most common value (of
///                      the lowest rank where there are several). The communicator can still be used.
void agree(communicator& communicator, std::string_view what, std::uint64_t value, deadline until);

}  // namespace evenkeel::comm
