// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace evenkeel::test {

/// How many allocations of this thread succeed until one fails; below 0, none fails. Only in the tests of comm.
extern thread_local long allocations_left;

}  // namespace evenkeel::test
