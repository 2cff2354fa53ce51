// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include <evenkeel/comm/error.hpp>
#include <evenkeel/comm/nccl.hpp>
#include <evenkeel/core/errors.hpp>

#include "check.hpp"
#include "communicator.hpp"
#include "device_parley.hpp"
#include "host_parley.hpp"
#include "nccl_wire.hpp"

namespace evenkeel::comm {

namespace {

using nccl::failure;

/// @throws std::invalid_argument  unless `beside`, if there is one, is this rank of the same ranks.
void require_beside(nccl_options const& options, world_rank rank, topology const& nodes) {
    if (options.beside == nullptr) {
        return;
    }
    if (options.beside->size() != nodes.size()) {
        throw_invalid("make_nccl", "options.beside->size()", options.beside->size().value,
                      "the " + std::to_string(nodes.size().value) + " ranks of nodes");
    }
    if (options.beside->rank() != rank) {
        throw_invalid("make_nccl", "options.beside->rank()", to_index(options.beside->rank()),
                      "this rank, " + std::to_string(to_index(rank)));
    }
}

/// @param comm  Taken over.
std::unique_ptr<communicator> connect(ncclComm_t comm, world_rank rank, topology const& nodes, int device,
                                      deadline until, nccl_options const& options) {
    auto over = std::make_unique<nccl::nccl_wire>(comm);
    nccl::own_stream stream;
    std::unique_ptr<nccl::parley> parley;
    if (options.beside != nullptr) {
        auto const key = static_cast<std::uint32_t>(to_index(rank));
        parley = std::make_unique<nccl::host_parley>(options.beside->split(0, key, until));
    } else {
        parley = std::make_unique<nccl::device_parley>(*over, stream.get());
    }
    auto world = std::make_unique<nccl::device_communicator>(
        rank, std::make_shared<nccl::rank_state>(
                  rank, nodes, nccl::lines{device, std::move(stream), std::move(over), std::move(parley)}));
    nccl::greet_all(*world, "make_nccl", until);
    if (options.beside != nullptr) {
        // So that what a rank does next does not get in the way of another one that is still here.
        options.beside->barrier().wait(until);
    }
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

std::unique_ptr<communicator> make_nccl(ncclComm* parent, topology const& nodes, deadline until,
                                        nccl_options const& options) {
    if (parent == nullptr) {
        throw_invalid("make_nccl", "parent", "null", "a communicator");
    }
    int rank = 0;
    ncclComm_t child = nullptr;
    try {
        int const device = nccl::current_device();
        int count = 0;
        nccl::require(ncclCommCount(parent, &count), "ncclCommCount");
        nccl::require(ncclCommUserRank(parent, &rank), "ncclCommUserRank");
        if (nodes.size().value != static_cast<std::size_t>(count)) {
            throw_invalid("make_nccl", "nodes.size()", nodes.size().value,
                          "one rank for each of the " + std::to_string(count) + " ranks of the parent");
        }
        require_beside(options, to_id<world_rank>(static_cast<std::size_t>(rank)), nodes);
        ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
        config.blocking = 0;
        config.splitShare = 0;
        nccl::require(ncclCommSplit(parent, 0, rank, &child, &config), "ncclCommSplit");
        nccl::settle(parent, until, "ncclCommSplit");
        nccl::settle(child, until, "ncclCommSplit");
        return connect(std::exchange(child, nullptr), to_id<world_rank>(static_cast<std::size_t>(rank)), nodes, device,
                       until, options);
    } catch (failure const& wrong) {
        if (child != nullptr) {
            static_cast<void>(ncclCommAbort(child));
        }
        throw error{"make_nccl", to_id<world_rank>(static_cast<std::size_t>(rank)), std::nullopt, wrong.what()};
    }
}

std::unique_ptr<communicator> make_nccl(nccl_id const& id, world_rank rank, topology const& nodes, deadline until,
                                        nccl_options const& options) {
    if (to_index(rank) >= nodes.size().value) {
        throw_invalid("make_nccl", "rank", to_index(rank), "a rank below " + std::to_string(nodes.size().value));
    }
    require_beside(options, rank, nodes);
    ncclComm_t made = nullptr;
    try {
        int const device = nccl::current_device();
        ncclUniqueId unique;
        std::memcpy(&unique, id.bytes.data(), sizeof unique);
        ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
        config.blocking = 0;
        nccl::require(ncclCommInitRankConfig(&made, static_cast<int>(nodes.size().value), unique,
                                             static_cast<int>(to_index(rank)), &config),
                      "ncclCommInitRankConfig");
        nccl::settle(made, until, "ncclCommInitRankConfig");
        return connect(std::exchange(made, nullptr), rank, nodes, device, until, options);
    } catch (failure const& wrong) {
        if (made != nullptr) {
            static_cast<void>(ncclCommAbort(made));
        }
        throw error{"make_nccl", rank, std::nullopt, wrong.what()};
    }
}

}  // namespace evenkeel::comm
