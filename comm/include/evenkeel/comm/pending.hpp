// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include <evenkeel/comm/deadline.hpp>

namespace evenkeel::comm {

/// What a backend implements for `pending`: one rank's part in one transfer.
///
/// Destroying a part that is not complete gives the transfer up: no peer touches the caller's buffers from then on, and
/// every rank is told.
class transfer {
  public:
    transfer() = default;
    transfer(transfer const&) = delete;
    transfer& operator=(transfer const&) = delete;
    virtual ~transfer() = default;

    /// Makes progress without blocking. @return whether this rank's part is complete. @throws comm::error
    virtual bool ready() = 0;
    /// Blocks until this rank's part is complete. @throws comm::error
    virtual void wait(deadline until) = 0;
};

/// A transfer on its way. The buffers given to it belong to it until `wait` returns.
///
///     auto lengths = communicator.all_gather(mine, all);
///     ...                      // compute
///     lengths.wait(30s);       // now `all` is filled
///
/// Waits may come in any order, also when the communicator is gone. One that is dropped without a wait, such as when an
/// exception passes, gives the transfer up: its buffers are free again, and all ranks get a `comm::error`.
class pending {
  public:
    /// Complete already.
    pending() = default;
    explicit pending(std::unique_ptr<transfer> transfer) : transfer_{std::move(transfer)} {}

    /// Makes progress without blocking; whether `wait` would return at once.
    ///
    /// @throws comm::error  as `wait`.
    [[nodiscard]] bool ready() { return transfer_ == nullptr || transfer_->ready(); }

    /// Blocks until this rank's part is complete: what it receives is in place, what it sent may be overwritten.
    ///
    /// @throws comm::error  on every rank of the communicator. If a peer failed or did not come before `until`, the
    ///                      communicator cannot be used any more; if ranks only disagreed before anything moved, it
    ///                      can.
    void wait(deadline until) {
        if (transfer_ != nullptr) {
            // Out of the member first: after a fault there is nothing left to wait for.
            auto const transfer = std::exchange(transfer_, nullptr);
            transfer->wait(until);
        }
    }

  private:
    std::unique_ptr<transfer> transfer_;
};

}  // namespace evenkeel::comm
