// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <utility>

#include <evenkeel/comm/error.hpp>
#include <evenkeel/comm/loopback.hpp>
#include <evenkeel/comm/threads.hpp>
#include <evenkeel/core/errors.hpp>

#include "../run_ranks.hpp"
#include "check.hpp"
#include "communicator.hpp"
#include "host_parley.hpp"
#include "loopback_wire.hpp"

namespace evenkeel::comm {

std::vector<std::unique_ptr<communicator>> make_loopback(topology const& nodes) {
    if (nodes.size().value == 0) {
        throw_invalid("make_loopback", "nodes.size()", 0, "at least 1 rank");
    }
    try {
        int const device = nccl::current_device();
        auto hosts = make_threads(nodes);
        auto wires = nccl::loopback_wire::make(nodes.size().value);
        std::vector<std::unique_ptr<communicator>> ranks;
        for (std::size_t rank = 0; rank < nodes.size().value; ++rank) {
            auto const self = to_id<world_rank>(rank);
            ranks.push_back(std::make_unique<nccl::device_communicator>(
                self, std::make_shared<nccl::rank_state>(
                          self, nodes,
                          nccl::lines{device, nccl::own_stream{}, std::move(wires[rank]),
                                      std::make_unique<nccl::host_parley>(std::move(hosts[rank]))})));
        }
        return ranks;
    } catch (nccl::failure const& wrong) {
        throw error{"make_loopback", {}, std::nullopt, wrong.what()};
    }
}

void run_loopback(topology const& nodes, std::function<void(communicator&)> const& body) {
    require_body("run_loopback", body);
    run_ranks(make_loopback(nodes), body);
}

}  // namespace evenkeel::comm
