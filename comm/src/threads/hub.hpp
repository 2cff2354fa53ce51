// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/comm/deadline.hpp>
#include <evenkeel/comm/error.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/topology.hpp>

#include "fault.hpp"

namespace evenkeel::comm::threads {

/// One collective operation, met by the ranks of a hub one after the other. Its memory serves one operation after the
/// other: what it takes it keeps.
class meeting {
  public:
    /// Of how many kinds meetings are: each `Meeting::kind` is below.
    static constexpr std::size_t kinds = 2;

    meeting(std::size_t kind, std::size_t ranks) : came(ranks), kind_{kind}, parts_(ranks) {}
    meeting(meeting const&) = delete;
    meeting& operator=(meeting const&) = delete;
    virtual ~meeting() = default;

    [[nodiscard]] std::string_view operation() const noexcept { return operation_; }
    /// Called when the last rank has come, under the hub's lock. @return what the ranks disagree on, if they do.
    [[nodiscard]] virtual std::optional<fault> complete() = 0;

    /// What is wrong if `rank` "calls" something else. Names a rank that came before it, for either may be at fault.
    [[nodiscard]] fault confusion(world_rank rank, std::string_view calls) const;

    /// Room for the `transfer` of a rank, so that none is allocated.
    struct room {
        alignas(std::max_align_t) std::array<std::byte, 80> object;
    };
    [[nodiscard]] room& room_of(world_rank rank) noexcept { return parts_[to_index(rank)]; }

    std::vector<bool> came;  ///< per rank
    std::size_t arrived = 0;

  private:
    friend class hub;

    void open(std::uint64_t number, std::string_view operation) {
        operation_ = operation;
        number_ = number;
        came.assign(came.size(), false);
        arrived = 0;
    }

    std::size_t kind_;
    std::string operation_;
    std::uint64_t number_ = 0;
    std::size_t users_ = 0;  ///< the ranks whose part has not ended
    std::vector<room> parts_;
};

/// What the ranks of one communicator share: the place where they meet, and the fault that ended it.
///
/// The n-th call of each rank is the same operation, so meetings are found by their number.
class hub {
  public:
    explicit hub(evenkeel::topology topology);

    [[nodiscard]] evenkeel::topology const& topology() const noexcept { return topology_; }
    [[nodiscard]] std::size_t size() const noexcept { return topology_.size().value; }

    /// The meeting number `number`, which `open(meeting)` prepares for the first rank that comes; `join(meeting)`
    /// leaves the rank's part there and returns what is wrong with it, if anything.
    ///
    /// @return  Of the rank until it calls `leave`; null after a fault.
    template <class Meeting, class Open, class Join>
    Meeting* meet(std::uint64_t number, world_rank rank, std::string_view operation, Open open, Join join);

    /// The part of a rank has ended. Once those of all have, the memory of the meeting serves another one.
    void leave(meeting& meeting) noexcept;

    /// Blocks `rank` until `done()`, a fault, or the deadline, which is a fault. `done` is called under the lock.
    template <class Done>
    void wait(world_rank rank, meeting const& meeting, deadline until, Done done);

    /// Whether all ranks have come to `meeting`. @throws comm::error  the fault, as seen by `rank`, if there is one.
    [[nodiscard]] bool complete(world_rank rank, meeting const& meeting) const;

    /// Ends the communicator because of what `rank` did: "rank 2" and `did`. Without words where memory lacks for them.
    void fail(std::string_view operation, world_rank rank, std::string_view did) noexcept {
        fail_because_of(rank, operation, rank, did, {});
    }
    /// Likewise, but the errors name `culprit`. @param reason  What stands after `did`.
    void fail_because_of(std::optional<world_rank> culprit, std::string_view operation, world_rank rank,
                         std::string_view did, std::string_view reason) noexcept;
    /// @throws comm::error  the fault, as seen by `rank`, if there is one.
    void require_alive(world_rank rank) const;
    void wake(world_rank rank);

