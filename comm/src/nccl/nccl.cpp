// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/comm/error.hpp>
#include <evenkeel/comm/nccl.hpp>
#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/fingerprint.hpp>

#include "rank_state.hpp"

namespace evenkeel::comm {

namespace {

using nccl::failure;
using nccl::operation;
using nccl::rank_state;

class nccl_transfer final : public transfer {
  public:
    nccl_transfer(std::shared_ptr<rank_state> state, std::shared_ptr<operation> one)
        : state_{std::move(state)}, one_{std::move(one)} {}
    ~nccl_transfer() override { state_->give_up(*one_); }

    bool ready() override { return state_->ready(*one_); }
    void wait(deadline until) override { state_->wait(*one_, until); }

  private:
    std::shared_ptr<rank_state> state_;
    std::shared_ptr<operation> one_;
};

/// A hash of one message, the same at both ends.
std::uint64_t hash_of(world_rank from, world_rank to, std::size_t bytes) {
    return fingerprint{}.add(std::uint64_t{to_index(from)} << 32U | to_index(to)).add(std::uint64_t{bytes}).value();
}

class nccl_communicator final : public communicator {
  public:
    nccl_communicator(world_rank rank, std::shared_ptr<rank_state> state)
        : communicator{rank, state->topology()}, state_{std::move(state)} {}

    ~nccl_communicator() override = default;

  private:
    pending do_all_gather(std::span<std::byte const> mine, std::span<std::uint64_t const> counts,
                          std::span<std::byte> all, stream on) override {
        auto one = make("all_gather", on);
        fingerprint identity;
        identity.add("all_gather");
        for (auto const count : counts) {
            identity.add(count);
        }
        one->mine.identity = identity.value();
        one->own = mine;
        one->all = all;
        one->counts.assign(counts.begin(), counts.end());
        return begin(std::move(one));
    }

    pending do_barrier(stream on) override {
        auto one = make("barrier", on);
        one->mine.identity = fingerprint{}.add("barrier").value();
        return begin(std::move(one));
    }

    pending do_exchange(std::span<outgoing const> sends, std::span<incoming const> receives, stream on,
                        statement const& mine) override {
        auto one = make(mine.operation, on);
        one->mine.identity = fingerprint{}.add("exchange").add(mine.operation).value();
        one->mine.value = mine.value;
        one->mine.refused = mine.refused ? 1 : 0;
        one->sends.assign(sends.begin(), sends.end());
        one->receives.assign(receives.begin(), receives.end());
        for (auto const& message : sends) {
            one->mine.messages += hash_of(rank(), message.peer, message.bytes.size());
        }
        for (auto const& message : receives) {
            one->mine.messages -= hash_of(message.peer, rank(), message.bytes.size());
        }
        return begin(std::move(one));
    }

    std::unique_ptr<communicator> do_split(std::uint32_t color, std::uint32_t key, deadline until) override {
        auto one = make("split", {});
        one->mine.identity = fingerprint{}.add("split").value();
        one->mine.color = color;
        one->mine.key = key;
        one->splits = true;
        auto splitting = begin(one);
        splitting.wait(until);
        std::size_t position = 0;
        for (std::size_t other = 0; other < one->greetings.size(); ++other) {
            auto const& wish = one->greetings[other];
            bool const before = wish.key < key || (wish.key == key && other < to_index(rank()));
            position += wish.color == color && before ? 1 : 0;
        }
        return std::make_unique<nccl_communicator>(to_id<world_rank>(position), one->child);
    }

    void do_abort(std::string_view reason, world_rank culprit) noexcept override {
        fault why;
        try {
            why = {"abort", culprit, rank_text(rank()).append(": ").append(reason)};
        } catch (std::exception const&) {
            // Ended all the same.
        }
        state_->fail(std::move(why));
    }

    [[nodiscard]] std::shared_ptr<operation> make(std::string_view name, stream on) const {
        auto one = std::make_shared<operation>();
        one->name = name;
        if (on != stream{}) {
            one->callers = static_cast<cudaStream_t>(on.handle);
            try {
                nccl::on_device const here{state_->device()};
                cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
                nccl::require(cudaStreamIsCapturing(one->callers, &status), "cudaStreamIsCapturing");
                if (status != cudaStreamCaptureStatusNone) {
                    throw_invalid(name, "on", "a stream that is being captured",
                                  "one that is not: ranks talk to each other before bytes move");
                }
                one->before = std::make_unique<nccl::event>();
                one->before->record(one->callers);
            } catch (failure const& wrong) {
                throw error{name, rank(), std::nullopt, wrong.what()};
            }
        }
        return one;
    }

    [[nodiscard]] pending begin(std::shared_ptr<operation> one) {
        auto transfer = std::make_unique<nccl_transfer>(state_, one);
        state_->begin(std::move(one));
        return pending{std::move(transfer)};
    }

