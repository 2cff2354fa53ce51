// SPDX-License-Identifier: Apache-2.0
#include <evenkeel/comm/agreement.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include <evenkeel/comm/error.hpp>

#include "agreement.hpp"

namespace evenkeel::comm {

namespace {

/// The value that most ranks state; among equally frequent ones that of the lowest rank.
std::uint64_t most_common(std::span<statement const> statements) {
    std::vector<std::uint64_t> values;
    for (auto const& one : statements) {
        values.push_back(one.value);
    }
    std::ranges::sort(values);
    auto const times = [&](std::uint64_t value) { return std::ranges::equal_range(values, value).size(); };
    std::uint64_t best = statements.front().value;
    for (auto const& one : statements) {
        if (times(one.value) > times(best)) {
            best = one.value;
        }
    }
    return best;
}

}  // namespace

agreement::agreement(communicator& communicator, std::string_view what, statement mine)
    : rank_{communicator.rank()},
      what_{what},
      mine_{mine},
      all_(communicator.size().value),
      gathering_{communicator.all_gather(std::as_bytes(std::span{&mine_, 1}), std::as_writable_bytes(std::span{all_}))} {
}

void agreement::wait(deadline until) {
    gathering_.wait(until);
    judge();
}

void agreement::judge() const {
    std::vector<world_rank> refusing;
    std::vector<world_rank> differing;
    std::uint64_t const common = most_common(all_);
    for (std::size_t rank = 0; rank < all_.size(); ++rank) {
        if (all_[rank].refused != 0) {
            refusing.push_back(to_id<world_rank>(rank));
        } else if (all_[rank].value != common) {
            differing.push_back(to_id<world_rank>(rank));
        }
    }
    if (!refusing.empty()) {
        refuse(refusing, " refused its arguments");
    }
    if (!differing.empty()) {
        refuse(differing, " holds other values than most");
    }
}

void agreement::refuse(std::vector<world_rank> const& ranks, std::string_view verb) const {
    std::string text;
    for (auto const rank : ranks) {
        text.append(text.empty() ? "" : ", ").append("rank ").append(std::to_string(to_index(rank)));
    }
    auto const peer = ranks.size() == 1 ? std::optional{ranks.front()} : std::nullopt;
    throw error{what_, rank_, peer, text.append(verb)};
}

void agree(communicator& communicator, std::string_view what, std::uint64_t value, deadline until) {
    agreement{communicator, what, {.value = value}}.wait(until);
}

}  // namespace evenkeel::comm
