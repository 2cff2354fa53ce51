// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace evenkeel::test::nccl_double {

/// Controls of the NCCL and CUDA test double (nccl_double.cpp), which runs the calls that `comm` makes over threads and
/// host memory. It is no GPU and no NCCL: what passes with it has called them in the right order, no more. Where real
/// NCCL would hang or refuse, a call or the communicator returns an error: a send or receive outside a group, a send to
/// oneself without its receive, two ends of different sizes, gatherings of different sizes. What lacks a peer never
/// completes. Device memory is out of the host's reach: who touches it without a call of CUDA ends the program.

/// The next call of this name on this thread returns an error.
void fail_next(std::string_view call);

/// In the next call of this name on this thread, memory of the host runs out: what happens to those who prepare it.
void run_out_of_memory_in(std::string_view call);

/// How many GPUs the machine has; 1 at first.
void set_devices(int count);

/// Lets the stream of a handle count as being captured.
void set_capturing(void* stream, bool capturing);

/// How many functions have been put on streams: the scans and batches of copies, which the host twin makes of them.
[[nodiscard]] long batches();

/// Whether of what is longer than 128 KiB only the first and the last 64 KiB are moved: for more bytes than there is
/// memory.
void move_only_ends(bool whether);

/// Where `size` bytes of device memory are for a function on a stream, and the address itself if it is the host's.
[[nodiscard]] void* host_view(void const* address, std::size_t size);

/// How many allocations of device memory there are, and their bytes.
[[nodiscard]] long allocations();
[[nodiscard]] std::size_t allocated_bytes();

}  // namespace evenkeel::test::nccl_double
