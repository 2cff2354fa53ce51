// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <cuda_runtime_api.h>

namespace evenkeel::comm::nccl {

/// Bytes to be copied within the device.
struct device_copy {
    void const* from;
    void* to;
    std::size_t bytes;
};

/// Puts `count` copies on a stream, as one batch: however short, long or misaligned each one is, the bytes are spread
/// over the whole device.
///
/// @param copies         On the device. Ranges do not overlap.
/// @param scratch        On the device; null: nothing is copied, and `scratch_bytes` becomes what is needed.
[[nodiscard]] cudaError_t copy_batch(device_copy const* copies, std::size_t count, void* scratch,
                                     std::size_t& scratch_bytes, cudaStream_t on);

}  // namespace evenkeel::comm::nccl
