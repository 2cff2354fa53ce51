// SPDX-License-Identifier: Apache-2.0
#include "communicator.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/comm/error.hpp>
#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/fingerprint.hpp>

#include "../split.hpp"
#include "device_copier.hpp"
#include "judgement.hpp"

namespace evenkeel::comm::nccl {

namespace {

class device_transfer final : public transfer {
  public:
    device_transfer(std::shared_ptr<rank_state> state, std::shared_ptr<operation> one)
        : state_{std::move(state)}, one_{std::move(one)} {}
    ~device_transfer() override {
        if (!known_) {
            state_->give_up(*one_);
        }
    }

    bool ready() override {
        try {
            known_ = state_->ready(*one_);
        } catch (error const&) {
            known_ = true;
            throw;
        }
        return known_;
    }
    void wait(deadline until) override {
        known_ = true;
        state_->wait(*one_, until);
    }

  private:
    std::shared_ptr<rank_state> state_;
    std::shared_ptr<operation> one_;
    bool known_ = false;  ///< to the caller, what has become of it
};

}  // namespace

void device_communicator::require_alive() { state_->require_alive(); }

std::shared_ptr<copier> device_communicator::device_copier() {
    if (copier_ == nullptr) {
        copier_ = std::make_shared<nccl::device_copier>(rank(), state_->device());
    }
    return copier_;
}

template <class Prepare>
pending device_communicator::begin(std::string_view name, std::uint64_t identity, stream on, Prepare prepare) {
    try {
        auto one = make(name, identity, on);
        prepare(one);
        auto transfer = std::make_unique<device_transfer>(state_, one);
        state_->begin(std::move(one));
        return pending{std::move(transfer)};
    } catch (std::bad_alloc const&) {
        tell_that_memory_lacks(name);
        throw;
    }
}

pending device_communicator::do_all_gather(std::span<std::byte const> mine, std::span<std::uint64_t const> counts,
                                           std::span<std::byte> all, stream on) {
    fingerprint identity;
    identity.add("all_gather");
    for (auto const count : counts) {
        identity.add(count);
    }
    return begin("all_gather", identity.value(), on, [&](std::shared_ptr<operation> const& one) {
        one->own = mine;
        one->all = all;
        one->counts.assign(counts.begin(), counts.end());
    });
}

pending device_communicator::do_barrier(stream on) {
    return begin("barrier", fingerprint{}.add("barrier").value(), on, [](std::shared_ptr<operation> const&) {});
}

pending device_communicator::do_exchange(std::span<outgoing const> sends, std::span<incoming const> receives, stream on,
                                         statement const& mine) {
    auto const identity = fingerprint{}.add("exchange").add(mine.operation).value();
    return begin(mine.operation, identity, on, [&](std::shared_ptr<operation> const& one) {
        one->mine.value = mine.value;
        one->mine.refused = mine.refused ? 1 : 0;
        one->mine.messages = hash_of(rank(), sends, receives);
        one->sends.assign(sends.begin(), sends.end());
        one->receives.assign(receives.begin(), receives.end());
    });
}

std::unique_ptr<communicator> device_communicator::do_split(std::uint32_t color, std::uint32_t key, deadline until) {
    std::shared_ptr<operation> one;
    begin("split", fingerprint{}.add("split").value(), {}, [&](std::shared_ptr<operation> const& made) {
        one = made;
        one->mine.color = color;
        one->mine.key = key;
        one->splits = true;
    }).wait(until);
    try {
        std::vector<split_wish> wishes;
        for (auto const& other : one->greetings) {
            wishes.push_back({static_cast<std::uint32_t>(other.color), static_cast<std::uint32_t>(other.key)});
        }
        auto group = group_of(rank(), wishes, topology());
        on_device const here{state_->device()};
        own_stream stream;
        auto parley = state_->parley().split(color, key, *one->child, stream.get(), until);
        auto child = std::make_shared<rank_state>(
            group.self, std::move(group.nodes),
            lines{state_->device(), std::move(stream), std::move(one->child), std::move(parley)});
        state_->adopt(child);
        return std::make_unique<device_communicator>(group.self, std::move(child));
    } catch (failure const& wrong) {
        // The others have their new communicator and would wait for this rank there.
        state_->fail_here("split", wrong.what());
        throw error{"split", rank(), std::nullopt, wrong.what()};
    } catch (std::bad_alloc const&) {
        tell_that_memory_lacks("split");
        throw;
    }
}

void device_communicator::do_abort(std::string_view reason, std::optional<world_rank> culprit) noexcept {
    state_->abort(reason, culprit);
}

std::shared_ptr<operation> device_communicator::make(std::string_view name, std::uint64_t identity, stream on) const {
    auto one = std::make_shared<operation>();
    one->name = name;
    one->mine.identity = identity;
    std::ranges::copy(name.substr(0, one->mine.name.size()), one->mine.name.begin());
    if (on != stream{}) {
        one->callers = static_cast<cudaStream_t>(on.handle);
        try {
            on_device const here{state_->device()};
            cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
            require(cudaStreamIsCapturing(one->callers, &status), "cudaStreamIsCapturing");
            if (status != cudaStreamCaptureStatusNone) {
                throw_invalid(name, "on", "a stream that is being captured",
                              "one that is not: ranks talk to each other before bytes move");
            }
            one->before = std::make_unique<event>();
            one->before->record(one->callers);
        } catch (failure const& wrong) {
            // The others wait for this rank here, and would take what it calls next for this.
            state_->fail_here(name, wrong.what());
            throw error{name, rank(), std::nullopt, wrong.what()};
        }
    }
    return one;
}

void device_communicator::tell_that_memory_lacks(std::string_view name) const noexcept {
    state_->fail_here(name, "could not take part");
}

int current_device() {
    int count = 0;
    auto const code = cudaGetDeviceCount(&count);
    if (code != cudaSuccess || count <= 0) {
        throw failure{code == cudaSuccess ? std::string{"no CUDA device"}
                                          : std::string{"no CUDA device: "} + cudaGetErrorString(code)};
    }
    int device = 0;
    require(cudaGetDevice(&device), "cudaGetDevice");
    return device;
}

void greet_all(communicator& world, std::string_view maker, deadline until) {
    fingerprint value;
    for (auto const node : world.topology().nodes_of_ranks) {
        value.add(std::uint64_t{to_index(node)});
    }
    std::vector<std::byte> out(1);
    std::vector<std::byte> in(world.size().value);
    std::vector<outgoing> sends;
    std::vector<incoming> receives;
    for (std::size_t other = 0; other < world.size().value; ++other) {
        if (auto const peer = to_id<world_rank>(other); peer != world.rank()) {
            sends.push_back({peer, out});
            receives.push_back({peer, std::span{in}.subspan(other, 1)});
        }
    }
    world.exchange(sends, receives, {}, {.operation = maker, .value = value.value()}).wait(until);
}

}  // namespace evenkeel::comm::nccl
