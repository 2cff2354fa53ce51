// SPDX-License-Identifier: Apache-2.0
#include "baselines.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <random>
#include <utility>

namespace evenkeel::bench {

std::vector<std::uint32_t> heap_longest_first(std::span<std::uint64_t const> costs, std::size_t ranks) {
    std::vector<std::uint32_t> order(costs.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return costs[a] > costs[b] || (costs[a] == costs[b] && a < b); });

    using load_of_rank = std::pair<std::uint64_t, std::uint32_t>;
    std::priority_queue<load_of_rank, std::vector<load_of_rank>, std::greater<>> loads;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        loads.emplace(0, rank);
    }
    std::vector<std::uint32_t> rank_of(costs.size());
    for (auto const sample : order) {
        auto const [load, rank] = loads.top();
        loads.pop();
        loads.emplace(load + costs[sample], rank);
        rank_of[sample] = rank;
    }
    return rank_of;
}

std::vector<std::uint32_t> largest_differencing(std::span<std::uint64_t const> costs, std::size_t ranks) {
    std::size_t const count = costs.size();
    constexpr auto nothing = static_cast<std::uint32_t>(-1);
    struct part {
        std::uint64_t load = 0;
        std::uint32_t first = nothing;  // of a list of samples
        std::uint32_t last = nothing;
    };
    auto const heavier = [](part const& a, part const& b) { return a.load > b.load; };
    std::vector<std::uint32_t> next(count, nothing);
    std::vector<part> parts(count * ranks);
    using difference = std::pair<std::uint64_t, std::uint32_t>;
    std::priority_queue<difference> open;
    for (std::uint32_t sample = 0; sample < count; ++sample) {
        parts[sample * ranks] = {costs[sample], sample, sample};
        open.emplace(ranks > 1 ? costs[sample] : 0, sample);
    }
    while (open.size() > 1) {
        auto const one = parts.begin() + static_cast<std::ptrdiff_t>(open.top().second * ranks);
        auto const into = open.top().second;
        open.pop();
        auto const other = parts.begin() + static_cast<std::ptrdiff_t>(open.top().second * ranks);
        open.pop();
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            auto& to = one[static_cast<std::ptrdiff_t>(rank)];
            auto const& from = other[static_cast<std::ptrdiff_t>(ranks - 1 - rank)];
            to.load += from.load;
            if (to.first == nothing) {
                to.first = from.first;
                to.last = from.last;
            } else if (from.first != nothing) {
                next[to.last] = from.first;
                to.last = from.last;
            }
        }
        auto const end = one + static_cast<std::ptrdiff_t>(ranks);
        std::sort(one, end, heavier);
        // Only differences matter.
        std::uint64_t const least = (end - 1)->load;
        std::for_each(one, end, [&](part& part) { part.load -= least; });
        open.emplace(one->load, into);
    }
    std::vector<std::uint32_t> rank_of(count);
    for (std::uint32_t rank = 0; count > 0 && rank < ranks; ++rank) {
        for (auto sample = parts[open.top().second * ranks + rank].first; sample != nothing; sample = next[sample]) {
            rank_of[sample] = rank;
        }
    }
    return rank_of;
}

std::vector<std::uint32_t> random_keys(std::size_t count) {
    std::mt19937 engine{1};
    std::vector<std::uint32_t> keys(count);
    std::generate(keys.begin(), keys.end(), [&] { return static_cast<std::uint32_t>(engine()); });
    return keys;
}

}  // namespace evenkeel::bench
