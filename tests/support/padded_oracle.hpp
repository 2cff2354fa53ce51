// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/plan.hpp>
#include <evenkeel/cost/load_of.hpp>

namespace evenkeel::test {

/// The loads of all ranks under a plan, recomputed from the lengths, whatever the kind of model.
template <class Model>
[[nodiscard]] std::vector<std::uint64_t> loads_of(plan const& plan, std::span<std::uint64_t const> lengths,
                                                  Model const& model) {
    std::vector<std::uint64_t> loads;
    for (std::size_t rank = 0; rank < plan.ranks().value; ++rank) {
        std::vector<std::uint64_t> own;
        for (item_id const item : plan[to_id<rank_id>(rank)]) {
            own.push_back(lengths[to_index(item)]);
        }
        loads.push_back(load_of(own, model));
    }
    return loads;
}

/// The smallest possible load of the busiest rank, by trying every partition of the samples: for nine or so.
template <class Model>
[[nodiscard]] std::uint64_t least_busiest(std::span<std::uint64_t const> lengths, rank_count ranks,
                                          Model const& model) {
    std::vector<std::vector<std::uint64_t>> batches;
    std::uint64_t best = std::numeric_limits<std::uint64_t>::max();
    auto const place = [&](auto const& self, std::size_t item) -> void {
        if (item == lengths.size()) {
            std::uint64_t busiest = 0;
            for (auto const& batch : batches) {
                busiest = std::max(busiest, load_of(batch, model));
            }
            best = std::min(best, busiest);
            return;
        }
        for (std::size_t batch = 0; batch < batches.size(); ++batch) {
            batches[batch].push_back(lengths[item]);
            self(self, item + 1);
            batches[batch].pop_back();
        }
        if (batches.size() < ranks.value) {
            batches.push_back({lengths[item]});
            self(self, item + 1);
            batches.pop_back();
        }
    };
    place(place, 0);
    return best;
}

}  // namespace evenkeel::test
