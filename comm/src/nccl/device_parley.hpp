// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "memory.hpp"
#include "nccl_wire.hpp"
#include "parley.hpp"

namespace evenkeel::comm::nccl {

/// Ranks talk over NCCL itself, which tells nobody who is late or dead: everybody finds out by his own deadline.
class device_parley final : public parley {
  public:
    /// @param over, on  Outlive it.
    device_parley(nccl_wire& over, cudaStream_t on) : over_{over}, on_{on} {}

    void begin(std::string_view operation, std::span<std::byte const> mine, std::span<std::byte> all) override;
    [[nodiscard]] bool heard() override;
    void listen() override {}
    [[nodiscard]] fault lateness(std::string_view operation) override;
    void leave() noexcept override {}
    void tell(fault const&, std::optional<world_rank>) noexcept override {}
    [[nodiscard]] std::unique_ptr<parley> split(std::uint32_t color, std::uint32_t key, wire& over, cudaStream_t on,
                                                deadline until) override;

  private:
    enum class stage { enqueued, copied, over };

    nccl_wire& over_;
    cudaStream_t on_;
    std::span<std::byte> all_;
    std::size_t own_ = 0;  ///< bytes
    stage at_ = stage::over;
    event reached_;
    growing_buffer there_{growing_buffer::where::device};
    growing_buffer here_{growing_buffer::where::host};
};

}  // namespace evenkeel::comm::nccl
