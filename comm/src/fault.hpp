// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <evenkeel/core/ids.hpp>

namespace evenkeel::comm {

/// What ended a communicator, told to each rank in its own `comm::error`.
struct fault {
    std::string operation;
    std::optional<world_rank> peer;
    std::string reason;
};

[[nodiscard]] inline std::string rank_text(world_rank rank) { return "rank " + std::to_string(to_index(rank)); }

/// What `rank` did, or why it could not. The ranks must be told also where there is no memory to say what.
///
/// @param did  ": " or " left", say.
[[nodiscard]] inline fault misdeed(std::optional<world_rank> culprit, std::string_view operation, world_rank rank,
                                   std::string_view did, std::string_view reason) noexcept {
    fault result{.operation = {}, .peer = culprit, .reason = {}};
    try {
        result.operation = operation;
        result.reason = rank_text(rank).append(did).append(reason);
    } catch (std::exception const&) {
    }
    return result;
}

/// The fault of the communicator that this one was split from; without a peer, for ranks have other numbers here.
[[nodiscard]] inline fault inherited(fault const& of_parent) {
    return {of_parent.operation, std::nullopt, "in the communicator it was split from, " + of_parent.reason};
}

/// Two ranks do not call the same. Without a peer, for either may be at fault.
///
/// @param calls  What `rank` calls, with what is different about it.
[[nodiscard]] inline fault confusion(world_rank rank, std::string_view calls, world_rank other,
                                     std::string_view operation) {
    return {std::string{operation}, std::nullopt,
            rank_text(rank).append(" calls ").append(calls).append(", ") +
                rank_text(other).append(" calls ").append(operation)};
}

/// The two ends of a message do not agree.
[[nodiscard]] inline fault mismatch(std::string_view operation, world_rank from, std::uint64_t sent, world_rank to,
                                    std::uint64_t expected) {
    return {std::string{operation}, std::nullopt,
            rank_text(from) + " sends " + std::to_string(sent) + (sent == 1 ? " byte to " : " bytes to ") +
                rank_text(to) + ", which expects " + std::to_string(expected)};
}

/// With this begins what is said of those who are late.
inline constexpr std::string_view deadline_passed = "the deadline passed before ";

/// The deadline passed before the ranks `late` did what a peer waits for.
///
/// @param late  At least one.
/// @param did   " came", say.
[[nodiscard]] inline fault lateness(std::string_view operation, std::span<world_rank const> late,
                                    std::string_view did) {
    // Eight names help; thousands do not.
    constexpr std::size_t most_names = 8;
    std::string text = std::string{deadline_passed}.append(late.size() == 1 ? "rank " : "ranks ");
    for (std::size_t l = 0; l < late.size() && l < most_names; ++l) {
        text.append(l == 0 ? "" : ", ").append(std::to_string(to_index(late[l])));
    }
    if (late.size() > most_names) {
        text.append(" and ").append(std::to_string(late.size() - most_names)).append(" more");
    }
    return {std::string{operation}, late.size() == 1 ? std::optional{late.front()} : std::nullopt, text.append(did)};
}

}  // namespace evenkeel::comm
