// SPDX-License-Identifier: Apache-2.0
#include "agreement.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <evenkeel/comm/agreement.hpp>

namespace evenkeel::comm {

namespace {

dissent dissent_of(std::span<std::size_t const> ranks, std::string_view one, std::string_view several) {
    std::string text = ranks.size() == 1 ? "rank " : "ranks ";
    for (std::size_t position = 0; position < ranks.size(); ++position) {
        text.append(position == 0 ? "" : ", ").append(std::to_string(ranks[position]));
    }
    if (ranks.size() == 1) {
        return {to_id<world_rank>(ranks.front()), text.append(one)};
    }
    return {std::nullopt, text.append(several)};
}

}  // namespace

std::uint64_t most_common(std::span<std::uint64_t const> values) {
    std::vector<std::uint64_t> sorted(values.begin(), values.end());
    std::ranges::sort(sorted);
    auto const times = [&](std::uint64_t value) { return std::ranges::equal_range(sorted, value).size(); };
    std::uint64_t best = values.front();
    for (auto const value : values) {
        if (times(value) > times(best)) {
            best = value;
        }
    }
    return best;
}

std::optional<dissent> dissent_in(std::span<statement const> statements) {
    auto const& first = statements.front();
    if (std::ranges::none_of(statements, [&](auto const& one) { return one.refused || one.value != first.value; })) {
        return std::nullopt;
    }
    std::vector<std::uint64_t> values;
    for (auto const& one : statements) {
        values.push_back(one.value);
    }
    std::vector<std::size_t> refusing;
    std::vector<std::size_t> differing;
    std::uint64_t const common = most_common(values);
    for (std::size_t rank = 0; rank < statements.size(); ++rank) {
        if (statements[rank].refused) {
            refusing.push_back(rank);
        } else if (statements[rank].value != common) {
            differing.push_back(rank);
        }
    }
    if (!refusing.empty()) {
        return dissent_of(refusing, " refused its arguments", " refused their arguments");
    }
    if (!differing.empty()) {
        return dissent_of(differing, " holds other values than most", " hold other values than most");
    }
    return std::nullopt;
}

void agree(communicator& communicator, std::string_view what, std::uint64_t value, deadline until) {
    communicator.exchange({}, {}, {}, {.operation = what, .value = value}).wait(until);
}

}  // namespace evenkeel::comm
