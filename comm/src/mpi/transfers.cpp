// SPDX-License-Identifier: Apache-2.0
#include "transfers.hpp"

#include <memory>
#include <new>
#include <utility>

#include <evenkeel/comm/error.hpp>

#include "judgement.hpp"

namespace evenkeel::comm::mpi {

namespace {

/// A rank's part in an operation, until it is through or gives up.
class part_transfer : public transfer {
  public:
    part_transfer(std::shared_ptr<hub> hub, std::uint64_t number, std::shared_ptr<part> part) noexcept
        : hub_{std::move(hub)}, number_{number}, part_{std::move(part)} {}

    ~part_transfer() override {
        if (!through_ && operation_ != nullptr) {
            hub_->fail(part_->name, part_->rank, " gave it up");
        }
    }

    // Not inlined: g++ 12 takes a delete of what lies in a part for a mistake.
    [[gnu::noinline]] static void* operator new(std::size_t, mpi::part& room) noexcept { return room.object.data(); }
    static void operator delete(void*, mpi::part&) noexcept {}
    /// The memory is the part's, which may serve another operation or go.
    static void operator delete(part_transfer* self, std::destroying_delete_t) noexcept {
        auto const hub = self->hub_;
        auto part = self->part_;
        auto operation = self->operation_;
        self->~part_transfer();
        hub->let_go(std::move(part), std::move(operation));
    }

    void begin(subject about, std::uint64_t identity, std::span<std::byte const> bytes) {
        operation_ = hub_->join(part_, number_, about, identity, bytes);
    }

    bool ready() override {
        if (!through_) {
            require_begun();
            if (!hub_->ready(*operation_, *part_)) {
                return false;
            }
            get_through();
        }
        require_agreement();
        return true;
    }

    void wait(deadline until) override {
        if (!through_) {
            require_begun();
            hub_->wait(*operation_, *part_, until);
            get_through();
        }
        require_agreement();
    }

  protected:
    [[nodiscard]] mpi::part& own() noexcept { return *part_; }

  private:
    /// Puts what the operation has brought where the caller wants it.
    virtual void take(operation const& operation) = 0;

    /// @throws comm::error  if the communicator had ended before the call.
    void require_begun() const {
        if (operation_ == nullptr) {
            hub_->require_alive(part_->rank);
        }
    }

    void get_through() {
        take(*operation_);
        through_ = true;
        hub_->leave(number_);
    }

    /// @throws comm::error  what the ranks disagree on: on each of them, so none is left waiting.
    void require_agreement() const {
        if (auto const& objection = operation_->objection) {
            throw error{part_->name, part_->rank, objection->peer, objection->reason, aftermath::can_go_on};
        }
    }

    std::shared_ptr<hub> hub_;
    std::uint64_t number_;
    std::shared_ptr<mpi::part> part_;
    std::shared_ptr<operation> operation_;  ///< null if the communicator had ended before
    bool through_ = false;
};

class gather_transfer final : public part_transfer {
  public:
    gather_transfer(std::shared_ptr<hub> hub, std::uint64_t number, std::shared_ptr<part> part,
                    std::span<std::byte> all) noexcept
        : part_transfer{std::move(hub), number, std::move(part)}, all_{all} {}

  private:
    void take(operation const& operation) override {
        auto rest = all_;
        for (auto const& arrival : operation.arrivals.of_rank) {
            copy_bytes(arrival.bytes, rest);
            rest = rest.subspan(arrival.bytes.size());
        }
    }

    std::span<std::byte> all_;
};

class exchange_transfer final : public part_transfer {
  public:
    exchange_transfer(std::shared_ptr<hub> hub, std::uint64_t number, std::shared_ptr<part> part,
                      std::span<outgoing const> sends, std::span<incoming const> receives)
        : part_transfer{std::move(hub), number, std::move(part)} {
        own().sends.assign(sends.begin(), sends.end());
        own().receives.assign(receives.begin(), receives.end());
        for (auto const& message : receives) {
            own().missing.push_back(message.bytes.size());
            own().missing_in_all += message.bytes.size();
        }
    }

  private:
    void take(operation const&) override {}
};

template <class Transfer, class... More>
std::unique_ptr<Transfer> made(std::shared_ptr<hub> hub, std::uint64_t number, world_rank rank,
                               std::string_view operation, More const&... more) {
    static_assert(sizeof(Transfer) <= sizeof(part::object));
    auto part = hub->next_part(rank, operation);
    auto& room = *part;
    return std::unique_ptr<Transfer>{new (room) Transfer{std::move(hub), number, std::move(part), more...}};
}

}  // namespace

pending gather(std::shared_ptr<hub> hub, std::uint64_t number, world_rank rank, std::string_view operation,
               std::span<std::byte const> mine, std::span<std::uint64_t const> counts, std::span<std::byte> all) {
    auto transfer = made<gather_transfer>(std::move(hub), number, rank, operation, all);
    transfer->begin(subject::gather, identity_of(subject::gather, operation, counts), mine);
    return pending{std::move(transfer)};
}

pending exchange(std::shared_ptr<hub> hub, std::uint64_t number, world_rank rank, std::span<outgoing const> sends,
                 std::span<incoming const> receives, statement const& mine) {
    auto const said = state(rank, sends, receives, mine);
    auto transfer = made<exchange_transfer>(std::move(hub), number, rank, mine.operation, sends, receives);
    transfer->begin(subject::exchange, identity_of(subject::exchange, mine.operation),
                    std::as_bytes(std::span{&said, 1}));
    return pending{std::move(transfer)};
}

}  // namespace evenkeel::comm::mpi
