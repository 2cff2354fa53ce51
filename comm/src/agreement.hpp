// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/comm/pending.hpp>

namespace evenkeel::comm {

/// What a rank tells the others before anything moves.
struct statement {
    std::uint64_t value = 0;
    /// Not 0: this rank refused its own arguments. It says so here, so that the others need not wait for it.
    std::uint64_t refused = 0;
};

/// The exchange of statements, and the judgement on them. Not movable: the transfer refers to it.
class agreement {
  public:
    agreement(communicator& communicator, std::string_view what, statement mine);
    agreement(agreement const&) = delete;
    agreement& operator=(agreement const&) = delete;

    [[nodiscard]] bool ready() { return gathering_.ready(); }
    /// @throws comm::error  on every rank, if any refused or differs.
    void wait(deadline until);

  private:
    void judge() const;
    [[noreturn]] void refuse(std::vector<world_rank> const& ranks, std::string_view verb) const;

    world_rank rank_;
    std::string what_;
    statement mine_;
    std::vector<statement> all_;
    pending gathering_;
};

}  // namespace evenkeel::comm
