// SPDX-License-Identifier: Apache-2.0
#include "device_parley.hpp"

#include <cstring>

namespace evenkeel::comm::nccl {

void device_parley::begin(std::string_view, std::span<std::byte const> mine, std::span<std::byte> all) {
    all_ = all;
    own_ = mine.size();
    auto* const here = here_.of_size(all.size());
    auto* const there = there_.of_size(own_ + all.size());
    std::memcpy(here, mine.data(), own_);
    require(cudaMemcpyAsync(there, here, own_, cudaMemcpyDefault, on_), "cudaMemcpyAsync");
    over_.all_gather(there, there + own_, own_, on_);
    at_ = stage::enqueued;
}

bool device_parley::heard() {
    if (at_ == stage::enqueued) {
        // Only then is it on the stream.
        if (!over_.settled()) {
            return false;
        }
        require(cudaMemcpyAsync(here_.of_size(0), there_.of_size(0) + own_, all_.size(), cudaMemcpyDefault, on_),
                "cudaMemcpyAsync");
        reached_.record(on_);
        at_ = stage::copied;
    }
    if (at_ == stage::copied) {
        if (!reached_.reached()) {
            static_cast<void>(over_.settled());
            return false;
        }
        std::memcpy(all_.data(), here_.of_size(0), all_.size());
        at_ = stage::over;
    }
    return true;
}

fault device_parley::lateness(std::string_view operation) {
    return {std::string{operation}, std::nullopt,
            at_ == stage::over ? "the deadline passed while bytes were on their way"
                               : "the deadline passed before all ranks came"};
}

std::unique_ptr<parley> device_parley::split(std::uint32_t, std::uint32_t, wire& over, cudaStream_t on, deadline) {
    // What splits off from NCCL is NCCL.
    return std::make_unique<device_parley>(static_cast<nccl_wire&>(over), on);
}

}  // namespace evenkeel::comm::nccl