    /// The hub of the ranks that split off together in meeting `number`; the first of `members` to ask makes it.
    [[nodiscard]] std::shared_ptr<hub> child(std::uint64_t number, std::uint32_t color,
                                             evenkeel::topology const& members);

  private:
    struct offspring {
        std::shared_ptr<hub> made;
        std::size_t asked = 0;
    };

    /// The meetings of one kind. They take turns, so that after each has been used, it does not matter to their memory
    /// which ranks are ahead of which.
    struct rota {
        /// A rank that is ahead is in the next one while another rank is still in the last.
        static constexpr std::size_t least = 2;

        std::vector<std::unique_ptr<meeting>> all;
        std::vector<meeting*> free;  ///< the one to be used next is the first
    };

    template <class Meeting>
    [[nodiscard]] Meeting& next_free();

    void inherit(fault const& of_parent) noexcept;
    [[noreturn]] void raise(world_rank rank) const;
    [[nodiscard]] fault lateness(meeting const& meeting) const;
    void fail_locked(fault fault) noexcept;

    evenkeel::topology topology_;
    mutable std::mutex mutex_;
    std::vector<std::condition_variable> wakers_;  ///< one per rank: a finished copy wakes the one that waits for it
    std::array<rota, meeting::kinds> meetings_;
    std::vector<meeting*> open_;  ///< to which not all ranks have come
    std::optional<fault> fault_;
    std::map<std::pair<std::uint64_t, std::uint32_t>, offspring> growing_;
    std::vector<std::weak_ptr<hub>> children_;
};

template <class Meeting>
Meeting& hub::next_free() {
    auto& [all, free] = meetings_[Meeting::kind];
    if (free.empty() || all.size() < rota::least) {
        // Whatever throws leaves no meeting half made; from here on, nothing does.
        all.reserve(all.size() + 1);
        free.reserve(all.size() + 1);
        open_.reserve(meetings_[0].all.size() + meetings_[1].all.size() + 1);
        all.push_back(std::make_unique<Meeting>(size()));
        free.insert(free.begin(), all.back().get());
    }
    return static_cast<Meeting&>(*free.front());
}

template <class Meeting, class Open, class Join>
Meeting* hub::meet(std::uint64_t number, world_rank rank, std::string_view operation, Open open, Join join) {
    std::lock_guard const lock{mutex_};
    if (fault_) {
        return nullptr;
    }
    auto found = std::ranges::find(open_, number, &meeting::number_);
    if (found == open_.end()) {
        auto& next = next_free<Meeting>();
        next.open(number, operation);
        open(next);
        auto& free = meetings_[Meeting::kind].free;
        free.erase(free.begin());
        open_.push_back(&next);
        found = open_.end() - 1;
    }
    auto* const here = dynamic_cast<Meeting*>(*found);
    std::optional<fault> wrong;
    if (here == nullptr || here->operation() != operation) {
        wrong = (*found)->confusion(rank, operation);
    } else {
        wrong = join(*here);
        here->came[to_index(rank)] = true;
        bool const last = here->arrived + 1 == size();
        if (!wrong && last) {
            wrong = here->complete();
        }
        if (!wrong) {
            ++here->arrived;
            ++here->users_;
        }
        if (!wrong && last) {
            open_.erase(found);
            for (auto& waker : wakers_) {
                waker.notify_all();
            }
        }
    }
    if (wrong) {
        fail_locked(std::move(*wrong));
        return nullptr;
    }
    return here;
}

template <class Done>
void hub::wait(world_rank rank, meeting const& meeting, deadline until, Done done) {
    std::unique_lock lock{mutex_};
    bool const in_time =
        wakers_[to_index(rank)].wait_until(lock, until.at(), [&] { return fault_.has_value() || done(); });
    if (fault_) {
        raise(rank);
    }
    if (!in_time) {
        fail_locked(lateness(meeting));
        raise(rank);
    }
}

}  // namespace evenkeel::comm::threads
