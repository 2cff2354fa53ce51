// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace evenkeel::test::nccl_double {

/// Controls of the NCCL and CUDA test double (nccl_double.cpp), which runs the calls that `comm` makes over threads and
/// host memory. It is no GPU and no NCCL: what passes with it has called them in the right order, no more. Where real
/// NCCL would hang or refuse, a call or the communicator returns an error: a send or receive outside a group, a send to
/// oneself without its receive, two ends of different sizes, gatherings of different sizes. What lacks a peer never
/// completes.

/// The next call of this name on this thread returns an error.
void fail_next(std::string_view call);

/// How many GPUs the machine has; 1 at first.
void set_devices(int count);

/// Lets the stream of a handle count as being captured.
void set_capturing(void* stream, bool capturing);

/// How many allocations of device memory there are.
[[nodiscard]] long allocations();

}  // namespace evenkeel::test::nccl_double
