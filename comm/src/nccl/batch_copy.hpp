// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "../copy.hpp"

namespace evenkeel::comm::nccl {

// Everything that these read or write is on the device. With `scratch` null nothing is put on the stream, and
// `scratch_bytes` becomes what is needed.

/// Bytes to be copied within the device.
struct device_copy {
    void const* from;
    void* to;
    std::size_t bytes;
};

/// Puts `count` copies on a stream, as one batch: however short, long or misaligned each one is, the bytes are spread
/// over the whole device.
///
/// @param copies  Ranges do not overlap.
[[nodiscard]] cudaError_t copy_batch(device_copy const* copies, std::size_t count, void* scratch,
                                     std::size_t& scratch_bytes, cudaStream_t on);

/// Where each of `count` runs begins when they follow each other: an exclusive scan of their bytes, gaps included.
[[nodiscard]] cudaError_t scan_runs(scattered_run const* runs, std::size_t count, std::uint64_t* offsets, void* scratch,
                                    std::size_t& scratch_bytes, cudaStream_t on);

enum class packing : bool { pack, unpack };

/// Copies `count` runs to `dense + offsets[run]`, or from there, likewise as one batch. Gaps are left alone.
///
/// @param offsets  As `scan_runs` writes them, on the same stream.
[[nodiscard]] cudaError_t copy_runs(packing way, scattered_run const* runs, std::uint64_t const* offsets,
                                    std::size_t count, std::byte* dense, void* scratch, std::size_t& scratch_bytes,
                                    cudaStream_t on);

}  // namespace evenkeel::comm::nccl
