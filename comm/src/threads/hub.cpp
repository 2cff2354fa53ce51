// SPDX-License-Identifier: Apache-2.0
#include "hub.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace evenkeel::comm::threads {

fault meeting::confusion(world_rank rank, std::string_view calls) const {
    auto const first = std::ranges::find(came, true) - came.begin();
    return comm::confusion(rank, calls, to_id<world_rank>(static_cast<std::size_t>(first)), operation());
}

hub::hub(evenkeel::topology topology) : topology_{std::move(topology)}, wakers_(topology_.size().value) {}

void hub::fail_because_of(std::optional<world_rank> culprit, std::string_view operation, world_rank rank,
                          std::string_view did, std::string_view reason) noexcept {
    auto fault = misdeed(culprit, operation, rank, did, reason);
    std::lock_guard const lock{mutex_};
    fail_locked(std::move(fault));
}

void hub::inherit(fault const& of_parent) noexcept {
    fault fault;
    try {
        fault = inherited(of_parent);
    } catch (std::exception const&) {
        // The ranks must be told all the same.
    }
    std::lock_guard const lock{mutex_};
    fail_locked(std::move(fault));
}

void hub::fail_locked(fault fault) noexcept {
    if (fault_) {
        return;  // the first fault is the cause, later ones its consequences
    }
    fault_ = std::move(fault);
    open_.clear();
    for (auto& waker : wakers_) {
        waker.notify_all();
    }
    // Parents lock before their children, never the other way round.
    for (auto const& weak : children_) {
        if (auto const child = weak.lock()) {
            child->inherit(*fault_);
        }
    }
}

void hub::leave(meeting& meeting) noexcept {
    std::lock_guard const lock{mutex_};
    // One that a fault has ended is used no more.
    if (--meeting.users_ == 0 && !fault_) {
        meetings_[meeting.kind_].free.push_back(&meeting);
    }
}

bool hub::complete(world_rank rank, meeting const& meeting) const {
    // Both under one lock: the last to come may find a fault, and a meeting with a fault is never complete.
    std::lock_guard const lock{mutex_};
    if (fault_) {
        raise(rank);
    }
    return meeting.arrived == size();
}

void hub::require_alive(world_rank rank) const {
    std::lock_guard const lock{mutex_};
    if (fault_) {
        raise(rank);
    }
}

void hub::raise(world_rank rank) const { throw error{fault_->operation, rank, fault_->peer, fault_->reason}; }

void hub::wake(world_rank rank) {
    // With the lock held, so that the rank is either before its check or asleep.
    std::lock_guard const lock{mutex_};
    wakers_[to_index(rank)].notify_all();
}

fault hub::lateness(meeting const& meeting) const {
    std::vector<world_rank> late;
    for (std::size_t rank = 0; rank < meeting.came.size(); ++rank) {
        if (!meeting.came[rank]) {
            late.push_back(to_id<world_rank>(rank));
        }
    }
    if (late.empty()) {
        return {std::string{meeting.operation()}, std::nullopt, "the deadline passed while bytes were being copied"};
    }
    return comm::lateness(meeting.operation(), late, " came");
}

std::shared_ptr<hub> hub::child(std::uint64_t number, std::uint32_t color, evenkeel::topology const& members) {
    std::lock_guard const lock{mutex_};
    auto const key = std::pair{number, color};
    auto& entry = growing_[key];
    if (entry.made == nullptr) {
        auto made = std::make_shared<hub>(members);
        std::erase_if(children_, [](auto const& weak) { return weak.expired(); });
        children_.push_back(made);
        if (fault_) {
            made->inherit(*fault_);
        }
        entry.made = std::move(made);
    }
    auto const made = entry.made;
    if (++entry.asked == members.size().value) {
        growing_.erase(key);
    }
    return made;
}

}  // namespace evenkeel::comm::threads