    std::shared_ptr<rank_state> state_;
};

/// @throws failure  if this process has no GPU; no other call of CUDA says so in so many words.
int current_device() {
    int count = 0;
    auto const code = cudaGetDeviceCount(&count);
    if (code != cudaSuccess || count <= 0) {
        throw failure{code == cudaSuccess ? std::string{"no CUDA device"}
                                          : std::string{"no CUDA device: "} + cudaGetErrorString(code)};
    }
    int device = 0;
    nccl::require(cudaGetDevice(&device), "cudaGetDevice");
    return device;
}

/// Every rank meets every other, so that connections are there before anything is timed, and all hold the same nodes.
std::unique_ptr<communicator> connect(ncclComm_t comm, world_rank rank, topology const& nodes, int device,
                                      deadline until) {
    auto world = std::make_unique<nccl_communicator>(rank, std::make_shared<rank_state>(comm, rank, nodes, device));
    fingerprint value;
    for (auto const node : nodes.nodes_of_ranks) {
        value.add(std::uint64_t{to_index(node)});
    }
    std::vector<std::byte> out(1);
    std::vector<std::byte> in(nodes.size().value);
    std::vector<outgoing> sends;
    std::vector<incoming> receives;
    for (std::size_t other = 0; other < nodes.size().value; ++other) {
        if (auto const peer = to_id<world_rank>(other); peer != rank) {
            sends.push_back({peer, out});
            receives.push_back({peer, std::span{in}.subspan(other, 1)});
        }
    }
    world->exchange(sends, receives, {}, {.operation = "make_nccl", .value = value.value()}).wait(until);
    return world;
}

}  // namespace

nccl_id make_nccl_id() {
    static_assert(sizeof(nccl_id) == sizeof(ncclUniqueId));
    ncclUniqueId made;
    try {
        nccl::require(ncclGetUniqueId(&made), "ncclGetUniqueId");
    } catch (failure const& wrong) {
        throw error{"make_nccl_id", {}, std::nullopt, wrong.what()};
    }
    nccl_id result;
    std::memcpy(result.bytes.data(), &made, sizeof made);
    return result;
}

std::unique_ptr<communicator> make_nccl(ncclComm* parent, topology const& nodes, deadline until) {
    if (parent == nullptr) {
        throw_invalid("make_nccl", "parent", "null", "a communicator");
    }
    int rank = 0;
    ncclComm_t child = nullptr;
    try {
        int const device = current_device();
        int count = 0;
        nccl::require(ncclCommCount(parent, &count), "ncclCommCount");
        nccl::require(ncclCommUserRank(parent, &rank), "ncclCommUserRank");
        if (nodes.size().value != static_cast<std::size_t>(count)) {
            throw_invalid("make_nccl", "nodes.size()", nodes.size().value,
                          "one rank for each of the " + std::to_string(count) + " ranks of the parent");
        }
        ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
        config.blocking = 0;
        config.splitShare = 0;
        nccl::require(ncclCommSplit(parent, 0, rank, &child, &config), "ncclCommSplit");
        nccl::settle(parent, until, "ncclCommSplit");
        nccl::settle(child, until, "ncclCommSplit");
        return connect(std::exchange(child, nullptr), to_id<world_rank>(static_cast<std::size_t>(rank)), nodes, device,
                       until);
    } catch (failure const& wrong) {
        if (child != nullptr) {
            static_cast<void>(ncclCommAbort(child));
        }
        throw error{"make_nccl", to_id<world_rank>(static_cast<std::size_t>(rank)), std::nullopt, wrong.what()};
    }
}

std::unique_ptr<communicator> make_nccl(nccl_id const& id, world_rank rank, topology const& nodes, deadline until) {
    if (to_index(rank) >= nodes.size().value) {
        throw_invalid("make_nccl", "rank", to_index(rank), "a rank below " + std::to_string(nodes.size().value));
    }
    ncclComm_t made = nullptr;
    try {
        int const device = current_device();
        ncclUniqueId unique;
        std::memcpy(&unique, id.bytes.data(), sizeof unique);
        ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
        config.blocking = 0;
        nccl::require(ncclCommInitRankConfig(&made, static_cast<int>(nodes.size().value), unique,
                                             static_cast<int>(to_index(rank)), &config),
                      "ncclCommInitRankConfig");
        nccl::settle(made, until, "ncclCommInitRankConfig");
        return connect(std::exchange(made, nullptr), rank, nodes, device, until);
    } catch (failure const& wrong) {
        if (made != nullptr) {
            static_cast<void>(ncclCommAbort(made));
        }
        throw error{"make_nccl", rank, std::nullopt, wrong.what()};
    }
}

}  // namespace evenkeel::comm
