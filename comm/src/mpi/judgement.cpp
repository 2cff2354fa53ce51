// SPDX-License-Identifier: Apache-2.0
#include "judgement.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include <evenkeel/core/fingerprint.hpp>

namespace evenkeel::comm::mpi {

namespace {

/// One message in a rank's details.
struct listed {
    std::uint32_t peer = 0;
    std::uint32_t expected = 0;  ///< 1: the rank receives it, 0: it sends it
    std::uint64_t bytes = 0;
};

struct call {
    std::string operation;
    std::vector<listed> messages;
};

std::uint64_t hash_of(world_rank from, world_rank to, std::uint64_t bytes) {
    return fingerprint{}.add(std::uint64_t{to_index(from)} << 32U | to_index(to)).add(bytes).value();
}

stated stated_in(contribution const& arrival) {
    stated result;
    std::memcpy(&result, arrival.bytes.data(), sizeof result);
    return result;
}

call call_in(contribution const& details) {
    std::uint64_t count = 0;
    auto const* at = details.bytes.data();
    std::memcpy(&count, at, sizeof count);
    at += sizeof count;
    call result;
    result.messages.resize(count);
    if (count > 0) {
        std::memcpy(result.messages.data(), at, count * sizeof(listed));
    }
    at += count * sizeof(listed);
    auto const* const end = details.bytes.data() + details.bytes.size();
    result.operation.resize(static_cast<std::size_t>(end - at));
    std::ranges::transform(at, end, result.operation.begin(), [](std::byte byte) { return static_cast<char>(byte); });
    return result;
}

std::vector<std::uint64_t> identities(round const& arrivals) {
    std::vector<std::uint64_t> all;
    for (auto const& arrival : arrivals.of_rank) {
        all.push_back(arrival.identity);
    }
    return all;
}

fault confusion_of(std::span<std::uint64_t const> identities, std::span<call const> calls) {
    auto const common = most_common(identities);
    auto const usual = std::ranges::find(identities, common) - identities.begin();
    auto const odd =
        std::ranges::find_if(identities, [&](auto identity) { return identity != common; }) - identities.begin();
    auto const& operation = calls[static_cast<std::size_t>(usual)].operation;
    auto odd_call = calls[static_cast<std::size_t>(odd)].operation;
    if (odd_call == operation) {
        odd_call += " with other sizes";
    }
    return confusion(to_id<world_rank>(static_cast<std::size_t>(odd)), odd_call,
                     to_id<world_rank>(static_cast<std::size_t>(usual)), operation);
}

/// How many bytes `messages` name for `peer` in one direction.
std::uint64_t bytes_for(std::span<listed const> messages, std::size_t peer, bool expected) {
    auto const is_it = [&](listed const& one) { return one.peer == peer && (one.expected != 0) == expected; };
    auto const found = std::ranges::find_if(messages, is_it);
    return found == messages.end() ? 0 : found->bytes;
}

/// The first message whose ends do not agree; one that is sent comes before one that is only expected.
fault mismatch_of(std::span<call const> calls) {
    for (bool const expected : {false, true}) {
        for (std::size_t rank = 0; rank < calls.size(); ++rank) {
            for (auto const& message : calls[rank].messages) {
                auto const there = bytes_for(calls[message.peer].messages, rank, !expected);
                if ((message.expected != 0) != expected || there == message.bytes) {
                    continue;
                }
                auto const self = to_id<world_rank>(rank);
                auto const peer = to_id<world_rank>(message.peer);
                auto const& operation = calls[rank].operation;
                return expected ? mismatch(operation, peer, there, self, message.bytes)
                                : mismatch(operation, self, message.bytes, peer, there);
            }
        }
    }
    return {calls.front().operation, std::nullopt, "the ranks do not agree on their messages"};
}

}  // namespace

std::uint64_t identity_of(subject about, std::string_view operation, std::span<std::uint64_t const> counts) {
    fingerprint all;
    all.add(static_cast<std::uint64_t>(about)).add(operation);
    for (auto const count : counts) {
        all.add(count);
    }
    return all.value();
}

stated state(world_rank self, std::span<outgoing const> sends, std::span<incoming const> receives,
             statement const& mine) {
    stated result{.value = mine.value, .refused = mine.refused ? 1U : 0U};
    for (auto const& message : sends) {
        result.messages += hash_of(self, message.peer, message.bytes.size());
    }
    for (auto const& message : receives) {
        result.messages -= hash_of(message.peer, self, message.bytes.size());
    }
    return result;
}

bool is_one_call(round const& arrivals) {
    return std::ranges::adjacent_find(arrivals.of_rank, std::not_equal_to{}, &contribution::identity) ==
           arrivals.of_rank.end();
}

std::optional<dissent> dissent_in(round const& arrivals) {
    auto const first = stated_in(arrivals.of_rank.front());
    bool const alike = std::ranges::all_of(arrivals.of_rank, [&](contribution const& arrival) {
        auto const one = stated_in(arrival);
        return one.value == first.value && one.refused == 0;
    });
    if (alike) {
        return std::nullopt;
    }
    std::vector<statement> statements;
    for (auto const& arrival : arrivals.of_rank) {
        auto const one = stated_in(arrival);
        statements.push_back({.operation = {}, .value = one.value, .refused = one.refused != 0});
    }
    return comm::dissent_in(statements);
}

bool messages_match(round const& arrivals) {
    std::uint64_t sum = 0;
    for (auto const& arrival : arrivals.of_rank) {
        sum += stated_in(arrival).messages;
    }
    return sum == 0;
}

std::vector<std::byte> details_of(part const& part) {
    std::vector<listed> messages;
    for (auto const& message : part.sends) {
        messages.push_back({static_cast<std::uint32_t>(to_index(message.peer)), 0, message.bytes.size()});
    }
    for (auto const& message : part.receives) {
        messages.push_back({static_cast<std::uint32_t>(to_index(message.peer)), 1, message.bytes.size()});
    }
    std::uint64_t const count = messages.size();
    std::vector<std::byte> all;
    auto const add = [&](auto const& values) {
        std::ranges::copy(std::as_bytes(std::span{values}), std::back_inserter(all));
    };
    add(std::span{&count, 1});
    add(messages);
    add(part.name);
    return all;
}

fault judge(operation const& operation) {
    std::vector<call> calls;
    for (auto const& details : operation.details.of_rank) {
        calls.push_back(call_in(details));
    }
    return is_one_call(operation.arrivals) ? mismatch_of(calls) : confusion_of(identities(operation.arrivals), calls);
}

}  // namespace evenkeel::comm::mpi
