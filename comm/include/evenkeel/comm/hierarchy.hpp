// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include <evenkeel/comm/all_to_all.hpp>
#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/comm/deadline.hpp>
#include <evenkeel/comm/pending.hpp>
#include <evenkeel/comm/stream.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/rearrange/exchange_algorithm.hpp>
#include <evenkeel/rearrange/links.hpp>
#include <evenkeel/rearrange/pair_traffic.hpp>
#include <evenkeel/rearrange/rearrangement.hpp>

namespace evenkeel::comm {

/// How a hierarchical exchange goes; the same on every rank.
struct exchange_options {
    exchange_algorithm algorithm = exchange_algorithm::automatic;

    friend bool operator==(exchange_options const&, exchange_options const&) = default;
};

/// The ranks of a communicator with the links between them: exchanges that take the nodes into account.
///
///     evenkeel::comm::hierarchy ways{world, 30s};                        // once
///     all_to_all(ways, move, fields, {.algorithm = two_hop}).wait(30s);  // every step
///
/// Bytes are relayed as `passages_of` says, and `predict` knows beforehand how many go over which link. Nothing but
/// time depends on the algorithm: the same bytes arrive, and a fault or a disagreement is a `comm::error` on every rank
/// within its deadline, or 40 ms later where ranks wait for one that is held up itself: such a rank is not named as the
/// culprit. With `two_hop`, messages inside a node are received when the ranks of the node agree, whatever the other
/// nodes find; their receivers are told that the exchange has failed.
///
/// Transfers of one hierarchy proceed in the order of the calls. A rank relays for others only while it is inside
/// `ready` or `wait` of one of them: whoever waits for something else first holds the others up.
///
/// A hierarchy that fails ends its own communicators, not the one it was made of. One object per rank, used by one
/// thread at a time.
class hierarchy {
  public:
    /// Collective over `world`; blocks. Splits off the ranks of each node, of each rail, and all.
    ///
    /// @param costs  What `automatic` reckons with; the same on every rank.
    /// @throws comm::error  as `communicator::split`; and if the ranks do not pass the same costs.
    hierarchy(communicator& world, deadline until, link_costs const& costs = {});
    hierarchy(hierarchy&&) noexcept;
    hierarchy& operator=(hierarchy&&) noexcept;
    ~hierarchy();

    [[nodiscard]] world_rank rank() const noexcept;
    [[nodiscard]] world_size size() const noexcept;
    [[nodiscard]] evenkeel::topology const& topology() const noexcept;
    [[nodiscard]] link_costs const& costs() const noexcept;

    /// Times empty exchanges and large ones, inside the nodes and between them, and reckons with the result from then
    /// on: the slowest rank's. Costs some milliseconds on fast links, and a hundred times `bytes` on the slow ones.
    /// Collective; blocks.
    ///
    /// @param bytes  Of each message that is timed: enough to make latency small beside it.
    link_costs measure(deadline until, std::size_t bytes = std::size_t{1} << 20U);

    /// The algorithm that `automatic` is for `all`.
    [[nodiscard]] exchange_algorithm choose(pair_traffic const& all) const;

    /// One message per pair of ranks, as `communicator::exchange`, but relayed.
    ///
    /// Where ranks hold different plans, `automatic` may choose differently on them: then the error comes with the
    /// deadline, not at once, and the hierarchy cannot be used any more.
    ///
    /// @param all       The messages of all ranks; the same on every rank, and part of what the ranks compare.
    /// @param sends     This rank's part of it, likewise
    /// @param receives  these. The bytes belong to the transfer until its `wait` returns; where it throws, they may
    ///                  hold some messages, in full or in part.
    /// @throws std::invalid_argument  from `wait`, on the rank whose messages are not its part of `all`; the others get
    ///                                a `comm::error` that names it, and the hierarchy can still be used.
    [[nodiscard]] pending exchange(pair_traffic const& all, std::span<outgoing const> sends,
                                   std::span<incoming const> receives, exchange_options const& options = {},
                                   stream on = {}, statement const& mine = {});

    /// As of the communicator it was made of.
    [[nodiscard]] std::shared_ptr<copier> device_copier() const;

    class state;

  private:
    std::shared_ptr<state> state_;
};

/// Moves the items of this rank to where `move` says, as `all_to_all` over a communicator, and under any algorithm.
[[nodiscard]] pending all_to_all(hierarchy& ways, rearrangement const& move, std::span<moving_field const> fields,
                                 exchange_options const& options = {}, stream on = {});

}  // namespace evenkeel::comm
