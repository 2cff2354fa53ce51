// SPDX-License-Identifier: Apache-2.0
#include "judgement.hpp"

#include <algorithm>
#include <string>

#include <evenkeel/core/fingerprint.hpp>

namespace evenkeel::comm::nccl {

namespace {

/// The same at both ends.
std::uint64_t hash_of_message(world_rank from, world_rank to, std::size_t bytes) {
    return fingerprint{}.add(std::uint64_t{to_index(from)} << 32U | to_index(to)).add(std::uint64_t{bytes}).value();
}

std::string_view name_of(greeting const& one) {
    auto const end = std::ranges::find(one.name, '\0');
    return {one.name.data(), static_cast<std::size_t>(end - one.name.begin())};
}

}  // namespace

std::uint64_t hash_of(world_rank self, std::span<outgoing const> sends, std::span<incoming const> receives) {
    std::uint64_t all = 0;
    for (auto const& message : sends) {
        all += hash_of_message(self, message.peer, message.bytes.size());
    }
    for (auto const& message : receives) {
        all -= hash_of_message(message.peer, self, message.bytes.size());
    }
    return all;
}

std::vector<std::uint64_t> account_of(std::size_t ranks, std::span<outgoing const> sends,
                                      std::span<incoming const> receives) {
    std::vector<std::uint64_t> account(2 * ranks);
    for (auto const& message : sends) {
        account[to_index(message.peer)] = message.bytes.size();
    }
    for (auto const& message : receives) {
        account[ranks + to_index(message.peer)] = message.bytes.size();
    }
    return account;
}

std::optional<fault> confusion_in(std::string_view operation, std::span<greeting const> all) {
    auto const odd = std::ranges::find_if(all, [&](auto const& one) { return one.identity != all[0].identity; });
    if (odd == all.end()) {
        return std::nullopt;
    }
    auto calls = std::string{name_of(*odd)};
    if (name_of(*odd) == name_of(all[0])) {
        calls.append(" with other sizes");
    }
    auto found = confusion(to_id<world_rank>(static_cast<std::size_t>(odd - all.begin())), calls, world_rank{0},
                           name_of(all[0]));
    found.operation = operation;
    return found;
}

fault mismatch_in(std::string_view operation, std::size_t ranks, std::span<std::uint64_t const> accounts) {
    for (std::size_t from = 0; from < ranks; ++from) {
        for (std::size_t to = 0; to < ranks; ++to) {
            auto const sent = accounts[2 * ranks * from + to];
            auto const expected = accounts[2 * ranks * to + ranks + from];
            if (sent != expected) {
                return mismatch(operation, to_id<world_rank>(from), sent, to_id<world_rank>(to), expected);
            }
        }
    }
    return {std::string{operation}, std::nullopt, "a message is not sent as it is expected"};
}

}  // namespace evenkeel::comm::nccl
