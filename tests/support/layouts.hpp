// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <evenkeel/core/group.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/core/plan.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/rearrange/rearrangement.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::test {

/// A plan from its lists, rank after rank, each in its micro-batches.
///
///     plan_of({{0, 3}, {}, {1, 2}, {4}}, 2)
///
///                 micro-batch 0   micro-batch 1
///     rank 0      0 3             -
///     rank 1      1 2             4
[[nodiscard]] inline plan plan_of(std::vector<std::vector<std::uint32_t>> const& lists, std::size_t micro_batches = 1) {
    plan result;
    result.micro_batches = micro_batches;
    for (auto const& list : lists) {
        for (auto const item : list) {
            result.items.push_back(item_id{item});
        }
        result.offsets.push_back(result.items.size());
    }
    return result;
}

/// The numbers behind ids, for comparison with a literal.
template <class Ids>
[[nodiscard]] std::vector<std::uint32_t> numbers(Ids const& ids) {
    std::vector<std::uint32_t> result;
    for (auto const id : ids) {
        result.push_back(static_cast<std::uint32_t>(id));
    }
    return result;
}

/// The rank of each item of a plan.
[[nodiscard]] inline std::vector<std::size_t> ranks_of_items(plan const& plan) {
    std::vector<std::size_t> result(plan.items.size());
    for (std::size_t rank = 0; rank < plan.ranks().value; ++rank) {
        for (auto const item : plan[to_id<rank_id>(rank)]) {
            result[to_index(item)] = rank;
        }
    }
    return result;
}

/// The numbers from 0 to `count` - 1 in a random order.
[[nodiscard]] inline std::vector<std::uint32_t> shuffled(seeded& random, std::size_t count) {
    std::vector<std::uint32_t> result(count);
    for (std::size_t position = 0; position < count; ++position) {
        std::size_t const other = random.up_to(position);
        result[position] = result[other];
        result[other] = static_cast<std::uint32_t>(position);
    }
    return result;
}

/// How many of `items` items each of `ranks` ranks has: ragged, often 0 for some, at times all for one.
[[nodiscard]] inline std::vector<std::size_t> random_counts(seeded& random, std::size_t items, std::size_t ranks) {
    std::vector<std::size_t> result(ranks);
    bool const crowded = random.up_to(3) == 0;
    std::size_t const crowd = random.up_to(ranks - 1);
    for (std::size_t item = 0; item < items; ++item) {
        ++result[crowded ? crowd : random.up_to(ranks - 1)];
    }
    return result;
}

/// A partition of `items` items into lists of random sizes, some of them empty, each in a random order.
[[nodiscard]] inline plan random_plan(seeded& random, std::size_t items, rank_count ranks, std::size_t micro_batches) {
    plan result;
    result.micro_batches = micro_batches;
    for (auto const item : shuffled(random, items)) {
        result.items.push_back(item_id{item});
    }
    for (auto const count : random_counts(random, items, ranks.value * micro_batches)) {
        result.offsets.push_back(result.offsets.back() + count);
    }
    return result;
}

/// Instances of 1 to 3 members, scattered over the world; some world ranks may have no part in it.
[[nodiscard]] inline group random_group(seeded& random, world_size ranks) {
    group result;
    for (auto const member : shuffled(random, ranks.value)) {
        bool const closes = random.up_to(1) == 0 || result.members.size() - result.offsets.back() == 2;
        result.members.push_back(world_rank{member});
        if (closes || result.members.size() == ranks.value) {
            result.offsets.push_back(result.members.size());
        }
        if (random.up_to(7) == 0 && result.offsets.back() == result.members.size()) {
            break;
        }
    }
    return result;
}

/// Where `items` items may be: at home, or carried out over all ranks or over some group, in 1 to 3 micro-batches.
[[nodiscard]] inline layout random_layout(seeded& random, std::size_t items, world_size ranks) {
    std::uint64_t const kind = random.up_to(2);
    if (kind == 0) {
        return home_layout(random_counts(random, items, ranks.value));
    }
    auto const group = kind == 1 ? flat_group(ranks) : random_group(random, ranks);
    std::size_t const micro_batches = random.between(1, 3);
    return layout_of(random_plan(random, items, group.ranks(), micro_batches), group, ranks);
}

/// Four layouts of the same items in the same world, and what leads from each to the next.
///
///     a --first--> b --second--> c --third--> d
struct journey {
    rearrangement first;
    rearrangement second;
    rearrangement third;

    [[nodiscard]] std::size_t size() const noexcept { return first.size(); }
    [[nodiscard]] world_size ranks() const noexcept { return first.ranks(); }
};

/// 0 to 40 items on 1 to 8 ranks.
[[nodiscard]] inline journey random_journey(std::uint64_t seed) {
    seeded random{seed};
    world_size const ranks{random.between(1, 8)};
    std::size_t const items = random.up_to(3) == 0 ? random.up_to(4) : random.up_to(40);
    auto const a = random_layout(random, items, ranks);
    auto const b = random_layout(random, items, ranks);
    auto const c = random_layout(random, items, ranks);
    auto const d = random_layout(random, items, ranks);
    return {.first = {a, b}, .second = {b, c}, .third = {c, d}};
}

/// Sizes from 0 to 20 bytes, one in four of them 0.
[[nodiscard]] inline std::vector<std::uint64_t> random_bytes(seeded& random, std::size_t items) {
    std::vector<std::uint64_t> result(items);
    for (auto& bytes : result) {
        bytes = random.up_to(3) == 0 ? 0 : random.between(1, 20);
    }
    return result;
}

/// Every world rank on some node: of any size, not consecutive, some node ids perhaps unused.
[[nodiscard]] inline topology random_topology(seeded& random, world_size ranks) {
    topology result;
    std::uint64_t const last = random.up_to(ranks.value - 1);
    for (std::size_t rank = 0; rank < ranks.value; ++rank) {
        result.nodes_of_ranks.push_back(to_id<node_id>(random.up_to(last)));
    }
    return result;
}

}  // namespace evenkeel::test
