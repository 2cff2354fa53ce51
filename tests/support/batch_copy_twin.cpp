// SPDX-License-Identifier: Apache-2.0
// The host twin of batch_copy.cu: the same scans and copies, one after the other, when the stream gets there. For tests
// without a device, over the memory of the double.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>

#include <cuda_runtime_api.h>

#include "nccl/batch_copy.hpp"
#include "tests/support/nccl_double.hpp"

namespace evenkeel::comm::nccl {

namespace {

using evenkeel::test::nccl_double::host_view;

template <class Value>
Value* seen_by_host(Value* first, std::size_t count) {
    return static_cast<Value*>(host_view(first, count * sizeof(Value)));
}

void copy_there(void const* from, void* to, std::size_t bytes) {
    std::memcpy(host_view(to, bytes), host_view(from, bytes), bytes);
}

/// Does `work` when the stream gets there; as CUB, wants some scratch first.
template <class Work>
cudaError_t enqueue(void* scratch, std::size_t& scratch_bytes, cudaStream_t on, Work work) {
    if (scratch == nullptr) {
        scratch_bytes = 1;
        return cudaSuccess;
    }
    auto const carry_out = [](void* given) {
        std::unique_ptr<Work> const held{static_cast<Work*>(given)};
        (*held)();
    };
    return cudaLaunchHostFunc(on, carry_out, new Work{work});
}

}  // namespace

cudaError_t copy_batch(device_copy const* copies, std::size_t count, void* scratch, std::size_t& scratch_bytes,
                       cudaStream_t on) {
    return enqueue(scratch, scratch_bytes, on, [=] {
        auto const* const all = seen_by_host(copies, count);
        std::for_each(all, all + count, [](device_copy const& one) { copy_there(one.from, one.to, one.bytes); });
    });
}

cudaError_t scan_runs(scattered_run const* runs, std::size_t count, std::uint64_t* offsets, void* scratch,
                      std::size_t& scratch_bytes, cudaStream_t on) {
    return enqueue(scratch, scratch_bytes, on, [=] {
        auto const* const all = seen_by_host(runs, count);
        std::transform_exclusive_scan(all, all + count, seen_by_host(offsets, count), std::uint64_t{0}, std::plus<>{},
                                      [](scattered_run const& one) { return std::uint64_t{one.bytes}; });
    });
}

cudaError_t copy_runs(packing way, scattered_run const* runs, std::uint64_t const* offsets, std::size_t count,
                      std::byte* dense, void* scratch, std::size_t& scratch_bytes, cudaStream_t on) {
    return enqueue(scratch, scratch_bytes, on, [=] {
        auto const* const all = seen_by_host(runs, count);
        auto const* const places = seen_by_host(offsets, count);
        for (std::size_t number = 0; number < count; ++number) {
            auto const& [at, bytes] = all[number];
            auto* const together = dense + places[number];
            if (at != nullptr && bytes > 0) {
                way == packing::pack ? copy_there(at, together, bytes)
                                     : copy_there(together, const_cast<std::byte*>(at), bytes);
            }
        }
    });
}

}  // namespace evenkeel::comm::nccl
