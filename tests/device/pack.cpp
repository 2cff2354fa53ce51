// SPDX-License-Identifier: Apache-2.0
// How fast samples that lie in any order are packed on the device, beside one copy of as many bytes:
//
//     pack [FILE]      256 MiB in samples of several sizes; FILE gets the rows as JSON
//
// Status 0 if every byte is right and samples of 4 KiB and more are packed at 0.8 times the speed of the one copy, 77
// and a reason where there is no GPU.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "nccl/device_copier.hpp"

namespace {

using namespace evenkeel;

void require(cudaError_t code) {
    if (code != cudaSuccess) {
        throw std::runtime_error{cudaGetErrorString(code)};
    }
}

std::byte* device_memory(std::size_t bytes) {
    void* made = nullptr;
    require(cudaMalloc(&made, bytes));
    return static_cast<std::byte*>(made);
}

/// The median of some times of what `work` puts on `stream`, in milliseconds.
double median_of(cudaStream_t stream, std::function<void()> const& work) {
    cudaEvent_t begun = nullptr;
    cudaEvent_t done = nullptr;
    require(cudaEventCreate(&begun));
    require(cudaEventCreate(&done));
    std::array<float, 21> times{};
    work();
    for (auto& time : times) {
        require(cudaEventRecord(begun, stream));
        work();
        require(cudaEventRecord(done, stream));
        require(cudaEventSynchronize(done));
        require(cudaEventElapsedTime(&time, begun, done));
    }
    require(cudaEventDestroy(begun));
    require(cudaEventDestroy(done));
    std::ranges::sort(times);
    return times[times.size() / 2];
}

/// Multiplication with an odd number is a bijection modulo a power of two: a shuffle without a table.
std::size_t shuffled(std::size_t number, std::size_t count_of_power_two) {
    return (number * 2'654'435'761U + 12'345U) & (count_of_power_two - 1);
}

struct row {
    std::size_t sample = 0;
    double packing = 0;  ///< ms: the kernels alone
    double call = 0;     ///< ms: with the list of copies on its way to the device
    double one_copy = 0;
    std::size_t wrong = 0;
};

row measure(std::size_t sample, std::size_t total) {
    // Samples of odd sizes lie one behind the other, so that hardly one is aligned.
    std::size_t const room = std::size_t{1} << (63 - __builtin_clzll(sample | 1));
    std::size_t const count = total / room;
    auto* const from = device_memory(count * sample);
    auto* const to = device_memory(count * sample);
    cudaStream_t stream = nullptr;
    require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));

    std::vector<std::uint32_t> content(count * sample / 4 + 1);
    std::iota(content.begin(), content.end(), 0U);
    require(cudaMemcpy(from, content.data(), count * sample, cudaMemcpyHostToDevice));
    std::vector<comm::local_copy> copies;
    for (std::size_t number = 0; number < count; ++number) {
        copies.push_back({from + shuffled(number, count) * sample, to + number * sample, sample});
    }

    row result{.sample = sample};
    auto const copier = std::make_shared<comm::nccl::device_copier>(world_rank{0}, 0);
    result.call = median_of(stream, [&] { copier->copy(copies, {stream}); });
    std::vector<std::byte> arrived(count * sample);
    require(cudaMemcpy(arrived.data(), to, arrived.size(), cudaMemcpyDeviceToHost));
    auto const* const expected = reinterpret_cast<std::byte const*>(content.data());
    for (std::size_t number = 0; number < count; ++number) {
        bool const right = std::equal(arrived.data() + number * sample, arrived.data() + (number + 1) * sample,
                                      expected + shuffled(number, count) * sample);
        result.wrong += right ? 0 : 1;
    }

    auto* const list =
        reinterpret_cast<comm::nccl::device_copy*>(device_memory(count * sizeof(comm::nccl::device_copy)));
    static_assert(sizeof(comm::nccl::device_copy) == sizeof(comm::local_copy));
    require(cudaMemcpy(list, copies.data(), count * sizeof(comm::nccl::device_copy), cudaMemcpyHostToDevice));
    std::size_t scratch_bytes = 0;
    require(comm::nccl::copy_batch(list, count, nullptr, scratch_bytes, stream));
    auto* const scratch = device_memory(scratch_bytes);
    result.packing =
        median_of(stream, [&] { require(comm::nccl::copy_batch(list, count, scratch, scratch_bytes, stream)); });
    result.one_copy = median_of(
        stream, [&] { require(cudaMemcpyAsync(to, from, count * sample, cudaMemcpyDeviceToDevice, stream)); });
    for (void* memory :
         {static_cast<void*>(from), static_cast<void*>(to), static_cast<void*>(list), static_cast<void*>(scratch)}) {
        require(cudaFree(memory));
    }
    require(cudaStreamDestroy(stream));
    return result;
}

}  // namespace

int main(int argc, char** argv) {
    int devices = 0;
    if (auto const code = cudaGetDeviceCount(&devices); code != cudaSuccess || devices == 0) {
        std::printf("no CUDA device: %s\n", cudaGetErrorString(code));
        return 77;
    }
    cudaDeviceProp card{};
    require(cudaGetDeviceProperties(&card, 0));
    constexpr std::size_t total = std::size_t{256} << 20U;
    constexpr std::size_t held_from = 4'096;
    constexpr double share_wanted = 0.8;
    std::printf("# %s, 256 MiB in any order, medians of 21\n", card.name);
    std::printf("%12s %12s %12s %12s %10s %10s %8s\n", "sample (B)", "packing ms", "call ms", "one copy ms", "speed",
                "call", "#wrong");
    std::string rows;
    bool good = true;
    for (std::size_t const sample : {256u, 259u, 4'096u, 4'099u, 65'536u, 65'539u, 1'048'576u}) {
        auto const one = measure(sample, total);
        double const speed = one.one_copy / one.packing;
        good = good && one.wrong == 0 && (sample < held_from || speed >= share_wanted);
        std::printf("%12zu %12.3f %12.3f %12.3f %10.2f %10.2f %8zu\n", sample, one.packing, one.call, one.one_copy,
                    speed, one.one_copy / one.call, one.wrong);
        rows += (rows.empty() ? "" : ",\n  ") + std::string{"{\"sample\": "} + std::to_string(sample) +
                ", \"packing_ms\": " + std::to_string(one.packing) + ", \"call_ms\": " + std::to_string(one.call) +
                ", \"one_copy_ms\": " + std::to_string(one.one_copy) + ", \"speed\": " + std::to_string(speed) +
                ", \"wrong\": " + std::to_string(one.wrong) + "}";
    }
    if (argc == 2) {
        std::ofstream{argv[1]} << "{\"card\": \"" << card.name << "\", \"rows\": [\n  " << rows << "]}\n";
    }
    std::printf("# %s\n", good ? "every byte right; 4 KiB and more at >= 0.8 of one copy" : "NOT as promised");
    return good ? 0 : 1;
}
