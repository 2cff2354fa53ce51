// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include <cuda_runtime_api.h>
#include <nccl.h>

namespace evenkeel::comm::nccl {

/// What CUDA or NCCL complains about; becomes the fault of a communicator.
class failure : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// @throws failure  if `code`, which `call` has returned, is an error.
inline void require(cudaError_t code, char const* call) {
    if (code != cudaSuccess) {
        throw failure{std::string{call} + ": " + cudaGetErrorString(code)};
    }
}

/// Likewise; a call that is still in progress is none.
inline void require(ncclResult_t code, char const* call) {
    if (code != ncclSuccess && code != ncclInProgress) {
        char const* const last = ncclGetLastError(nullptr);
        throw failure{std::string{call} + ": " + ncclGetErrorString(code) +
                      (last != nullptr && *last != '\0' ? std::string{" ("} + last + ")" : std::string{})};
    }
}

/// Makes a device current as long as it lives.
class on_device {
  public:
    explicit on_device(int device) {
        require(cudaGetDevice(&before_), "cudaGetDevice");
        if (before_ != device) {
            require(cudaSetDevice(device), "cudaSetDevice");
            changed_ = true;
        }
    }
    on_device(on_device const&) = delete;
    on_device& operator=(on_device const&) = delete;
    ~on_device() {
        if (changed_) {
            static_cast<void>(cudaSetDevice(before_));
        }
    }

  private:
    int before_ = 0;
    bool changed_ = false;
};

}  // namespace evenkeel::comm::nccl
