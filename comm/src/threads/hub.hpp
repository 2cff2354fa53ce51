// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/comm/deadline.hpp>
#include <evenkeel/comm/error.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/topology.hpp>

#include "fault.hpp"

namespace evenkeel::comm::threads {

/// One collective operation, met by the ranks of a hub one after the other.
class meeting {
  public:
    meeting() = default;
    meeting(meeting const&) = delete;
    meeting& operator=(meeting const&) = delete;
    virtual ~meeting() = default;

    [[nodiscard]] virtual std::string_view operation() const noexcept = 0;
    /// Called when the last rank has come, under the hub's lock. @return what the ranks disagree on, if they do.
    [[nodiscard]] virtual std::optional<fault> complete() = 0;

    /// What is wrong if `rank` "calls" something else. Names a rank that came before it, for either may be at fault.
    [[nodiscard]] fault confusion(world_rank rank, std::string_view calls) const;

    std::vector<bool> came;  ///< per rank
    std::size_t arrived = 0;
};

/// What the ranks of one communicator share: the place where they meet, and the fault that ended it.
///
/// The n-th call of each rank is the same operation, so meetings are found by their number.
class hub {
  public:
    explicit hub(evenkeel::topology topology);

    [[nodiscard]] evenkeel::topology const& topology() const noexcept { return topology_; }
    [[nodiscard]] std::size_t size() const noexcept { return topology_.size().value; }

    /// The meeting number `number`, made by `make()` for the first rank that comes; `join(meeting)` leaves the rank's
    /// part there and returns what is wrong with it, if anything.
    template <class Meeting, class Make, class Join>
    std::shared_ptr<Meeting> meet(std::uint64_t number, world_rank rank, std::string_view operation, Make make,
                                  Join join);

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
    void fail_because_of(world_rank culprit, std::string_view operation, world_rank rank, std::string_view did,
                         std::string_view reason) noexcept;
    /// @throws comm::error  the fault, as seen by `rank`, if there is one.
    void require_alive(world_rank rank) const;
    void wake(world_rank rank);

    /// The hub of the ranks that split off together in meeting `number`; the first of `members` to ask makes it.
    [[nodiscard]] std::shared_ptr<hub> child(std::uint64_t number, std::uint32_t color, evenkeel::topology const& members);

  private:
    struct offspring {
        std::shared_ptr<hub> made;
        std::size_t asked = 0;
    };

    void inherit(fault const& of_parent) noexcept;
    [[noreturn]] void raise(world_rank rank) const;
    [[nodiscard]] fault lateness(meeting const& meeting) const;
    void fail_locked(fault fault) noexcept;

    evenkeel::topology topology_;
    mutable std::mutex mutex_;
    std::vector<std::condition_variable> wakers_;  ///< one per rank: a finished copy wakes the one that waits for it
    std::map<std::uint64_t, std::shared_ptr<meeting>> meetings_;
    std::optional<fault> fault_;
    std::map<std::pair<std::uint64_t, std::uint32_t>, offspring> growing_;
    std::vector<std::weak_ptr<hub>> children_;
};

template <class Meeting, class Make, class Join>
std::shared_ptr<Meeting> hub::meet(std::uint64_t number, world_rank rank, std::string_view operation, Make make,
                                   Join join) {
    std::lock_guard const lock{mutex_};
    if (fault_) {
        return nullptr;
    }
    auto& found = meetings_[number];
    if (found == nullptr) {
        // Whatever throws leaves no meeting half made.
        auto made = make();
        made->came.resize(size());
        found = std::move(made);
    }
    auto const here = std::dynamic_pointer_cast<Meeting>(found);
    std::optional<fault> wrong;
    if (here == nullptr || here->operation() != operation) {
        wrong = found->confusion(rank, operation);
    } else {
        wrong = join(*here);
        here->came[to_index(rank)] = true;
        bool const last = here->arrived + 1 == size();
        if (!wrong && last) {
            wrong = here->complete();
        }
        if (!wrong) {
            ++here->arrived;
        }
        if (!wrong && last) {
            meetings_.erase(number);
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
