// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/core/ids.hpp>

namespace evenkeel::test {

/// What one rank does in a test. It may be a thread beside the other ranks or a process of its own, so it
/// - captures only what every rank can know by itself, and shares nothing that it writes;
/// - reports with EXPECT_* from where it is, or by an exception: either fails the test, whatever the other ranks find;
/// - may use ASSERT_*: the communicator is then aborted, so that no other rank waits for the one that has returned.
using rank_body = std::function<void(comm::communicator&)>;

/// Runs `body` as `world.rank()`: failures say which rank they are from, and a failed rank ends the others.
inline void run_rank(rank_body const& body, comm::communicator& world) {
    SCOPED_TRACE("rank " + std::to_string(to_index(world.rank())) + " of " + std::to_string(world.size().value));
    body(world);
    if (testing::Test::HasFatalFailure()) {
        world.abort("an assertion failed");
    }
}

}  // namespace evenkeel::test
