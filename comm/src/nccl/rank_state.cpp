// SPDX-License-Identifier: Apache-2.0
#include "rank_state.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include <evenkeel/comm/error.hpp>

#include "../agreement.hpp"
#include "../split.hpp"

namespace evenkeel::comm::nccl {

namespace {

/// Blocks start as well aligned as NCCL copies fast: byte by byte where either end is not at a multiple of 16.
constexpr std::size_t alignment = 128;

[[nodiscard]] std::size_t aligned(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

/// Whether NCCL may be given this memory.
[[nodiscard]] bool on_device_memory(void const* address) {
    cudaPointerAttributes attributes{};
    if (cudaPointerGetAttributes(&attributes, address) != cudaSuccess) {
        static_cast<void>(cudaGetLastError());
        return false;
    }
    return attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
}

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

    void send(void const* from, std::size_t bytes, world_rank peer, ncclComm_t comm, cudaStream_t on) {
        note(ncclSend(from, bytes, ncclChar, static_cast<int>(to_index(peer)), comm, on), "ncclSend");
    }
    void receive(void* to, std::size_t bytes, world_rank peer, ncclComm_t comm, cudaStream_t on) {
        note(ncclRecv(to, bytes, ncclChar, static_cast<int>(to_index(peer)), comm, on), "ncclRecv");
    }
    void end() {
        open_ = false;
        note(ncclGroupEnd(), "ncclGroupEnd");
        require(wrong_, call_);
    }

  private:
    void note(ncclResult_t code, char const* call) noexcept {
        if (code != ncclSuccess && code != ncclInProgress && wrong_ == ncclSuccess) {
            wrong_ = code;
            call_ = call;
        }
    }

    bool open_ = true;
    ncclResult_t wrong_ = ncclSuccess;
    char const* call_ = "ncclGroupEnd";
};

void copy(void* to, void const* from, std::size_t bytes, cudaStream_t on) {
    if (bytes > 0) {
        require(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, on), "cudaMemcpyAsync");
    }
}

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

rank_state::rank_state(ncclComm_t comm, world_rank rank, evenkeel::topology nodes, int device)
    : comm_{comm}, rank_{rank}, topology_{std::move(nodes)}, device_{device} {
    require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
}

rank_state::~rank_state() {
    try {
        on_device const here{device_};
        if (comm_ != nullptr) {
            // The others are done, too, or nearly so.
            if (under_way_.empty() && ncclCommFinalize(comm_) != ncclInvalidArgument) {
                settle(comm_, std::chrono::seconds{1}, "ncclCommFinalize");
                static_cast<void>(ncclCommDestroy(comm_));
            } else {
                static_cast<void>(ncclCommAbort(comm_));
            }
            comm_ = nullptr;
        }
        static_cast<void>(cudaStreamDestroy(stream_));
    } catch (std::exception const&) {
        if (comm_ != nullptr) {
            static_cast<void>(ncclCommAbort(comm_));
        }
    }
}

bool rank_state::settled(ncclComm_t comm) const {
    ncclResult_t now = ncclSuccess;
    require(ncclCommGetAsyncError(comm, &now), "ncclCommGetAsyncError");
    require(now, "ncclCommGetAsyncError");
    return now == ncclSuccess;
}

void rank_state::begin(std::shared_ptr<operation> one) {
    under_way_.push_back(one);
    try {
        drive(*one);
    } catch (error const&) {
        // `wait` tells.
    }
}

bool rank_state::ready(operation const& one) {
    if (one.at != operation::stage::over) {
        drive(one);
    }
    rethrow(one);
    return one.at == operation::stage::over;
}

void rank_state::wait(operation const& one, deadline until) {
    // An answer that is near comes soonest to who asks for it all the time; one that is far should cost nothing.
    constexpr unsigned impatient = 200;
    for (unsigned looks = 0; !ready(one); ++looks) {
        if (until.passed()) {
            fail({one.name, std::nullopt, "the deadline passed before all ranks came"});
        } else if (looks < impatient) {
            std::this_thread::yield();
        } else {
            std::this_thread::sleep_for(std::chrono::microseconds{20});
        }
    }
}

void rank_state::rethrow(operation const& one) const {
    if (one.at == operation::stage::over) {
        if (one.error != nullptr) {
            std::rethrow_exception(one.error);
        }
    } else if (fault_) {
        throw error{fault_->operation, rank_, fault_->peer, fault_->reason};
    }
}

void rank_state::give_up(operation const& one) noexcept {
    if (one.at == operation::stage::over || fault_) {
        return;
    }
    fault gone;
    try {
        gone = {one.name, rank_, rank_text(rank_) + " gave it up"};
    } catch (std::exception const&) {
        // Ended all the same.
    }
    fail(std::move(gone));
}

void rank_state::fail(fault why) noexcept {
    if (fault_) {
        return;
    }
    fault_ = std::move(why);
    // From here on NCCL touches no buffer: an abort stops its kernels.
    if (splitting_ != nullptr) {
        static_cast<void>(ncclCommAbort(std::exchange(splitting_, nullptr)));
    }
    static_cast<void>(ncclCommAbort(std::exchange(comm_, nullptr)));
    under_way_.clear();
    for (auto const& weak : children_) {
        if (auto const child = weak.lock()) {
            try {
                child->fail(inherited(*fault_));
            } catch (std::exception const&) {
                child->fail({});
            }
        }
    }
}

void rank_state::drive(operation const& target) {
    while (!fault_ && !under_way_.empty()) {
        auto const first = under_way_.front();
        try {
            on_device const here{device_};
            if (!advance(*first)) {
                return;
            }
        } catch (failure const& wrong) {
            fail({first->name, std::nullopt, wrong.what()});
            return;
        }
        if (!under_way_.empty()) {
            under_way_.pop_front();
        }
        if (first.get() == &target) {
            return;
        }
    }
}

bool rank_state::advance(operation& one) {
    using stage = operation::stage;
    for (;;) {
        switch (one.at) {
            case stage::queued:
                greet(one);
                one.at = stage::greeting;
                break;
            case stage::greeting: {
                // Only then is it on the stream.
                if (!settled(comm_)) {
                    return false;
                }
                auto const size = topology_.size().value * sizeof(greeting);
                copy(greetings_here_.of_size(size), greetings_.of_size(size + sizeof(greeting)) + sizeof(greeting),
                     size, stream_);
                reached_.record(stream_);
                one.at = stage::greeted;
                break;
            }
            case stage::greeted:
                if (!reached_.reached()) {
                    static_cast<void>(settled(comm_));
                    return false;
                }
                if (!judge(one)) {
                    one.at = stage::over;
                } else if (one.splits) {
                    split(one);
                    one.at = stage::splitting;
                } else {
                    move(one);
                    one.at = stage::moving;
                }
                break;
            case stage::moving:
                if (!settled(comm_)) {
                    return false;
                }
                bring_home(one);
                one.at = stage::moved;
                break;
            case stage::moved:
                if (!reached_.reached()) {
                    static_cast<void>(settled(comm_));
                    return false;
                }
                one.at = stage::over;
                break;
            case stage::splitting: {
                if (!settled(comm_) || !settled(splitting_)) {
                    return false;
                }
                std::vector<split_wish> wishes;
                for (auto const& other : one.greetings) {
                    wishes.push_back({static_cast<std::uint32_t>(other.color), static_cast<std::uint32_t>(other.key)});
                }
                auto const members = group_of(rank_, wishes, topology_);
                one.child = std::make_shared<rank_state>(std::exchange(splitting_, nullptr), members.self,
                                                         members.nodes, device_);
                children_.push_back(one.child);
                one.at = stage::over;
                break;
            }
            case stage::over: return true;
        }
    }
}

void rank_state::greet(operation& one) {
    if (one.before != nullptr) {
        require(cudaStreamWaitEvent(stream_, one.before->get(), 0), "cudaStreamWaitEvent");
    }
    auto const size = topology_.size().value * sizeof(greeting);
    auto* const here = greetings_here_.of_size(size);
    auto* const own = greetings_.of_size(size + sizeof(greeting));
    std::memcpy(here, &one.mine, sizeof one.mine);
    copy(own, here, sizeof one.mine, stream_);
    require(ncclAllGather(own, own + sizeof(greeting), sizeof(greeting), ncclChar, comm_, stream_), "ncclAllGather");
}

bool rank_state::judge(operation& one) {
    one.greetings.resize(topology_.size().value);
    std::memcpy(one.greetings.data(), greetings_here_.of_size(0), one.greetings.size() * sizeof(greeting));
    std::uint64_t messages = 0;
    std::vector<statement> statements;
    for (auto const& other : one.greetings) {
        if (other.identity != one.mine.identity) {
            throw failure{"the ranks do not call the same"};
        }
        messages += other.messages;
        statements.push_back({.operation = {}, .value = other.value, .refused = other.refused != 0});
    }
    if (auto const objection = dissent_in(statements)) {
        one.error =
            std::make_exception_ptr(error{one.name, rank_, objection->peer, objection->reason, aftermath::can_go_on});
        return false;
    }
    if (messages != 0) {
        throw failure{"a message is not sent as it is expected"};
    }
    return one.splits || !one.sends.empty() || !one.receives.empty() || !one.all.empty();
}

void rank_state::move(operation& one) {
    std::size_t size = aligned(one.own.size());
    for (auto const count : one.counts) {
        size += aligned(count);
    }
    for (auto const& message : one.sends) {
        size += aligned(message.bytes.size());
    }
    for (auto const& message : one.receives) {
        size += aligned(message.bytes.size());
    }
    auto* at = staging_.of_size(size);
    auto const take = [&](std::size_t bytes) { return std::exchange(at, at + aligned(bytes)); };

    // The group waits on the stream for the copies before it.
    std::vector<std::byte const*> leaving;
    for (auto const& message : one.sends) {
        std::byte const* from = message.bytes.data();
        auto* const staged = take(message.bytes.size());
        if (!on_device_memory(from)) {
            copy(staged, from, message.bytes.size(), stream_);
            from = staged;
        }
        leaving.push_back(from);
    }
    auto* const own = take(one.own.size());
    copy(own, one.own.data(), one.own.size(), stream_);

    group together;
    for (std::size_t s = 0; s < one.sends.size(); ++s) {
        together.send(leaving[s], one.sends[s].bytes.size(), one.sends[s].peer, comm_, stream_);
    }
    for (auto const& message : one.receives) {
        auto* const staged = take(message.bytes.size());
        together.receive(on_device_memory(message.bytes.data()) ? message.bytes.data() : staged, message.bytes.size(),
                         message.peer, comm_, stream_);
    }
    for (std::size_t rank = 0; rank < one.counts.size(); ++rank) {
        auto* const staged = take(one.counts[rank]);
        auto const peer = to_id<world_rank>(rank);
        if (peer != rank_ && !one.own.empty()) {
            together.send(own, one.own.size(), peer, comm_, stream_);
        }
        if (peer != rank_ && one.counts[rank] > 0) {
            together.receive(staged, one.counts[rank], peer, comm_, stream_);
        }
    }
    together.end();
}

void rank_state::bring_home(operation& one) {
    // The places are those of `move`.
    auto* at = staging_.of_size(0);
    auto const take = [&](std::size_t bytes) { return std::exchange(at, at + aligned(bytes)); };
    for (auto const& message : one.sends) {
        take(message.bytes.size());
    }
    auto* const own = take(one.own.size());
    for (auto const& message : one.receives) {
        auto* const staged = take(message.bytes.size());
        if (!on_device_memory(message.bytes.data())) {
            copy(message.bytes.data(), staged, message.bytes.size(), stream_);
        }
    }
    auto rest = one.all;
    for (std::size_t rank = 0; rank < one.counts.size(); ++rank) {
        auto* const staged = take(one.counts[rank]);
        copy(rest.data(), rank == to_index(rank_) ? own : staged, one.counts[rank], stream_);
        rest = rest.subspan(one.counts[rank]);
    }
    reached_.record(stream_);
    if (one.callers != nullptr) {
        require(cudaStreamWaitEvent(one.callers, reached_.get(), 0), "cudaStreamWaitEvent");
    }
}

void rank_state::split(operation& one) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    // Resources of its own: aborting it leaves the others alone.
    config.splitShare = 0;
    // NCCL wants small colours from 0 on: the first rank with a colour stands for it.
    auto const first = std::ranges::find(one.greetings, one.mine.color, &greeting::color) - one.greetings.begin();
    // Its keys have a sign. Positions do not need it, and order the ranks as (key, rank) does.
    std::vector<split_wish> wishes;
    for (auto const& other : one.greetings) {
        wishes.push_back({static_cast<std::uint32_t>(other.color), static_cast<std::uint32_t>(other.key)});
    }
    auto const position = to_index(group_of(rank_, wishes, topology_).self);
    require(ncclCommSplit(comm_, static_cast<int>(first), static_cast<int>(position), &splitting_, &config),
            "ncclCommSplit");
}

}  // namespace evenkeel::comm::nccl
