// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include <evenkeel/comm/deadline.hpp>
#include <evenkeel/comm/pending.hpp>
#include <evenkeel/core/ids.hpp>

#include "hub.hpp"

namespace evenkeel::comm::threads {

/// What one rank has to do with a meeting, in the memory of that meeting.
class part : public transfer {
  public:
    part(std::shared_ptr<hub> hub, meeting& at, world_rank rank) noexcept
        : hub_{std::move(hub)}, meeting_{at}, rank_{rank} {}

    static void* operator new(std::size_t, meeting::room& room) noexcept { return room.object.data(); }
    static void operator delete(void*, meeting::room&) noexcept {}
    /// The memory may serve another meeting once this one is left, and goes with the hub.
    static void operator delete(part* self, std::destroying_delete_t) noexcept {
        auto const hub = self->hub_;
        auto& meeting = self->meeting_;
        self->~part();
        hub->leave(meeting);
    }

  protected:
    [[nodiscard]] world_rank rank() const noexcept { return rank_; }
    /// @throws comm::error  the fault, if there is one.
    [[nodiscard]] bool all_came() const { return hub_->complete(rank_, meeting_); }
    void wait_for_all(deadline until) const {
        hub_->require_alive(rank_);
        wait_for(until, [&] { return meeting_.arrived == hub_->size(); });
    }
    template <class Done>
    void wait_for(deadline until, Done done) const {
        hub_->wait(rank_, meeting_, until, done);
    }
    void wake(world_rank rank) const { hub_->wake(rank); }
    void give_up() const noexcept { hub_->fail(meeting_.operation(), rank_, " gave it up"); }

  private:
    std::shared_ptr<threads::hub> hub_;
    meeting& meeting_;
    world_rank rank_;
};

/// Of a communicator that has ended.
class ended final : public transfer {
  public:
    ended(std::shared_ptr<hub> hub, world_rank rank) noexcept : hub_{std::move(hub)}, rank_{rank} {}

    bool ready() override {
        hub_->require_alive(rank_);
        return true;
    }
    void wait(deadline) override { hub_->require_alive(rank_); }

  private:
    std::shared_ptr<hub> hub_;
    world_rank rank_;
};

/// The `Part` of a rank that has come to a meeting; `at` is null if there is none any more.
template <class Part, class Meeting, class... More>
[[nodiscard]] pending begun(std::shared_ptr<hub> hub, Meeting* at, world_rank rank, More const&... more) {
    static_assert(sizeof(Part) <= sizeof(meeting::room));
    if (at == nullptr) {
        return pending{std::make_unique<ended>(std::move(hub), rank)};
    }
    return pending{std::unique_ptr<transfer>{new (at->room_of(rank)) Part{std::move(hub), *at, rank, more...}}};
}

}  // namespace evenkeel::comm::threads
