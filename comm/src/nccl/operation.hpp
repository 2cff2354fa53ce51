// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <evenkeel/comm/communicator.hpp>

#include "memory.hpp"
#include "wire.hpp"

namespace evenkeel::comm::nccl {

/// What each rank tells all others before bytes move.
struct greeting {
    std::uint64_t identity = 0;  ///< a hash of what the rank calls
    std::uint64_t value = 0;
    std::uint64_t refused = 0;
    std::uint64_t messages = 0;  ///< those of all ranks add up to 0 if every message is sent as it is expected
    std::uint64_t color = 0;
    std::uint64_t key = 0;
    std::array<char, 32> name{};  ///< of what the rank calls, as far as there is room
};

/// One operation of one rank, on its way from stage to stage. Nothing in it waits.
struct operation {
    /// What is waited for: the ranks to greet each other; to say what each sends, where that does not match; a split;
    /// bytes to get on the stream, over the wire, and into host memory.
    enum class stage { queued, greeting, accounting, splitting, moving, moved, landing, over };

    std::string name;
    greeting mine;
    std::vector<outgoing> sends;
    std::vector<incoming> receives;
    std::span<std::byte const> own;  ///< of a gathering; likewise
    std::span<std::byte> all;
    std::vector<std::uint64_t> counts;
    bool splits = false;

    cudaStream_t callers = nullptr;  ///< the caller's stream, if it has one
    std::unique_ptr<event> before;   ///< what was on it when the operation was called
    /// What is on its way to host memory: where it is on the device first.
    struct landing {
        std::byte const* here = nullptr;
        std::span<std::byte> to;
    };
    stage at = stage::queued;
    std::vector<landing> landings;
    std::vector<greeting> greetings;      ///< per rank
    std::vector<std::uint64_t> account;   ///< what this rank sends to and expects from each rank
    std::vector<std::uint64_t> accounts;  ///< those of all ranks
    std::unique_ptr<wire> child;          ///< of a split
    std::exception_ptr error;
};

}  // namespace evenkeel::comm::nccl
