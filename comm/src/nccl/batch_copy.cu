// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include <cub/device/device_memcpy.cuh>
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
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

struct extent_of {
    __host__ __device__ std::uint64_t operator()(scattered_run const& one) const { return one.bytes; }
};
struct size_of_run {
    scattered_run const* runs;
    __host__ __device__ std::size_t operator()(std::size_t number) const {
        return runs[number].at == nullptr ? 0 : runs[number].bytes;
    }
};
struct place_of_run {
    scattered_run const* runs;
    __host__ __device__ void* operator()(std::size_t number) const { return const_cast<std::byte*>(runs[number].at); }
};
struct place_in_message {
    std::byte* dense;
    std::uint64_t const* offsets;
    __host__ __device__ void* operator()(std::size_t number) const { return dense + offsets[number]; }
};

template <class Function>
auto for_each_run(Function function) {
    return thrust::make_transform_iterator(thrust::counting_iterator<std::size_t>{0}, function);
}

}  // namespace

cudaError_t copy_batch(device_copy const* copies, std::size_t count, void* scratch, std::size_t& scratch_bytes,
                       cudaStream_t on) {
    return cub::DeviceMemcpy::Batched(scratch, scratch_bytes, thrust::make_transform_iterator(copies, source_of{}),
                                      thrust::make_transform_iterator(copies, target_of{}),
                                      thrust::make_transform_iterator(copies, size_of{}),
                                      static_cast<std::int64_t>(count), on);
}

cudaError_t scan_runs(scattered_run const* runs, std::size_t count, std::uint64_t* offsets, void* scratch,
                      std::size_t& scratch_bytes, cudaStream_t on) {
    return cub::DeviceScan::ExclusiveSum(scratch, scratch_bytes, thrust::make_transform_iterator(runs, extent_of{}),
                                         offsets, static_cast<std::int64_t>(count), on);
}

cudaError_t copy_runs(packing way, scattered_run const* runs, std::uint64_t const* offsets, std::size_t count,
                      std::byte* dense, void* scratch, std::size_t& scratch_bytes, cudaStream_t on) {
    auto const sizes = for_each_run(size_of_run{runs});
    auto const scattered = for_each_run(place_of_run{runs});
    auto const together = for_each_run(place_in_message{dense, offsets});
    auto const runs_in_all = static_cast<std::int64_t>(count);
    return way == packing::pack
               ? cub::DeviceMemcpy::Batched(scratch, scratch_bytes, scattered, together, sizes, runs_in_all, on)
               : cub::DeviceMemcpy::Batched(scratch, scratch_bytes, together, scattered, sizes, runs_in_all, on);
}

}  // namespace evenkeel::comm::nccl
