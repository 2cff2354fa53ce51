// SPDX-License-Identifier: Apache-2.0
#include "loopback_wire.hpp"

#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include "check.hpp"

namespace evenkeel::comm::nccl {

/// Where senders leave their messages, and where those that split off together find each other.
class landing_field {
  public:
    std::mutex mutex;
    std::map<std::pair<world_rank, world_rank>, std::deque<std::shared_ptr<loopback_wire::parcel>>> parcels;

    /// Of the ranks with `color` in split `number`; the first of `size` to ask makes it.
    [[nodiscard]] std::shared_ptr<landing_field> child(std::size_t number, world_rank color, std::size_t size) {
        std::lock_guard const lock{mutex};
        auto const key = std::pair{number, color};
        auto& [made, asked] = growing_[key];
        if (made == nullptr) {
            made = std::make_shared<landing_field>();
        }
        auto const found = made;
        if (++asked == size) {
            growing_.erase(key);
        }
        return found;
    }

  private:
    std::map<std::pair<std::size_t, world_rank>, std::pair<std::shared_ptr<landing_field>, std::size_t>> growing_;
};

std::vector<std::unique_ptr<wire>> loopback_wire::make(std::size_t ranks) {
    auto const field = std::make_shared<landing_field>();
    std::vector<std::unique_ptr<wire>> all;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        all.push_back(std::make_unique<loopback_wire>(field, to_id<world_rank>(rank)));
    }
    return all;
}

void loopback_wire::begin(std::span<departure const> sends, std::span<arrival const> receives, cudaStream_t on) {
    on_ = on;
    done_.clear();
    expected_.assign(receives.begin(), receives.end());
    for (auto const& message : sends) {
        auto one = std::make_shared<parcel>();
        one->what = message;
        one->ready.record(on);
        sent_.push_back(std::move(one));
    }
    std::lock_guard const lock{field_->mutex};
    for (auto const& one : sent_) {
        field_->parcels[{self_, one->what.to}].push_back(one);
    }
}

bool loopback_wire::settled() {
    std::lock_guard const lock{field_->mutex};
    std::erase_if(expected_, [&](arrival const& message) {
        auto& waiting = field_->parcels[{message.from, self_}];
        if (waiting.empty()) {
            return false;
        }
        auto const one = waiting.front();
        if (one->what.bytes != message.bytes) {
            throw failure{"loopback: a message is not as long as it is expected to be"};
        }
        require(cudaStreamWaitEvent(on_, one->ready.get(), 0), "cudaStreamWaitEvent");
        require(cudaMemcpyAsync(message.to, one->what.from, message.bytes, cudaMemcpyDefault, on_), "cudaMemcpyAsync");
        one->taken.record(on_);
        one->at = parcel::state::taken;
        waiting.pop_front();
        done_.push_back(one);
        return true;
    });
    std::erase_if(sent_, [&](std::shared_ptr<parcel> const& one) {
        if (one->at != parcel::state::taken) {
            return false;
        }
        require(cudaStreamWaitEvent(on_, one->taken.get(), 0), "cudaStreamWaitEvent");
        done_.push_back(one);
        return true;
    });
    return expected_.empty() && sent_.empty();
}

void loopback_wire::begin_split(world_rank color, world_rank position, std::size_t size) {
    split_ = std::make_unique<loopback_wire>(field_->child(splits_++, color, size), position);
}

std::unique_ptr<wire> loopback_wire::take_split() { return std::move(split_); }

void loopback_wire::end() noexcept {
    {
        std::lock_guard const lock{field_->mutex};
        for (auto const& one : sent_) {
            if (one->at == parcel::state::open) {
                std::erase(field_->parcels[{self_, one->what.to}], one);
                one->at = parcel::state::withdrawn;
            } else {
                done_.push_back(one);
            }
        }
        sent_.clear();
        expected_.clear();
    }
    // What has begun to be copied is soon copied.
    for (auto const& one : done_) {
        static_cast<void>(cudaEventSynchronize(one->taken.get()));
    }
    done_.clear();
}

}  // namespace evenkeel::comm::nccl
