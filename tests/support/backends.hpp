// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/comm/error.hpp>
#include <evenkeel/comm/threads.hpp>
#include <evenkeel/core/topology.hpp>

#include "tests/support/rank_body.hpp"

#ifdef EVENKEEL_TEST_MPI
#include "tests/support/mpi_backend.hpp"
#endif
#if defined(EVENKEEL_TEST_NCCL) || defined(EVENKEEL_TEST_DEVICE)
#include "tests/support/nccl_backend.hpp"
#endif

namespace evenkeel::test {

/// The deadline of a wait that is meant to succeed: only a rank that hangs ever comes near it.
inline constexpr std::chrono::seconds patience{60};

/// The deadline of a wait that is meant to fail. The others, who wait with `patience`, are told when it passes. They
/// have come by then, also as processes that take turns on two processors.
inline constexpr std::chrono::milliseconds impatience{200};

/// A backend of `comm` in a typed test: how to run a body on ranks. Where ranks are processes, each one calls `run`,
/// also one that has no part in `cluster`; it returns, or throws, when this process has no rank left to run.
struct threads {
    static constexpr auto name = "threads";
    /// The most ranks that `run` can give.
    static std::size_t most_ranks() { return 64; }
    /// Whether a suite of many cases runs case `number`. Backends that run it several times deal the cases out.
    static bool takes(std::uint64_t /*number*/) { return true; }
    static void run(topology const& cluster, rank_body const& body) {
        comm::run_threads(cluster, [&](comm::communicator& world) { run_rank(body, world); });
    }
};

#if defined(EVENKEEL_TEST_NCCL)
using backends = testing::Types<nccl_sequence, nccl_beside_threads, loopback>;
#elif defined(EVENKEEL_TEST_DEVICE)
using backends = testing::Types<loopback>;
#elif defined(EVENKEEL_TEST_MPI)
using backends = testing::Types<threads, mpi>;
#else
using backends = testing::Types<threads>;
#endif

/// Makes the tests of a suite read "all_to_all_on/threads.moves_every_field".
struct backend_name {
    template <class Backend>
    static std::string GetName(int) {
        return Backend::name;
    }
};

/// A test whose body runs on ranks. `run` is its last statement; it skips the test where the backend has too few.
template <class Backend>
class on_ranks : public testing::Test {
  protected:
    /// On `ranks` ranks of one node.
    static void run(std::size_t ranks, rank_body const& body) {
        run(uniform_topology(world_size{ranks}, node_size{ranks}), body);
    }

    static void run(topology const& cluster, rank_body const& body) {
        if (cluster.size().value > Backend::most_ranks()) {
            GTEST_SKIP() << cluster.size().value << " ranks, " << Backend::name << " has " << Backend::most_ranks();
        }
        Backend::run(cluster, body);
    }
};

/// The `comm::error` that `call` throws. Where it throws none, the test fails, and the error returned says so.
template <class Call>
comm::error error_of(Call call) {
    try {
        static_cast<void>(call());
    } catch (comm::error const& caught) {
        return caught;
    }
    ADD_FAILURE() << "no comm::error was thrown";
    return comm::error{"nothing", {}, {}, "no comm::error was thrown"};
}

/// What the `std::invalid_argument` that `call` throws says.
template <class Call>
std::string refusal_of(Call call) {
    try {
        static_cast<void>(call());
    } catch (std::invalid_argument const& caught) {
        return caught.what();
    }
    ADD_FAILURE() << "no std::invalid_argument was thrown";
    return "no std::invalid_argument was thrown";
}

}  // namespace evenkeel::test
