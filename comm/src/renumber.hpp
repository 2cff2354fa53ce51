// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include <evenkeel/comm/error.hpp>
#include <evenkeel/core/ids.hpp>

namespace evenkeel::comm {

/// `reason` with other numbers in the places where faults name ranks, "rank 0" and "ranks 0, 1".
///
/// @param ranks  Per number in `reason`, the one to put there; numbers beyond stay.
[[nodiscard]] inline std::string renumbered(std::string_view reason, std::span<world_rank const> ranks) {
    std::string text;
    auto const take = [&](std::size_t count) {
        text.append(reason.substr(0, count));
        reason.remove_prefix(count);
    };
    /// Whether there was one.
    auto const take_number = [&] {
        std::size_t number = 0;
        auto const [end, wrong] = std::from_chars(reason.data(), reason.data() + reason.size(), number);
        if (wrong != std::errc{}) {
            return false;
        }
        if (number < ranks.size()) {
            text.append(std::to_string(to_index(ranks[number])));
            reason.remove_prefix(static_cast<std::size_t>(end - reason.data()));
        } else {
            take(static_cast<std::size_t>(end - reason.data()));
        }
        return true;
    };
    constexpr std::string_view word = "rank";
    for (auto at = reason.find(word); at != reason.npos; at = reason.find(word)) {
        take(at + word.size());
        bool const several = reason.starts_with("s ");
        if (!several && !reason.starts_with(" ")) {
            continue;
        }
        take(several ? 2 : 1);
        while (take_number() && several && reason.starts_with(", ")) {
            take(2);
        }
    }
    return text.append(reason);
}

/// An error of a communicator that was split from another one, in the numbers of that one.
///
/// @param self   Who reports.
/// @param ranks  Per rank of the communicator that was split off, its rank in the other one.
[[nodiscard]] inline error renumbered(error const& wrong, world_rank self, std::span<world_rank const> ranks) {
    std::optional<world_rank> peer;
    if (wrong.peer() && to_index(*wrong.peer()) < ranks.size()) {
        peer = ranks[to_index(*wrong.peer())];
    }
    return {wrong.operation(), self, peer, renumbered(wrong.reason(), ranks)};
}

}  // namespace evenkeel::comm
