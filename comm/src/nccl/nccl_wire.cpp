// SPDX-License-Identifier: Apache-2.0
#include "nccl_wire.hpp"

#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "check.hpp"

namespace evenkeel::comm::nccl {

namespace {

/// Sends and receives that NCCL carries out together. Whatever goes wrong inside, the group is closed.
class group {
  public:
    group() { require(ncclGroupStart(), "ncclGroupStart"); }
    group(group const&) = delete;
    group& operator=(group const&) = delete;
    ~group() {
        if (open_) {
            static_cast<void>(ncclGroupEnd());
        }
    }

    void note(ncclResult_t code, char const* call) noexcept {
        if (code != ncclSuccess && code != ncclInProgress && wrong_ == ncclSuccess) {
            wrong_ = code;
            call_ = call;
        }
    }
    void end() {
        open_ = false;
        note(ncclGroupEnd(), "ncclGroupEnd");
        require(wrong_, call_);
    }

  private:
    bool open_ = true;
    ncclResult_t wrong_ = ncclSuccess;
    char const* call_ = "ncclGroupEnd";
};

}  // namespace

void settle(ncclComm_t comm, deadline until, char const* call) {
    for (;;) {
        ncclResult_t now = ncclSuccess;
        require(ncclCommGetAsyncError(comm, &now), "ncclCommGetAsyncError");
        require(now, call);
        if (now == ncclSuccess) {
            return;
        }
        if (until.passed()) {
            throw failure{std::string{call} + ": the deadline passed before all ranks came"};
        }
        std::this_thread::sleep_for(std::chrono::microseconds{50});
    }
}

void nccl_wire::begin(std::span<departure const> sends, std::span<arrival const> receives, cudaStream_t on) {
    group together;
    for (auto const& message : sends) {
        together.note(
            ncclSend(message.from, message.bytes, ncclChar, static_cast<int>(to_index(message.to)), comm_, on),
            "ncclSend");
    }
    for (auto const& message : receives) {
        together.note(
            ncclRecv(message.to, message.bytes, ncclChar, static_cast<int>(to_index(message.from)), comm_, on),
            "ncclRecv");
    }
    together.end();
}

bool nccl_wire::settled(ncclComm_t comm) {
    ncclResult_t now = ncclSuccess;
    require(ncclCommGetAsyncError(comm, &now), "ncclCommGetAsyncError");
    require(now, "ncclCommGetAsyncError");
    return now == ncclSuccess;
}

bool nccl_wire::settled() { return settled(comm_); }

void nccl_wire::begin_split(world_rank color, world_rank position, std::size_t) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    // Resources of its own: aborting it leaves the others alone.
    config.splitShare = 0;
    require(ncclCommSplit(comm_, static_cast<int>(to_index(color)), static_cast<int>(to_index(position)), &splitting_,
                          &config),
            "ncclCommSplit");
}

std::unique_ptr<wire> nccl_wire::take_split() {
    if (!settled() || !settled(splitting_)) {
        return nullptr;
    }
    return std::make_unique<nccl_wire>(std::exchange(splitting_, nullptr));
}

void nccl_wire::close() {
    if (comm_ != nullptr && ncclCommFinalize(comm_) != ncclInvalidArgument) {
        // The others are done, too, or nearly so.
        settle(comm_, std::chrono::seconds{1}, "ncclCommFinalize");
        static_cast<void>(ncclCommDestroy(std::exchange(comm_, nullptr)));
    }
}

void nccl_wire::end() noexcept {
    if (splitting_ != nullptr) {
        static_cast<void>(ncclCommAbort(std::exchange(splitting_, nullptr)));
    }
    if (comm_ != nullptr) {
        static_cast<void>(ncclCommAbort(std::exchange(comm_, nullptr)));
    }
}

void nccl_wire::all_gather(std::byte const* mine, std::byte* all, std::size_t bytes, cudaStream_t on) {
    require(ncclAllGather(mine, all, bytes, ncclChar, comm_, on), "ncclAllGather");
}

}  // namespace evenkeel::comm::nccl
