// SPDX-License-Identifier: Apache-2.0
// The host twin of batch_copy.cu: the same batch, one copy after the other, when the stream gets there. For tests
// without a device, over the memory of the double.
#include <cstddef>
#include <cstring>

#include <cuda_runtime_api.h>

#include "nccl/batch_copy.hpp"
#include "tests/support/nccl_double.hpp"

namespace evenkeel::comm::nccl {

namespace {

struct batch {
    device_copy const* copies;
    std::size_t count;
};

void CUDART_CB carry_out(void* given) {
    auto* const all = static_cast<batch*>(given);
    using evenkeel::test::nccl_double::host_view;
    auto const* const copies =
        static_cast<device_copy const*>(host_view(all->copies, all->count * sizeof(device_copy)));
    for (std::size_t number = 0; number < all->count; ++number) {
        auto const& one = copies[number];
        std::memcpy(host_view(one.to, one.bytes), host_view(one.from, one.bytes), one.bytes);
    }
    delete all;
}

}  // namespace

cudaError_t copy_batch(device_copy const* copies, std::size_t count, void* scratch, std::size_t& scratch_bytes,
                       cudaStream_t on) {
    if (scratch == nullptr) {
        scratch_bytes = 1;  // as CUB, which always wants some
        return cudaSuccess;
    }
    return cudaLaunchHostFunc(on, carry_out, new batch{copies, count});
}

}  // namespace evenkeel::comm::nccl
