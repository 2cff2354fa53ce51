// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/comm/error.hpp>
#include <evenkeel/comm/pending.hpp>

#include "parley.hpp"

namespace evenkeel::comm::nccl {

/// Ranks talk over a communicator of the host, which knows who is late, dead or has something to tell.
class host_parley final : public parley {
  public:
    explicit host_parley(std::unique_ptr<communicator> host) : host_{std::move(host)} {}

    void begin(std::string_view operation, std::span<std::byte const> mine, std::span<std::byte> all) override;
    [[nodiscard]] bool heard() override;
    void listen() override;
    [[nodiscard]] fault lateness(std::string_view operation) override;
    void leave() noexcept override;
    void tell(fault const& why, std::optional<world_rank> culprit) noexcept override;
    [[nodiscard]] std::unique_ptr<parley> split(std::uint32_t color, std::uint32_t key, wire& over, cudaStream_t on,
                                                deadline until) override;

  private:
    [[nodiscard]] fault fault_of(error const& wrong) const;

    std::unique_ptr<communicator> host_;
    std::string operation_;
    bool talking_ = false;
    pending talk_;  // after the communicator, so that it is given up before that is gone
};

}  // namespace evenkeel::comm::nccl
