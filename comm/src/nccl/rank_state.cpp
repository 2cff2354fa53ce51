// SPDX-License-Identifier: Apache-2.0
#include "rank_state.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <utility>

#include <evenkeel/comm/error.hpp>

#include "../agreement.hpp"
#include "../split.hpp"
#include "judgement.hpp"

namespace evenkeel::comm::nccl {

namespace {

/// Blocks start as well aligned as NCCL copies fast: byte by byte where either end is not at a multiple of 16.
constexpr std::size_t alignment = 128;

[[nodiscard]] std::size_t aligned(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

void copy(void* to, void const* from, std::size_t bytes, cudaStream_t on) {
    if (bytes > 0) {
        require(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, on), "cudaMemcpyAsync");
    }
}

/// Where an operation has its bytes in device memory that is the communicator's own, one block behind the other.
class places {
  public:
    explicit places(std::byte* first) : at_{first} {}
    [[nodiscard]] std::byte* next(std::size_t bytes) { return std::exchange(at_, at_ + aligned(bytes)); }

  private:
    std::byte* at_;
};

}  // namespace

rank_state::rank_state(world_rank rank, evenkeel::topology nodes, lines to_others)
    : rank_{rank}, topology_{std::move(nodes)}, lines_{std::move(to_others)} {}

rank_state::~rank_state() {
    try {
        on_device const here{device()};
        if (under_way_.empty()) {
            lines_.wire->close();
        }
        lines_.wire->end();
    } catch (std::exception const&) {
        lines_.wire->end();
    }
}

void rank_state::begin(std::shared_ptr<operation> one) {
    if (fault_) {
        return;  // `wait` tells
    }
    under_way_.push_back(one);
    drive(*one);
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
            fail(lines_.parley->lateness(one.name));
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
    if (fault_) {
        return;
    }
    fault gone{.operation = {}, .peer = rank_, .reason = {}};
    try {
        gone.operation = one.name;
        gone.reason = rank_text(rank_) + " gave it up";
    } catch (std::exception const&) {
        // Ended all the same.
    }
    lines_.parley->leave();
    fail(std::move(gone));
}

void rank_state::fail(fault why) noexcept { end(std::move(why), finder::this_rank); }

void rank_state::fail_here(std::string_view operation, std::string_view what) noexcept {
    fault why;
    try {
        why.operation = operation;
        why.reason = what;
    } catch (std::exception const&) {
        // Ended all the same.
    }
    end(std::move(why), finder::itself);
}

void rank_state::abort(std::string_view reason, std::optional<world_rank> culprit) noexcept {
    if (fault_) {
        return;
    }
    fault why{.operation = {}, .peer = culprit, .reason = {}};
    try {
        why.operation = "abort";
        why.reason = rank_text(rank_).append(": ").append(reason);
        lines_.parley->tell(why, culprit);
        // Another rank may have been first.
        lines_.parley->listen();
    } catch (told const& first) {
        why = first.why;
    } catch (std::exception const&) {
        // Ended all the same.
    }
    end(std::move(why), finder::another_rank);
}

void rank_state::require_alive() {
    try {
        if (!fault_) {
            lines_.parley->listen();
        }
    } catch (told const& other) {
        end(other.why, finder::another_rank);
    }
    if (fault_) {
        throw error{fault_->operation, rank_, fault_->peer, fault_->reason};
    }
}

void rank_state::adopt(std::shared_ptr<rank_state> const& child) {
    require_alive();
    std::erase_if(children_, [](auto const& weak) { return weak.expired(); });
    children_.push_back(child);
}

void rank_state::end(fault why, finder by) noexcept {
    if (fault_) {
        return;
    }
    fault_ = std::move(why);
    if (by == finder::itself || by == finder::this_rank) {
        // First: whoever misses this rank on the wire finds out why.
        lines_.parley->tell(*fault_, by == finder::itself ? rank_ : fault_->peer);
    }
    if (by != finder::all_ranks) {
        lines_.wire->end();
        drain();
    }
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

/// What is on the stream behind bytes that will not come does not touch the caller's buffers later.
void rank_state::drain() noexcept {
    deadline const end = std::chrono::seconds{1};
    while (!under_way_.empty() && cudaStreamQuery(lines_.stream.get()) == cudaErrorNotReady && !end.passed()) {
        std::this_thread::yield();
    }
}

void rank_state::drive(operation const& target) {
    while (!fault_ && !under_way_.empty()) {
        auto const first = under_way_.front();
        try {
            on_device const here{device()};
            if (!advance(*first)) {
                return;
            }
        } catch (failure const& wrong) {
            fail_here(first->name, wrong.what());
            return;
        } catch (told const& other) {
            end(other.why, finder::another_rank);
            return;
        } catch (std::exception const&) {
            // Out of memory: nobody waits for this rank, and nothing moves into buffers that the caller frees.
            fail_here(first->name, "could not take part");
            throw;
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
    auto& wire = *lines_.wire;
    auto& parley = *lines_.parley;
    while (one.at != stage::over && !fault_) {
        switch (one.at) {
            case stage::queued:
                one.greetings.resize(topology_.size().value);
                parley.begin(one.name, std::as_bytes(std::span{&one.mine, 1}),
                             std::as_writable_bytes(std::span{one.greetings}));
                one.at = stage::greeting;
                break;
            case stage::greeting:
                if (!parley.heard()) {
                    return false;
                }
                judge(one);
                break;
            case stage::accounting:
                if (!parley.heard()) {
                    return false;
                }
                end(mismatch_in(one.name, topology_.size().value, one.accounts), finder::all_ranks);
                break;
            case stage::splitting:
                parley.listen();
                one.child = wire.take_split();
                if (one.child == nullptr) {
                    return false;
                }
                one.at = stage::over;
                break;
            case stage::moving:
                parley.listen();
                // Only then is it on the stream.
                if (!wire.settled()) {
                    return false;
                }
                reached_.record(lines_.stream.get());
                one.at = stage::moved;
                break;
            case stage::moved:
                if (!reached_.reached()) {
                    parley.listen();
                    static_cast<void>(wire.settled());
                    return false;
                }
                one.at = land(one) ? stage::landing : stage::over;
                break;
            case stage::landing:
                if (!reached_.reached()) {
                    return false;
                }
                one.at = stage::over;
                break;
            case stage::over: break;
        }
    }
    return one.at == stage::over;
}

void rank_state::judge(operation& one) {
    using stage = operation::stage;
    if (auto confused = confusion_in(one.name, one.greetings)) {
        end(std::move(*confused), finder::all_ranks);
        return;
    }
    std::uint64_t messages = 0;
    std::vector<statement> statements;
    for (auto const& other : one.greetings) {
        messages += other.messages;
        statements.push_back({.operation = {}, .value = other.value, .refused = other.refused != 0});
    }
    if (auto const objection = dissent_in(statements)) {
        one.error =
            std::make_exception_ptr(error{one.name, rank_, objection->peer, objection->reason, aftermath::can_go_on});
        one.at = stage::over;
    } else if (messages != 0) {
        one.account = account_of(topology_.size().value, one.sends, one.receives);
        one.accounts.resize(one.account.size() * topology_.size().value);
        lines_.parley->begin(one.name, std::as_bytes(std::span{one.account}),
                             std::as_writable_bytes(std::span{one.accounts}));
        one.at = stage::accounting;
    } else if (one.splits) {
        split(one);
        one.at = stage::splitting;
    } else if (!one.sends.empty() || !one.receives.empty() || !one.all.empty()) {
        move(one);
        one.at = stage::moving;
    } else {
        one.at = stage::over;
    }
}

void rank_state::move(operation& one) {
    auto* const stream = lines_.stream.get();
    if (one.before != nullptr) {
        require(cudaStreamWaitEvent(stream, one.before->get(), 0), "cudaStreamWaitEvent");
    }
    // Device memory of the communicator's own is for what the caller has on the host, and for what is gathered.
    std::vector<departure> sends;
    std::vector<arrival> receives;
    std::size_t size = aligned(one.own.size());
    for (auto const count : one.counts) {
        size += aligned(count);
    }
    for (auto const& message : one.sends) {
        bool const there = on_device_memory(message.bytes.data());
        sends.push_back({there ? message.bytes.data() : nullptr, message.bytes.size(), message.peer});
        size += there ? 0 : aligned(message.bytes.size());
    }
    for (auto const& message : one.receives) {
        bool const there = on_device_memory(message.bytes.data());
        receives.push_back({there ? message.bytes.data() : nullptr, message.bytes.size(), message.peer});
        size += there ? 0 : aligned(message.bytes.size());
    }
    places staged{staging_.of_size(size)};
    for (std::size_t m = 0; m < one.sends.size(); ++m) {
        if (sends[m].from == nullptr) {
            auto* const here = staged.next(sends[m].bytes);
            copy(here, one.sends[m].bytes.data(), sends[m].bytes, stream);
            sends[m].from = here;
        }
    }
    for (std::size_t m = 0; m < one.receives.size(); ++m) {
        if (receives[m].to == nullptr) {
            receives[m].to = staged.next(receives[m].bytes);
            one.landings.push_back({receives[m].to, one.receives[m].bytes});
        }
    }
    auto* const own = staged.next(one.own.size());
    copy(own, one.own.data(), one.own.size(), stream);
    auto rest = one.all;
    for (std::size_t rank = 0; rank < one.counts.size(); ++rank) {
        auto* const here = staged.next(one.counts[rank]);
        auto const peer = to_id<world_rank>(rank);
        if (peer != rank_ && !one.own.empty()) {
            sends.push_back({own, one.own.size(), peer});
        }
        if (peer != rank_ && one.counts[rank] > 0) {
            receives.push_back({here, one.counts[rank], peer});
        }
        one.landings.push_back({peer == rank_ ? own : here, rest.first(one.counts[rank])});
        rest = rest.subspan(one.counts[rank]);
    }
    lines_.wire->begin(sends, receives, stream);
}

bool rank_state::land(operation& one) {
    // Not before all is there: a copy to the host's own memory waits for it, however long that takes.
    auto* const stream = lines_.stream.get();
    for (auto const& [here, to] : one.landings) {
        copy(to.data(), here, to.size(), stream);
    }
    bool const landing = !one.landings.empty();
    if (landing) {
        reached_.record(stream);
    }
    if (one.callers != nullptr) {
        require(cudaStreamWaitEvent(one.callers, reached_.get(), 0), "cudaStreamWaitEvent");
    }
    return landing;
}

void rank_state::split(operation& one) {
    // NCCL wants small colours from 0 on: the first rank with a colour stands for it.
    auto const first = std::ranges::find(one.greetings, one.mine.color, &greeting::color) - one.greetings.begin();
    // Its keys have a sign. Positions do not need it, and order the ranks as (key, rank) does.
    std::vector<split_wish> wishes;
    for (auto const& other : one.greetings) {
        wishes.push_back({static_cast<std::uint32_t>(other.color), static_cast<std::uint32_t>(other.key)});
    }
    auto const group = group_of(rank_, wishes, topology_);
    lines_.wire->begin_split(to_id<world_rank>(static_cast<std::size_t>(first)), group.self, group.members.size());
}

}  // namespace evenkeel::comm::nccl
