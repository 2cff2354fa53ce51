// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include <cub/device/device_memcpy.cuh>
#include <thrust/iterator/transform_iterator.h>

#include "batch_copy.hpp"

namespace evenkeel::comm::nccl {

namespace {

struct source_of {
    __host__ __device__ void const* operator()(device_copy const& one) const { return one.from; }
};
struct target_of {
    __host__ __device__ void* operator()(device_copy const& one) const { return one.to; }
};
struct size_of {
    __host__ __device__ std::size_t operator()(device_copy const& one) const { return one.bytes; }
};

}  // namespace

cudaError_t copy_batch(device_copy const* copies, std::size_t count, void* scratch, std::size_t& scratch_bytes,
                       cudaStream_t on) {
    return cub::DeviceMemcpy::Batched(scratch, scratch_bytes, thrust::make_transform_iterator(copies, source_of{}),
                                      thrust::make_transform_iterator(copies, target_of{}),
                                      thrust::make_transform_iterator(copies, size_of{}),
                                      static_cast<std::int64_t>(count), on);
}

}  // namespace evenkeel::comm::nccl
