// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/comm/error.hpp>
#include <evenkeel/core/errors.hpp>

namespace evenkeel::comm {

/// The exception of the rank that failed first; the others fail because of it.
///
/// The clock alone does not tell: a transfer that is dropped while an exception passes fails the others before that
/// exception gets here.
class first_failure {
  public:
    void record(communicator& rank) {
        try {
            throw;
        } catch (error const& reason) {
            keep(consequence_);
            rank.abort(reason.what());
        } catch (std::exception const& reason) {
            keep(cause_);
            rank.abort(reason.what());
        } catch (...) {
            keep(cause_);
            rank.abort("an exception that is no std::exception");
        }
    }

    void rethrow() const {
        if (auto const& first = cause_ != nullptr ? cause_ : consequence_; first != nullptr) {
            std::rethrow_exception(first);
        }
    }

  private:
    void keep(std::exception_ptr& first) {
        std::lock_guard const lock{mutex_};
        if (first == nullptr) {
            first = std::current_exception();
        }
    }

    std::mutex mutex_;
    std::exception_ptr cause_;
    std::exception_ptr consequence_;  ///< a `comm::error`
};

/// Before any rank exists: an empty function would fail in every thread, with an exception that names nobody.
inline void require_body(std::string_view function, std::function<void(communicator&)> const& body) {
    if (body == nullptr) {
        throw_invalid(function, "body", "empty", "a function to run on every rank");
    }
}

/// Runs `body` for each of `ranks` in a thread of its own and returns when all have ended, or throws what
/// `first_failure` has kept.
inline void run_ranks(std::span<std::unique_ptr<communicator> const> ranks,
                      std::function<void(communicator&)> const& body) {
    first_failure failure;
    {
        std::vector<std::jthread> threads;
        try {
            for (auto const& rank : ranks) {
                threads.emplace_back([&failure, &body, &rank = *rank] {
                    try {
                        body(rank);
                    } catch (...) {
                        failure.record(rank);
                    }
                });
            }
        } catch (...) {
            // No thread could be had for this rank: those that run would wait for it.
            failure.record(*ranks[threads.size()]);
        }
    }
    failure.rethrow();
}

}  // namespace evenkeel::comm
