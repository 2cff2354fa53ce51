// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/comm/threads.hpp>
#include <evenkeel/core/errors.hpp>

#include "exchange.hpp"
#include "gather.hpp"
#include "hub.hpp"
#include "run_ranks.hpp"
#include "split.hpp"

namespace evenkeel::comm {

namespace {

class thread_communicator final : public communicator {
  public:
    thread_communicator(world_rank rank, std::shared_ptr<threads::hub> hub)
        : communicator{rank, hub->topology()}, hub_{std::move(hub)}, nothing_(size().value) {}

    void require_alive() override { hub_->require_alive(rank()); }

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
            return threads::gather(hub_, number, rank(), "barrier", {}, nothing_, {});
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
        split_wish const mine{.color = color, .key = key};
        std::vector<split_wish> wishes(size().value);
        std::uint64_t number = 0;
        take_part("split", [&](std::uint64_t next) {
            number = next;
            std::vector<std::uint64_t> const counts(size().value, sizeof mine);
            return threads::gather(hub_, number, rank(), "split", std::as_bytes(std::span{&mine, 1}), counts,
                                   std::as_writable_bytes(std::span{wishes}));
        }).wait(until);
        auto const group = group_of(rank(), wishes, topology());
        return std::make_unique<thread_communicator>(group.self, hub_->child(number, color, group.nodes));
    }

    void do_abort(std::string_view reason, std::optional<world_rank> culprit) noexcept override {
        hub_->fail_because_of(culprit, "abort", rank(), ": ", reason);
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
    std::vector<std::uint64_t> nothing_;  ///< from each rank
    std::uint64_t next_ = 0;              ///< the number of this rank's next operation
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
    require_body("run_threads", body);
    run_ranks(make_threads(topology), body);
}

}  // namespace evenkeel::comm
