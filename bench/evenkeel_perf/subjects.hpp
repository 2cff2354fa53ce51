// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/comm/hierarchy.hpp>
#include <evenkeel/rearrange/pair_traffic.hpp>

#include "options.hpp"

namespace evenkeel::perf {

/// What one subject did with one exchange, over all ranks.
struct timing {
    std::string subject;
    std::string algorithm;        ///< what `automatic` stands for
    std::vector<double> seconds;  ///< per round: of one exchange, on the slowest rank
    std::uint64_t wrong = 0;      ///< bytes

    [[nodiscard]] double median() const;
    /// The median of the ratios of times, round by round: what the machine did meanwhile it did to both.
    [[nodiscard]] double over(timing const& rival) const;
};

/// Times all subjects in turns; every rank calls it. The result is the same on every rank.
[[nodiscard]] std::vector<timing> time_exchange(comm::communicator& world, comm::hierarchy& ways,
                                                pair_traffic const& all, options const& options);

}  // namespace evenkeel::perf
