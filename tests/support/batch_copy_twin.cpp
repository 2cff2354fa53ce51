// SPDX-License-Identifier: Apache-2.0
// The host twin of batch_copy.cu: the same batch, one copy after the other, when the stream gets there. For tests without
// a device, where device memory is the host's.
#include <cstddef>
#include <cstring>

#include <cuda_runtime_api.h>

#include "nccl/batch_copy.hpp"

namespace evenkeel::comm::nccl {

namespace {

struct batch {
    device_copy const* copies;
    std::size_t count;
};

void CUDART_CB carry_out(void* given) {
    auto* const all = static_cast<batch*>(given);
    for (std::size_t number = 0; number < all->count; ++number) {
        std::memcpy(all->copies[number].to, all->copies[number].from, all->copies[number].bytes);
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
