// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/core/topology.hpp>

namespace evenkeel::perf {

/// The backends of GPUs in this build: none, or loopback and nccl.
[[nodiscard]] std::span<std::string_view const> device_backends() noexcept;

/// Runs `body` on ranks that are threads of this process: they share a GPU (loopback), or have one each (nccl).
void run_on_devices(std::string_view backend, topology const& nodes,
                    std::function<void(comm::communicator&)> const& body);

/// The buffers of one rank once more, on its device. Without a backend of GPUs it does nothing.
class device_mirror {
  public:
    device_mirror(std::string_view backend, std::span<std::byte const> out, std::span<std::byte> in);
    device_mirror(device_mirror const&) = delete;
    device_mirror& operator=(device_mirror const&) = delete;
    ~device_mirror();

    /// Lets the messages be about the device.
    void take_over(std::vector<comm::outgoing>& sends, std::vector<comm::incoming>& receives) const;
    /// What the host has of `in` to the device, and back.
    void load() const;
    void fetch() const;

  private:
    [[maybe_unused]] std::span<std::byte const> out_;
    [[maybe_unused]] std::span<std::byte> in_;
    [[maybe_unused]] std::byte* out_there_ = nullptr;
    [[maybe_unused]] std::byte* in_there_ = nullptr;
};

}  // namespace evenkeel::perf
