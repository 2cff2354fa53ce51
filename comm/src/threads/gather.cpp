// SPDX-License-Identifier: Apache-2.0
#include "gather.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "part.hpp"

namespace evenkeel::comm::threads {

namespace {

class gathering final : public meeting {
  public:
    static constexpr std::size_t kind = 0;

    explicit gathering(std::size_t ranks) : meeting{kind, ranks} {}

    [[nodiscard]] std::optional<fault> complete() override { return std::nullopt; }

    std::vector<std::uint64_t> counts;
    std::vector<std::byte> bytes;  ///< at least as many as are gathered
};

class gather_part final : public part {
  public:
    gather_part(std::shared_ptr<hub> hub, gathering& at, world_rank rank, std::span<std::byte> all) noexcept
        : part{std::move(hub), at, rank}, meeting_{at}, all_{all} {}

    ~gather_part() override {
        if (!taken_) {
            give_up();
        }
    }

    bool ready() override {
        if (!taken_ && all_came()) {
            take();
        }
        return taken_;
    }

    void wait(deadline until) override {
        if (!taken_) {
            wait_for_all(until);
            take();
        }
    }

  private:
    void take() {
        std::ranges::copy(std::span{meeting_.bytes}.first(all_.size()), all_.begin());
        taken_ = true;
    }

    gathering& meeting_;
    std::span<std::byte> all_;
    bool taken_ = false;
};

}  // namespace

pending gather(std::shared_ptr<hub> hub, std::uint64_t number, world_rank rank, std::string_view operation,
               std::span<std::byte const> mine, std::span<std::uint64_t const> counts, std::span<std::byte> all) {
    auto const open = [&](gathering& meeting) {
        meeting.counts.assign(counts.begin(), counts.end());
        if (meeting.bytes.size() < all.size()) {
            meeting.bytes.resize(all.size());
        }
    };
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
    auto* const here = hub->meet<gathering>(number, rank, operation, open, join);
    return begun<gather_part>(std::move(hub), here, rank, all);
}

}  // namespace evenkeel::comm::threads
