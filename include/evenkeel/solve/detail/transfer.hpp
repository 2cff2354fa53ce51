// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace evenkeel::detail {

/// An exchange of load between two ranks: one gives `gives[give]` and takes `takes[take]` back.
struct transfer {
    std::size_t give = 0;
    std::size_t take = 0;
    std::uint64_t amount = 0;  ///< what it moves on balance, gives[give] - takes[take]
};

/// The transfer that moves least, but no less than `at_least` and no more than `at_most`; the first of several.
///
///     gives 0 3 8, takes 0 5 6: at least 2, at most 4: gives 8, takes 6
///
/// @param gives, takes  What can be given and taken, in rising order; both start with 0, nothing.
/// @param enough        The first that moves no more than this will do as well.
/// @complexity O(gives + takes): as what is given rises, so does the most that can be taken for it.
[[nodiscard]] inline std::optional<transfer> smallest_transfer(std::span<std::uint64_t const> gives,
                                                               std::span<std::uint64_t const> takes,
                                                               std::uint64_t at_least, std::uint64_t at_most,
                                                               std::uint64_t enough = 0) {
    enough = std::max(enough, at_least);
    std::optional<transfer> best;
    std::size_t take = 0;
    for (std::size_t give = 0; give < gives.size(); ++give) {
        if (gives[give] < at_least) {
            continue;
        }
        std::uint64_t const most = gives[give] - at_least;
        while (take + 1 < takes.size() && takes[take + 1] <= most) {
            ++take;
        }
        std::uint64_t const amount = gives[give] - takes[take];
        if (amount <= at_most && (!best || amount < best->amount)) {
            best = transfer{give, take, amount};
            if (amount <= enough) {
                break;
            }
        }
    }
    return best;
}

/// The transfer that moves most, within the same limits; the first of several.
[[nodiscard]] inline std::optional<transfer> largest_transfer(std::span<std::uint64_t const> gives,
                                                              std::span<std::uint64_t const> takes,
                                                              std::uint64_t at_least, std::uint64_t at_most) {
    std::optional<transfer> best;
    std::size_t take = 0;
    for (std::size_t give = 0; give < gives.size(); ++give) {
        while (take < takes.size() && takes[take] + at_most < gives[give]) {
            ++take;
        }
        if (take == takes.size()) {
            break;
        }
        if (gives[give] < takes[take] + at_least) {
            continue;
        }
        std::uint64_t const amount = gives[give] - takes[take];
        if (!best || amount > best->amount) {
            best = transfer{give, take, amount};
            if (amount == at_most) {
                break;
            }
        }
    }
    return best;
}

/// The transfer that relieves a rank of an excess: of all of it, and as little more as can be, or, where there is less
/// room than that, as much as the room holds.
///
/// @param room    Of the other rank, at least 1.
/// @param waste   How much of too little room may be left, or an eighth of it.
/// @param coarse  Whether a quarter of what room is left over may go as well: quicker.
[[nodiscard]] inline std::optional<transfer> relieving_transfer(std::span<std::uint64_t const> gives,
                                                                std::span<std::uint64_t const> takes,
                                                                std::uint64_t excess, std::uint64_t room,
                                                                std::uint64_t waste, bool coarse) {
    if (excess <= room) {
        return smallest_transfer(gives, takes, excess, room, coarse ? excess + (room - excess) / 4 : excess);
    }
    return largest_transfer(gives, takes, room - std::min(room - 1, std::max(waste, room / 8)), room);
}

}  // namespace evenkeel::detail
