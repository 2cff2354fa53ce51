// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/comm/deadline.hpp>
#include <evenkeel/comm/error.hpp>
#include <evenkeel/comm/pending.hpp>
#include <evenkeel/core/ids.hpp>

namespace evenkeel::comm {

/// Carries transfers out on a thread of its own, so that they proceed while the owner computes. Only that thread calls
/// the communicators, for many backends allow one thread at a time. What it takes in memory it keeps.
class courier {
  public:
    /// A transfer, by the order in which it was posted.
    using ticket = std::uint64_t;

    /// @param world  What `abort` ends, and what the others were split from.
    explicit courier(communicator& world);
    courier(courier const&) = delete;
    courier& operator=(courier const&) = delete;
    /// Gives up what is not complete.
    ~courier();

    /// @param ranks  Per rank of the communicator that is used, its rank in the world; outlives the transfer.
    /// @param begin  Enqueues the transfer: `pending begin()`; called on the courier's thread, in the order of posting.
    template <class Begin>
    ticket post(std::span<world_rank const> ranks, Begin begin) {
        static_assert(std::is_trivially_copyable_v<Begin> && sizeof(Begin) <= sizeof(job::begin));
        job one;
        one.ranks = ranks;
        new (one.begin.data()) Begin{begin};
        one.call = [](std::byte* at) { return (*std::launder(reinterpret_cast<Begin*>(at)))(); };
        return enqueue(std::move(one));
    }

    [[nodiscard]] bool done(ticket which);

    /// @throws comm::error  what went wrong with any transfer so far, or that this one was not complete `until`; in the
    ///                      numbers of the world.
    void wait(ticket which, deadline until);

    /// Tells all ranks that this one cannot go on; returns when they have been told.
    void abort(std::string reason) noexcept;

  private:
    struct job {
        ticket number = 0;
        std::span<world_rank const> ranks;
        alignas(std::max_align_t) std::array<std::byte, 48> begin{};
        pending (*call)(std::byte* begin) = nullptr;
        std::optional<pending> begun;
    };

    ticket enqueue(job one);

    void work() noexcept;
    /// Begins and completes what it can. @return whether anything has changed.
    bool proceed();
    /// Lets `which` say who did not come, unless it is complete.
    void expire(ticket which);
    /// Tells every rank, and gives up all that is on its way. @return what to tell the owner.
    [[nodiscard]] std::exception_ptr give_up(std::exception_ptr const& fault) noexcept;
    [[nodiscard]] std::exception_ptr in_numbers_of_the_world(error const& wrong);

    communicator& world_;
    std::mutex mutex_;
    std::condition_variable to_courier_;
    std::condition_variable to_owner_;
    std::vector<job> posted_;  ///< not yet seen by the thread
    ticket next_ = 0;
    std::vector<bool> done_;         ///< from `first_` on
    ticket first_ = 0;               ///< all before are done
    std::optional<ticket> expired_;  ///< the owner waits no longer
    std::optional<std::string> abort_;
    std::exception_ptr fault_;
    bool stopping_ = false;
    std::vector<job> open_;                ///< the thread's own
    std::span<world_rank const> at_work_;  ///< the ranks of the transfer that the thread looks after, or looked last
    std::thread thread_;
};

}  // namespace evenkeel::comm
