// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "parcel.hpp"

namespace evenkeel::comm::mpi {

/// Copies of messages where neighbours see them, until those have taken them. Two copies between processes that share
/// memory take a third of the time that the system needs to copy once out of the memory of another process.
///
/// Lent from its beginning on: what is never needed at a time is never touched, and takes no memory.
class staging {
  public:
    explicit staging(std::span<std::byte> memory) : memory_{memory} {
        constexpr std::size_t usual = 64;
        lent_.reserve(usual);
    }

    /// @return where the copy begins; none if there is no room for it.
    [[nodiscard]] std::optional<std::size_t> add(std::span<std::byte const> message) {
        std::size_t at = 0;
        auto next = lent_.begin();
        for (; next != lent_.end() && next->first - at < message.size(); ++next) {
            at = whole_lines(next->last);
        }
        if (at > memory_.size() || message.size() > memory_.size() - at) {
            return std::nullopt;
        }
        lent_.insert(next, {at, at + message.size()});
        copy_bytes(message, memory_.subspan(at, message.size()));
        return at;
    }

    /// @param at  What `add` has returned.
    void remove(std::size_t at) noexcept {
        std::erase_if(lent_, [&](piece const& one) { return one.first == at; });
    }

  private:
    struct piece {
        std::size_t first = 0;
        std::size_t last = 0;
    };

    static constexpr std::size_t whole_lines(std::size_t bytes) noexcept {
        constexpr std::size_t line = 64;
        return (bytes + line - 1) / line * line;
    }

    std::span<std::byte> memory_;
    std::vector<piece> lent_;  ///< ascending
};

}  // namespace evenkeel::comm::mpi
