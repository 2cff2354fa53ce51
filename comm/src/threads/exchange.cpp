// SPDX-License-Identifier: Apache-2.0
#include "exchange.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "agreement.hpp"
#include "fault.hpp"

namespace evenkeel::comm::threads {

namespace {

enum class state : std::uint8_t { open, copying, done, given_up };

/// One message, known at both ends.
struct copy {
    world_rank from{};
    world_rank to{};
    std::span<std::byte const> source;
    std::span<std::byte> target;
};

class exchanging final : public meeting {
  public:
    exchanging(std::string_view operation, std::size_t ranks)
        : statements(ranks), sends(ranks), receives(ranks), copies_of(ranks), left(ranks), operation_{operation} {}

    [[nodiscard]] std::string_view operation() const noexcept override { return operation_; }

    [[nodiscard]] std::optional<fault> complete() override {
        objection = dissent_in(statements);
        if (objection) {
            return std::nullopt;
        }
        if (auto wrong = match()) {
            return wrong;
        }
        states = std::vector<std::atomic<state>>(copies.size());
        for (std::size_t number = 0; number < copies.size(); ++number) {
            for (auto const end : {copies[number].from, copies[number].to}) {
                copies_of[to_index(end)].push_back(number);
                left[to_index(end)].fetch_add(1, std::memory_order_relaxed);
            }
        }
        return std::nullopt;
    }

    std::vector<statement> statements;                ///< per rank
    std::vector<std::vector<outgoing>> sends;         ///< per rank
    std::vector<std::vector<incoming>> receives;      ///< per rank
    std::optional<dissent> objection;                 ///< if there is one, there are no copies
    std::vector<copy> copies;
    std::vector<std::atomic<state>> states;           ///< per copy
    std::vector<std::vector<std::size_t>> copies_of;  ///< per rank, those it has an end of
    std::vector<std::atomic<std::size_t>> left;       ///< per rank, how many of those are not done

  private:
    /// Finds the two ends of every message. @return the first that lacks one, or whose ends differ in size.
    [[nodiscard]] std::optional<fault> match() {
        for (std::size_t rank = 0; rank < sends.size(); ++rank) {
            auto const from = to_id<world_rank>(rank);
            for (auto const& message : sends[rank]) {
                auto const& there = receives[to_index(message.peer)];
                auto const found = std::ranges::lower_bound(there, from, {}, &incoming::peer);
                bool const awaited = found != there.end() && found->peer == from;
                if (!awaited || found->bytes.size() != message.bytes.size()) {
                    return mismatch(operation_, from, message.bytes.size(), message.peer,
                                    awaited ? found->bytes.size() : 0);
                }
                copies.push_back({from, message.peer, message.bytes, found->bytes});
            }
        }
        for (std::size_t rank = 0; rank < receives.size(); ++rank) {
            auto const to = to_id<world_rank>(rank);
            for (auto const& message : receives[rank]) {
                if (!std::ranges::binary_search(sends[to_index(message.peer)], to, {}, &outgoing::peer)) {
                    return mismatch(operation_, message.peer, 0, to, message.bytes.size());
                }
            }
        }
        return std::nullopt;
    }

    std::string operation_;
};

class exchange_transfer final : public transfer {
  public:
    exchange_transfer(std::shared_ptr<hub> hub, world_rank rank) : hub_{std::move(hub)}, rank_{rank} {}

    ~exchange_transfer() override {
        if (!finished_ && !told_ && meeting_ != nullptr) {
            // From here on the meeting can no longer be completed, so the copies of this rank are all that there are.
            hub_->fail(meeting_->operation(), rank_, " gave it up");
            give_up();
        }
    }

    void begin(std::shared_ptr<exchanging> meeting) noexcept { meeting_ = std::move(meeting); }

    bool ready() override {
        if (!finished_) {
            hub_->require_alive(rank_);
            if (hub_->complete(rank_, *meeting_)) {
                require_agreement();
                copy_open();
                finished_ = all_done();
            }
        }
        return finished_;
    }

    void wait(deadline until) override {
        if (!finished_) {
            hub_->require_alive(rank_);
            hub_->wait(rank_, *meeting_, until, [&] { return meeting_->arrived == hub_->size(); });
            require_agreement();
            copy_open();
            hub_->wait(rank_, *meeting_, until, [&] { return all_done(); });
            finished_ = true;
        }
    }

  private:
    [[nodiscard]] bool all_done() const {
        return meeting_->left[to_index(rank_)].load(std::memory_order_acquire) == 0;
    }

    /// @throws comm::error  what the ranks disagree on: on each of them, so none is left waiting.
    void require_agreement() {
        if (meeting_->objection) {
            told_ = true;
            throw error{meeting_->operation(), rank_, meeting_->objection->peer, meeting_->objection->reason,
                        aftermath::can_go_on};
        }
    }

    /// Copies what no peer has begun to copy.
    void copy_open() {
        for (std::size_t const number : meeting_->copies_of[to_index(rank_)]) {
            auto& state_of_copy = meeting_->states[number];
            auto expected = state::open;
            if (!state_of_copy.compare_exchange_strong(expected, state::copying)) {
                continue;
            }
            copy const& message = meeting_->copies[number];
            std::memcpy(message.target.data(), message.source.data(), message.source.size());
            state_of_copy.store(state::done);
            for (auto const end : {message.from, message.to}) {
                bool const last = meeting_->left[to_index(end)].fetch_sub(1, std::memory_order_acq_rel) == 1;
                if (last && end != rank_) {
                    hub_->wake(end);
                }
            }
        }
    }

    /// Makes sure that nobody touches the buffers of this rank any more.
    void give_up() {
        for (std::size_t const number : meeting_->copies_of[to_index(rank_)]) {
            auto& state_of_copy = meeting_->states[number];
            auto expected = state::open;
            if (!state_of_copy.compare_exchange_strong(expected, state::given_up)) {
                while (state_of_copy.load() == state::copying) {
                    std::this_thread::yield();
                }
            }
        }
    }

    std::shared_ptr<hub> hub_;
    std::shared_ptr<exchanging> meeting_;
    world_rank rank_;
    bool finished_ = false;
    bool told_ = false;  ///< that the ranks disagree: nothing is on its way
};

}  // namespace

pending exchange(std::shared_ptr<hub> hub, std::uint64_t number, world_rank rank, std::span<outgoing const> sends,
                 std::span<incoming const> receives, statement const& mine) {
    auto const make = [&] { return std::make_shared<exchanging>(mine.operation, hub->size()); };
    auto const join = [&](exchanging& meeting) -> std::optional<fault> {
        meeting.statements[to_index(rank)] = {.operation = {}, .value = mine.value, .refused = mine.refused};
        meeting.sends[to_index(rank)].assign(sends.begin(), sends.end());
        meeting.receives[to_index(rank)].assign(receives.begin(), receives.end());
        return std::nullopt;
    };
    // First what may throw: a rank that has come to the meeting must be able to give it up.
    auto transfer = std::make_unique<exchange_transfer>(hub, rank);
    transfer->begin(hub->meet<exchanging>(number, rank, mine.operation, make, join));
    return pending{std::move(transfer)};
}

}  // namespace evenkeel::comm::threads
