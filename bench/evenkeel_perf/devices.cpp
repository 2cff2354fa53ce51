// SPDX-License-Identifier: Apache-2.0
#include "devices.hpp"

#ifdef EVENKEEL_PERF_NCCL

#include <algorithm>
#include <array>
#include <chrono>
#include <stdexcept>
#include <string>

#include <cuda_runtime_api.h>

#include <evenkeel/comm/loopback.hpp>
#include <evenkeel/comm/nccl.hpp>
#include <evenkeel/comm/threads.hpp>

#include "examples/support/command_line.hpp"

namespace evenkeel::perf {
namespace {

constexpr std::array<std::string_view, 2> names{"loopback", "nccl"};

void require(cudaError_t code) {
    if (code != cudaSuccess) {
        throw std::runtime_error{cudaGetErrorString(code)};
    }
}

std::byte* device_copy_of(std::span<std::byte const> bytes) {
    void* made = nullptr;
    require(cudaMalloc(&made, std::max<std::size_t>(bytes.size(), 1)));
    require(cudaMemcpy(made, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
    return static_cast<std::byte*>(made);
}

}  // namespace

std::span<std::string_view const> device_backends() noexcept { return names; }

void run_on_devices(std::string_view backend, topology const& nodes,
                    std::function<void(comm::communicator&)> const& body) {
    if (backend == "loopback") {
        comm::run_loopback(nodes, body);
        return;
    }
    int devices = 0;
    if (cudaGetDeviceCount(&devices) == cudaSuccess && nodes.size().value > static_cast<std::size_t>(devices)) {
        examples::refuse("--ranks", "at most one for each of the " + std::to_string(devices) + " GPUs",
                         std::to_string(nodes.size().value));
    }
    constexpr std::chrono::seconds patience{60};
    auto const id = devices > 0 ? comm::make_nccl_id() : comm::nccl_id{};
    comm::run_threads(nodes, [&](comm::communicator& host) {
        if (devices > 0) {
            require(cudaSetDevice(static_cast<int>(to_index(host.rank()))));
        }
        auto const world = comm::make_nccl(id, host.rank(), nodes, patience, {.beside = &host});
        body(*world);
    });
}

device_mirror::device_mirror(std::string_view backend, std::span<std::byte const> out, std::span<std::byte> in)
    : out_{out}, in_{in} {
    if (std::ranges::find(names, backend) != names.end()) {
        out_there_ = device_copy_of(out);
        in_there_ = device_copy_of(in);
    }
}

device_mirror::~device_mirror() {
    if (in_there_ != nullptr) {
        static_cast<void>(cudaFree(out_there_));
        static_cast<void>(cudaFree(in_there_));
    }
}

void device_mirror::take_over(std::vector<comm::outgoing>& sends, std::vector<comm::incoming>& receives) const {
    if (in_there_ == nullptr) {
        return;
    }
    for (auto& message : sends) {
        message.bytes = {out_there_ + (message.bytes.data() - out_.data()), message.bytes.size()};
    }
    for (auto& message : receives) {
        message.bytes = {in_there_ + (message.bytes.data() - in_.data()), message.bytes.size()};
    }
}

void device_mirror::load() const {
    if (in_there_ != nullptr) {
        require(cudaMemcpy(in_there_, in_.data(), in_.size(), cudaMemcpyHostToDevice));
    }
}

void device_mirror::fetch() const {
    if (in_there_ != nullptr) {
        require(cudaMemcpy(in_.data(), in_there_, in_.size(), cudaMemcpyDeviceToHost));
    }
}

}  // namespace evenkeel::perf

#else

namespace evenkeel::perf {

std::span<std::string_view const> device_backends() noexcept { return {}; }
void run_on_devices(std::string_view, topology const&, std::function<void(comm::communicator&)> const&) {}
device_mirror::device_mirror(std::string_view, std::span<std::byte const> out, std::span<std::byte> in)
    : out_{out}, in_{in} {}
device_mirror::~device_mirror() = default;
void device_mirror::take_over(std::vector<comm::outgoing>&, std::vector<comm::incoming>&) const {}
void device_mirror::load() const {}
void device_mirror::fetch() const {}

}  // namespace evenkeel::perf

#endif
