// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <evenkeel/core/plan.hpp>
#include <evenkeel/core/quality.hpp>
#include <evenkeel/solve/wishes.hpp>

namespace evenkeel {

/// What `rebalance` aims for, and what it knows of the items beside their lengths.
///
///     evenkeel::rebalance(lengths, home, cluster, model, {.tolerance = 5e-3});   // 0.5 % of slack saves many bytes
struct rebalance_options {
    /// How much busier than the lower bound the busiest rank may be: slack, spent on moving fewer bytes. A batch of few
    /// items per rank that are all about as heavy moves far less at 5e-3 than at 1e-3.
    double tolerance = 1e-3;

    /// How many steps per sample the search may take, where a batch of fewer than 1024 samples counts as one of 1024. A
    /// step is a comparison or so. Steps are counted, so the plan does not depend on the machine.
    std::uint64_t effort = 16384;

    /// How many parts of a unit of length count: 100 reads 2.54 seconds as 254 hundredths.
    std::uint64_t resolution = 1;

    /// What moving each item costs, if not its length: one size per item, and it may be 0.
    std::span<std::uint64_t const> bytes = {};

    /// In which order items may leave their node: while an item of class 0 can do, none of class 1 goes. One class per
    /// item, or empty where all are alike.
    std::span<std::uint8_t const> classes = {};

    /// What the plan must respect besides even loads: caps, speeds, no empty rank, groups, pinned samples, counts. All
    /// of `wishes` but `step`, since turns would move what could stay. A group is at home in the node that has most
    /// bytes of it; pinned samples move to their rank in any case.
    evenkeel::wishes wishes = {};

    /// Whether to compute how few bytes any plan must move. Whoever does not look at that saves its time: no plan
    /// depends on it.
    bool bounds = true;
};

/// A plan that leaves most items where they are, what it moves, and what no plan with this busiest rank can go below.
struct rebalanced {
    evenkeel::plan plan;
    evenkeel::quality quality;

    std::uint64_t total = 0;          ///< bytes of all items, moved or not
    std::uint64_t moved = 0;          ///< bytes that leave their rank
    std::uint64_t between_nodes = 0;  ///< bytes that leave their node

    /// Below which no plan with this busiest rank moves. Absent if `rebalance_options::bounds` is false.
    std::optional<std::uint64_t> moved_bound = {};
    std::optional<std::uint64_t> between_nodes_bound = {};

    /// Whether staying at home has failed, so that the plan was made without regard to homes and its batches were then
    /// given to the ranks that have most of them. A larger tolerance would most likely move much less.
    bool from_scratch = false;

    friend bool operator==(rebalanced const&, rebalanced const&) = default;
};

}  // namespace evenkeel
