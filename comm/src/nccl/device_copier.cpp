// SPDX-License-Identifier: Apache-2.0
#include "device_copier.hpp"

#include <algorithm>
#include <optional>

#include <evenkeel/comm/error.hpp>

#include "check.hpp"

namespace evenkeel::comm::nccl {

namespace {

cudaStream_t handle_of(stream on) { return static_cast<cudaStream_t>(on.handle); }

/// As CUDA aligns memory, so that each part of a piece of it is as good as one of its own.
constexpr std::size_t whole(std::size_t bytes) {
    constexpr std::size_t alignment = 256;
    return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace

template <class Call>
auto device_copier::checked(Call call) const {
    try {
        on_device const here{device_};
        return call();
    } catch (failure const& wrong) {
        throw error{"copy", rank_, std::nullopt, wrong.what()};
    }
}

bool device_copier::reaches(void const* address) const { return on_device_memory(address); }

device_copier::block& device_copier::find(shelf& from, growing_buffer::where place, std::size_t bytes) {
    // The smallest that is large enough, or else the largest, which grows.
    block* best = nullptr;
    for (auto const& one : from) {
        if (one->taken || !one->free.reached()) {
            continue;
        }
        bool const better = best == nullptr || (one->size >= bytes ? best->size < bytes || one->size < best->size
                                                                   : best->size < bytes && one->size > best->size);
        best = better ? one.get() : best;
    }
    if (best == nullptr) {
        from.push_back(std::make_unique<block>(place));
        best = from.back().get();
    }
    static_cast<void>(best->memory.of_size(bytes));
    best->size = std::max(best->size, bytes);
    return *best;
}

std::shared_ptr<std::byte> device_copier::take(std::size_t bytes, stream on) {
    return checked([&] {
        auto& found = find(there_, growing_buffer::where::device, bytes);
        auto* const memory = found.memory.of_size(bytes);
        found.taken = true;
        auto const give_back = [self = shared_from_this(), &found, on](std::byte*) {
            try {
                on_device const here{self->device_};
                found.free.record(handle_of(on));
                found.taken = false;
            } catch (failure const&) {
                // Never used again.
            }
        };
        return std::shared_ptr<std::byte>{memory, give_back};
    });
}

void device_copier::copy(std::span<local_copy const> copies, stream on) {
    checked([&] {
        std::size_t const size = copies.size() * sizeof(device_copy);
        auto& here = find(here_, growing_buffer::where::host, size);
        auto* const batch = reinterpret_cast<device_copy*>(here.memory.of_size(size));
        std::size_t count = 0;
        for (auto const& one : copies) {
            if (one.bytes > 0) {
                batch[count++] = {one.from, one.to, one.bytes};
            }
        }
        if (count == 0) {
            return;
        }
        std::size_t const described = whole(count * sizeof(device_copy));
        std::size_t scratch = 0;
        require(copy_batch(nullptr, count, nullptr, scratch, handle_of(on)), "cub::DeviceMemcpy::Batched");
        auto& there = find(there_, growing_buffer::where::device, described + scratch);
        auto* const memory = there.memory.of_size(described + scratch);
        require(cudaMemcpyAsync(memory, batch, count * sizeof(device_copy), cudaMemcpyDefault, handle_of(on)),
                "cudaMemcpyAsync");
        here.free.record(handle_of(on));
        require(
            copy_batch(reinterpret_cast<device_copy const*>(memory), count, memory + described, scratch, handle_of(on)),
            "cub::DeviceMemcpy::Batched");
        there.free.record(handle_of(on));
    });
}

void device_copier::move_runs(packing way, std::span<scattered_run const> runs, std::byte* dense, stream on) {
    if (runs.empty()) {
        return;
    }
    checked([&] {
        auto const over = handle_of(on);
        auto& here = find(here_, growing_buffer::where::host, runs.size_bytes());
        auto* const listed = reinterpret_cast<scattered_run*>(here.memory.of_size(runs.size_bytes()));
        std::ranges::copy(runs, listed);

        std::size_t scan_scratch = 0;
        std::size_t copy_scratch = 0;
        require(scan_runs(nullptr, runs.size(), nullptr, nullptr, scan_scratch, over), "cub::DeviceScan::ExclusiveSum");
        require(copy_runs(way, nullptr, nullptr, runs.size(), nullptr, nullptr, copy_scratch, over),
                "cub::DeviceMemcpy::Batched");
        std::size_t const described = whole(runs.size_bytes());
        std::size_t const placed = whole(runs.size() * sizeof(std::uint64_t));
        std::size_t const needed = described + placed + std::max(scan_scratch, copy_scratch);
        auto& there = find(there_, growing_buffer::where::device, needed);
        auto* const memory = there.memory.of_size(needed);
        auto* const list = reinterpret_cast<scattered_run const*>(memory);
        auto* const offsets = reinterpret_cast<std::uint64_t*>(memory + described);
        auto* const scratch = memory + described + placed;

        require(cudaMemcpyAsync(memory, listed, runs.size_bytes(), cudaMemcpyDefault, over), "cudaMemcpyAsync");
        here.free.record(over);
        require(scan_runs(list, runs.size(), offsets, scratch, scan_scratch, over), "cub::DeviceScan::ExclusiveSum");
        require(copy_runs(way, list, offsets, runs.size(), dense, scratch, copy_scratch, over),
                "cub::DeviceMemcpy::Batched");
        there.free.record(over);
    });
}

stream device_copier::own_stream() {
    return checked([&] {
        if (own_ == nullptr) {
            own_ = std::make_unique<nccl::own_stream>();
        }
        return stream{own_->get()};
    });
}

void device_copier::finish_own_stream() {
    if (own_ != nullptr) {
        checked([&] { require(cudaStreamSynchronize(own_->get()), "cudaStreamSynchronize"); });
    }
}

}  // namespace evenkeel::comm::nccl
