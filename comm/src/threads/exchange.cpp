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
#include "make_room.hpp"
#include "part.hpp"

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
    static constexpr std::size_t kind = 1;

    explicit exchanging(std::size_t ranks)
        : meeting{kind, ranks}, statements(ranks), sends(ranks), receives(ranks), copies_of(ranks), left(ranks) {}

    [[nodiscard]] std::optional<fault> complete() override {
        std::size_t messages = 0;
        for (std::size_t rank = 0; rank < copies_of.size(); ++rank) {
            messages += sends[rank].size();
            copies_of[rank].clear();
            make_room(copies_of[rank], sends[rank].size() + receives[rank].size());
        }
        copies.clear();
        make_room(copies, messages);
        objection = dissent_in(statements);
        if (objection) {
            return std::nullopt;
        }
        if (auto wrong = match()) {
            return wrong;
        }
        if (states.size() < copies.size()) {
            states = std::vector<std::atomic<state>>(copies.capacity());
        }
        for (std::size_t number = 0; number < copies.size(); ++number) {
            states[number].store(state::open, std::memory_order_relaxed);
            for (auto const end : {copies[number].from, copies[number].to}) {
                copies_of[to_index(end)].push_back(number);
            }
        }
        for (std::size_t rank = 0; rank < left.size(); ++rank) {
            left[rank].store(copies_of[rank].size(), std::memory_order_relaxed);
        }
        return std::nullopt;
    }

    std::vector<statement> statements;            ///< per rank
    std::vector<std::vector<outgoing>> sends;     ///< per rank
    std::vector<std::vector<incoming>> receives;  ///< per rank
    std::optional<dissent> objection;             ///< if there is one, there are no copies
    std::vector<copy> copies;
    std::vector<std::atomic<state>> states;           ///< per copy, and some more
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
                    return mismatch(operation(), from, message.bytes.size(), message.peer,
                                    awaited ? found->bytes.size() : 0);
                }
                copies.push_back({from, message.peer, message.bytes, found->bytes});
            }
        }
        for (std::size_t rank = 0; rank < receives.size(); ++rank) {
            auto const to = to_id<world_rank>(rank);
            for (auto const& message : receives[rank]) {
                if (!std::ranges::binary_search(sends[to_index(message.peer)], to, {}, &outgoing::peer)) {
                    return mismatch(operation(), message.peer, 0, to, message.bytes.size());
                }
            }
        }
        return std::nullopt;
    }
};

class exchange_part final : public part {
  public:
    exchange_part(std::shared_ptr<hub> hub, exchanging& at, world_rank rank) noexcept
        : part{std::move(hub), at, rank}, meeting_{at} {}

    ~exchange_part() override {
        if (!finished_ && !told_) {
            // From here on the meeting can no longer be completed, so the copies of this rank are all that there are.
            give_up();
            take_back();
        }
    }

    bool ready() override {
        if (!finished_ && all_came()) {
            require_agreement();
            copy_open();
            finished_ = all_done();
        }
        return finished_;
    }

    void wait(deadline until) override {
        if (!finished_) {
            wait_for_all(until);
            require_agreement();
            copy_open();
            wait_for(until, [&] { return all_done(); });
            finished_ = true;
        }
    }

  private:
    [[nodiscard]] bool all_done() const { return meeting_.left[to_index(rank())].load(std::memory_order_acquire) == 0; }

    /// @throws comm::error  what the ranks disagree on: on each of them, so none is left waiting.
    void require_agreement() {
        if (meeting_.objection) {
            told_ = true;
            throw error{std::string{meeting_.operation()}, rank(), meeting_.objection->peer, meeting_.objection->reason,
                        aftermath::can_go_on};
        }
    }

    /// Copies what no peer has begun to copy.
    void copy_open() {
        for (std::size_t const number : meeting_.copies_of[to_index(rank())]) {
            auto& state_of_copy = meeting_.states[number];
            auto expected = state::open;
            if (!state_of_copy.compare_exchange_strong(expected, state::copying)) {
                continue;
            }
            copy const& message = meeting_.copies[number];
            std::memcpy(message.target.data(), message.source.data(), message.source.size());
            state_of_copy.store(state::done);
            for (auto const end : {message.from, message.to}) {
                bool const last = meeting_.left[to_index(end)].fetch_sub(1, std::memory_order_acq_rel) == 1;
                if (last && end != rank()) {
                    wake(end);
                }
            }
        }
    }

    /// Makes sure that nobody touches the buffers of this rank any more.
    void take_back() {
        for (std::size_t const number : meeting_.copies_of[to_index(rank())]) {
            auto& state_of_copy = meeting_.states[number];
            auto expected = state::open;
            if (!state_of_copy.compare_exchange_strong(expected, state::given_up)) {
                while (state_of_copy.load() == state::copying) {
                    std::this_thread::yield();
                }
            }
        }
    }

    exchanging& meeting_;
    bool finished_ = false;
    bool told_ = false;  ///< that the ranks disagree: nothing is on its way
};

}  // namespace

pending exchange(std::shared_ptr<hub> hub, std::uint64_t number, world_rank rank, std::span<outgoing const> sends,
                 std::span<incoming const> receives, statement const& mine) {
    auto const join = [&](exchanging& meeting) -> std::optional<fault> {
        meeting.statements[to_index(rank)] = {.operation = {}, .value = mine.value, .refused = mine.refused};
        auto const copy_to = [](auto& kept, auto const& messages) {
            make_room(kept, messages.size());
            kept.assign(messages.begin(), messages.end());
        };
        copy_to(meeting.sends[to_index(rank)], sends);
        copy_to(meeting.receives[to_index(rank)], receives);
        return std::nullopt;
    };
    auto* const here = hub->meet<exchanging>(
        number, rank, mine.operation, [](exchanging&) {}, join);
    return begun<exchange_part>(std::move(hub), here, rank);
}

}  // namespace evenkeel::comm::threads
