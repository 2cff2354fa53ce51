// SPDX-License-Identifier: Apache-2.0
#include "gather.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace evenkeel::comm::threads {

namespace {

class gathering final : public meeting {
  public:
    gathering(std::string_view operation, std::span<std::uint64_t const> sizes, std::size_t total)
        : counts(sizes.begin(), sizes.end()), bytes(total), operation_{operation} {}

    [[nodiscard]] std::string_view operation() const noexcept override { return operation_; }
    [[nodiscard]] std::optional<fault> complete() override { return std::nullopt; }

    std::vector<std::uint64_t> counts;
    std::vector<std::byte> bytes;

  private:
    std::string operation_;
};

class gather_transfer final : public transfer {
  public:
    gather_transfer(std::shared_ptr<hub> hub, world_rank rank, std::span<std::byte> all)
        : hub_{std::move(hub)}, rank_{rank}, all_{all} {}

    ~gather_transfer() override {
        if (!taken_ && meeting_ != nullptr) {
            hub_->fail(meeting_->operation(), rank_, " gave it up");
        }
    }

    void begin(std::shared_ptr<gathering> meeting) noexcept { meeting_ = std::move(meeting); }

    bool ready() override {
        if (!taken_) {
            hub_->require_alive(rank_);
            if (!hub_->complete(rank_, *meeting_)) {
                return false;
            }
            take();
        }
        return true;
    }

    void wait(deadline until) override {
        if (!taken_) {
            hub_->require_alive(rank_);
            hub_->wait(rank_, *meeting_, until, [&] { return meeting_->arrived == hub_->size(); });
            take();
        }
    }

  private:
    void take() {
        std::ranges::copy(meeting_->bytes, all_.begin());
        taken_ = true;
    }

    std::shared_ptr<hub> hub_;
    std::shared_ptr<gathering> meeting_;
    world_rank rank_;
    std::span<std::byte> all_;
    bool taken_ = false;
};

}  // namespace

pending gather(std::shared_ptr<hub> hub, std::uint64_t number, world_rank rank, std::string_view operation,
               std::span<std::byte const> mine, std::span<std::uint64_t const> counts, std::span<std::byte> all) {
    auto const make = [&] { return std::make_shared<gathering>(operation, counts, all.size()); };
    auto const join = [&](gathering& meeting) -> std::optional<fault> {
        if (!std::ranges::equal(meeting.counts, counts)) {
            return meeting.confusion(rank, std::string{operation}.append(" with other sizes"));
        }
        std::uint64_t offset = 0;
        for (std::size_t before = 0; before < to_index(rank); ++before) {
            offset += counts[before];
        }
        std::ranges::copy(mine, meeting.bytes.begin() + static_cast<std::ptrdiff_t>(offset));
        return std::nullopt;
    };
    // First what may throw: a rank that has come to the meeting must be able to give it up.
    auto transfer = std::make_unique<gather_transfer>(hub, rank, all);
    transfer->begin(hub->meet<gathering>(number, rank, operation, make, join));
    return pending{std::move(transfer)};
}

}  // namespace evenkeel::comm::threads
