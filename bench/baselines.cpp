// SPDX-License-Identifier: Apache-2.0
#include "baselines.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <random>
#include <utility>

namespace evenkeel::bench {

std::vector<std::uint32_t> heap_longest_first(std::span<std::uint64_t const> lengths, std::size_t ranks) {
    std::vector<std::uint32_t> order(lengths.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return lengths[a] > lengths[b] || (lengths[a] == lengths[b] && a < b);
    });

    using load_of_rank = std::pair<std::uint64_t, std::uint32_t>;
    std::priority_queue<load_of_rank, std::vector<load_of_rank>, std::greater<>> loads;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        loads.emplace(0, rank);
    }
    std::vector<std::uint32_t> rank_of(lengths.size());
    for (auto const sample : order) {
        auto const [load, rank] = loads.top();
        loads.pop();
        loads.emplace(load + lengths[sample], rank);
        rank_of[sample] = rank;
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
