// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <vector>

#include <cuda_runtime_api.h>

namespace evenkeel::test {

/// Device memory, of a GPU or of the double.
class device_bytes {
  public:
    explicit device_bytes(std::size_t size) : size_{size} {
        if (cudaMalloc(&data_, size) != cudaSuccess) {
            throw std::runtime_error{"no device memory"};
        }
    }
    explicit device_bytes(std::span<std::byte const> content) : device_bytes{content.size()} { fill(content); }
    device_bytes(device_bytes const&) = delete;
    device_bytes& operator=(device_bytes const&) = delete;
    ~device_bytes() { cudaFree(data_); }

    [[nodiscard]] std::span<std::byte> get() const { return {static_cast<std::byte*>(data_), size_}; }

    void fill(std::span<std::byte const> content, std::size_t at = 0) { copy(get().data() + at, content); }
    [[nodiscard]] std::vector<std::byte> content() const { return content(0, size_); }
    [[nodiscard]] std::vector<std::byte> content(std::size_t at, std::size_t size) const {
        std::vector<std::byte> copied(size);
        copy(copied.data(), get().subspan(at, size));
        return copied;
    }

  private:
    static void copy(std::byte* to, std::span<std::byte const> from) {
        cudaStream_t stream = nullptr;
        bool const done = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess &&
                          cudaMemcpyAsync(to, from.data(), from.size(), cudaMemcpyDefault, stream) == cudaSuccess &&
                          cudaStreamSynchronize(stream) == cudaSuccess;
        cudaStreamDestroy(stream);
        if (!done) {
            throw std::runtime_error{"no copy from or to device memory"};
        }
    }

    void* data_ = nullptr;
    std::size_t size_;
};

}  // namespace evenkeel::test
