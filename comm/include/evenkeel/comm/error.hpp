// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <evenkeel/core/ids.hpp>

namespace evenkeel::comm {

/// A communication that failed: which operation, seen from which rank, because of which peer where one is known.
///
///     "exchange on rank 2: rank 0 sends 1 byte to rank 1, which expects 3"
///
/// Every surviving rank of the communicator gets one, within its deadline. A transfer that failed ends its communicator;
/// ranks that merely disagreed before anything moved can go on.
class error : public std::runtime_error {
  public:
    error(std::string_view operation, world_rank rank, std::optional<world_rank> peer, std::string_view reason)
        : std::runtime_error{std::string{operation}
                                 .append(" on rank ")
                                 .append(std::to_string(to_index(rank)))
                                 .append(": ")
                                 .append(reason)},
          operation_{operation},
          rank_{rank},
          peer_{peer} {}

    [[nodiscard]] std::string const& operation() const noexcept { return operation_; }
    /// Who reports.
    [[nodiscard]] world_rank rank() const noexcept { return rank_; }
    /// Who caused it; empty where several did or nobody is known.
    [[nodiscard]] std::optional<world_rank> peer() const noexcept { return peer_; }

  private:
    std::string operation_;
    world_rank rank_;
    std::optional<world_rank> peer_;
};

}  // namespace evenkeel::comm
