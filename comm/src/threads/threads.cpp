// SPDX-License-Identifier: Apache-2.0
#include <evenkeel/comm/threads.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <evenkeel/comm/error.hpp>
#include <evenkeel/core/errors.hpp>

#include "exchange.hpp"
#include "gather.hpp"
#include "hub.hpp"

namespace evenkeel::comm {

namespace {

class thread_communicator final : public communicator {
  public:
    thread_communicator(world_rank rank, std::shared_ptr<threads::hub> hub)
        : communicator{rank, hub->topology()}, hub_{std::move(hub)} {}

  private:
    pending do_all_gather(std::span<std::byte const> mine, std::span<std::uint64_t const> counts,
                          std::span<std::byte> all, stream on) override {
        refuse_stream("all_gather", on);
        return take_part("all_gather", [&](std::uint64_t number) {
            return threads::gather(hub_, number, rank(), "all_gather", mine, counts, all);
        });
    }

    pending do_barrier(stream on) override {
        refuse_stream("barrier", on);
        return take_part("barrier", [&](std::uint64_t number) {
            std::vector<std::uint64_t> const nothing(size().value);
            return threads::gather(hub_, number, rank(), "barrier", {}, nothing, {});
        });
    }

    pending do_exchange(std::span<outgoing const> sends, std::span<incoming const> receives, stream on,
                        statement const& mine) override {
        refuse_stream("exchange", on);
        return take_part(mine.operation, [&](std::uint64_t number) {
            return threads::exchange(hub_, number, rank(), sends, receives, mine);
        });
    }

    std::unique_ptr<communicator> do_split(std::uint32_t color, std::uint32_t key, deadline until) override {
        std::vector<std::uint32_t> asked(2 * size().value);
        std::uint32_t const mine[] = {color, key};
        std::uint64_t number = 0;
        take_part("split", [&](std::uint64_t next) {
            number = next;
            std::vector<std::uint64_t> const counts(size().value, sizeof mine);
            return threads::gather(hub_, number, rank(), "split", std::as_bytes(std::span{mine}), counts,
                                   std::as_writable_bytes(std::span{asked}));
        }).wait(until);

        std::vector<std::pair<std::uint32_t, std::uint32_t>> members;  // key, rank
        for (std::uint32_t rank = 0; rank < size().value; ++rank) {
            if (asked[2 * rank] == color) {
                members.emplace_back(asked[2 * rank + 1], rank);
            }
        }
        std::ranges::sort(members);
        evenkeel::topology nodes;
        world_rank mine_there{};
        for (std::size_t position = 0; position < members.size(); ++position) {
            auto const member = to_id<world_rank>(members[position].second);
            nodes.nodes_of_ranks.push_back(topology().node_of(member));
            if (member == rank()) {
                mine_there = to_id<world_rank>(position);
            }
        }
        return std::make_unique<thread_communicator>(mine_there, hub_->child(number, color, nodes));
    }

    void do_abort(std::string_view reason) noexcept override {
        hub_->fail("abort", rank(), ": ", reason);
    }

    /// Calls this rank's next operation. A rank that cannot even do so tells the others, who would wait for it.
    template <class Call>
    pending take_part(std::string_view operation, Call call) {
        try {
            return call(next_++);
        } catch (...) {
            hub_->fail(operation, rank(), " could not take part");
            throw;
        }
    }

    static void refuse_stream(std::string_view function, stream on) {
        if (on != stream{}) {
            throw_invalid(function, "on", "a stream", "none: threads move bytes on the host");
        }
    }

    std::shared_ptr<threads::hub> hub_;
    std::uint64_t next_ = 0;  ///< the number of this rank's next operation
};

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

}  // namespace

std::vector<std::unique_ptr<communicator>> make_threads(topology const& topology) {
    if (topology.size().value == 0) {
        throw_invalid("make_threads", "topology.size()", 0, "at least 1 rank");
    }
    auto const hub = std::make_shared<threads::hub>(topology);
    std::vector<std::unique_ptr<communicator>> ranks;
    for (std::size_t rank = 0; rank < topology.size().value; ++rank) {
        ranks.push_back(std::make_unique<thread_communicator>(to_id<world_rank>(rank), hub));
    }
    return ranks;
}

void run_threads(topology const& topology, std::function<void(communicator&)> const& body) {
    auto const ranks = make_threads(topology);
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
