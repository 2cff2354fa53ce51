// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <evenkeel/core/ids.hpp>

namespace evenkeel::comm {

/// Whether anything can be done over a communicator after an error.
enum class aftermath : bool { ended, can_go_on };

/// A communication that failed: which operation, seen from which rank, because of which peer where one is known.
///
///     "exchange on rank 2: rank 0 sends 1 byte to rank 1, which expects 3"
///
/// Every surviving rank of the communicator gets one, within its deadline. A transfer that failed ends its
/// communicator; ranks that merely disagreed before anything moved can go on.
class error : public std::runtime_error {
  public:
    error(std::string_view operation, world_rank rank, std::optional<world_rank> peer, std::string_view reason,
          aftermath after = aftermath::ended)
        : std::runtime_error{std::string{operation}
                                 .append(" on rank ")
                                 .append(std::to_string(to_index(rank)))
                                 .append(": ")
                                 .append(reason)},
          operation_{operation},
          rank_{rank},
          peer_{peer},
          reason_size_{reason.size()},
          after_{after} {}

    [[nodiscard]] std::string const& operation() const noexcept { return operation_; }
    /// Who reports.
    [[nodiscard]] world_rank rank() const noexcept { return rank_; }
    /// What happened, without operation and rank.
    [[nodiscard]] std::string_view reason() const noexcept {
        return std::string_view{what()}.substr(std::string_view{what()}.size() - reason_size_);
    }
    /// Who caused it; empty where several did or nobody is known.
    [[nodiscard]] std::optional<world_rank> peer() const noexcept { return peer_; }
    /// Whether ranks merely disagreed before anything moved: the communicator can still be used.
    [[nodiscard]] bool can_go_on() const noexcept { return after_ == aftermath::can_go_on; }

  private:
    std::string operation_;
    world_rank rank_;
    std::optional<world_rank> peer_;
    std::size_t reason_size_;
    aftermath after_;
};

}  // namespace evenkeel::comm
