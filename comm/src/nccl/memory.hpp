// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

#include "check.hpp"

namespace evenkeel::comm::nccl {

/// Memory that only grows, of the device or pinned on the host.
class growing_buffer {
  public:
    enum class where : bool { device, host };

    explicit growing_buffer(where place) : place_{place} {}
    growing_buffer(growing_buffer const&) = delete;
    growing_buffer& operator=(growing_buffer const&) = delete;
    ~growing_buffer() { release(); }

    /// At least `bytes` bytes. What was in it is lost; nothing may be using it.
    [[nodiscard]] std::byte* of_size(std::size_t bytes) {
        if (bytes > size_) {
            release();
            void* made = nullptr;
            if (place_ == where::device) {
                require(cudaMalloc(&made, bytes), "cudaMalloc");
            } else {
                require(cudaMallocHost(&made, bytes), "cudaMallocHost");
            }
            data_ = static_cast<std::byte*>(made);
            size_ = bytes;
        }
        return data_;
    }

  private:
    void release() noexcept {
        if (data_ != nullptr) {
            static_cast<void>(place_ == where::device ? cudaFree(data_) : cudaFreeHost(data_));
            data_ = nullptr;
            size_ = 0;
        }
    }

    where place_;
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

/// Whether a device reaches this memory.
[[nodiscard]] inline bool on_device_memory(void const* address) {
    cudaPointerAttributes attributes{};
    if (cudaPointerGetAttributes(&attributes, address) != cudaSuccess) {
        static_cast<void>(cudaGetLastError());
        return false;
    }
    return attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
}

/// A stream that does not wait for the default one.
class own_stream {
  public:
    own_stream() { require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags"); }
    own_stream(own_stream&& other) noexcept : stream_{std::exchange(other.stream_, nullptr)} {}
    own_stream& operator=(own_stream&&) = delete;
    ~own_stream() {
        if (stream_ != nullptr) {
            static_cast<void>(cudaStreamDestroy(stream_));
        }
    }

    [[nodiscard]] cudaStream_t get() const noexcept { return stream_; }

  private:
    cudaStream_t stream_ = nullptr;
};

/// An event without a time.
class event {
  public:
    event() { require(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreateWithFlags"); }
    event(event const&) = delete;
    event& operator=(event const&) = delete;
    ~event() { static_cast<void>(cudaEventDestroy(event_)); }

    void record(cudaStream_t on) { require(cudaEventRecord(event_, on), "cudaEventRecord"); }
    [[nodiscard]] cudaEvent_t get() const noexcept { return event_; }
    [[nodiscard]] bool reached() const {
        auto const code = cudaEventQuery(event_);
        if (code == cudaErrorNotReady) {
            return false;
        }
        require(code, "cudaEventQuery");
        return true;
    }

  private:
    cudaEvent_t event_ = nullptr;
};

}  // namespace evenkeel::comm::nccl
