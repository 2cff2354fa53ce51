// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/cost/load_of.hpp>

#include "tests/support/drawn.hpp"

namespace evenkeel::test {

/// The fewest bytes that any plan moves, and that any plan moves between nodes, if no rank may have more than some
/// load: by trying every placement, of seven items or so on four ranks.
template <class Model>
[[nodiscard]] carried fewest_bytes(drawn const& batch, Model const& model, std::uint64_t most_load) {
    constexpr auto none = std::numeric_limits<std::uint64_t>::max();
    carried fewest{none, none};
    std::vector<std::size_t> rank_of(batch.lengths.size());
    std::vector<std::vector<std::uint64_t>> on_ranks(batch.cluster.size().value);
    auto const place = [&](auto const& self, std::size_t item) -> void {
        if (item == rank_of.size()) {
            fewest = least_of(fewest, carried_by(rank_of, batch));
            return;
        }
        for (std::size_t rank = 0; rank < on_ranks.size(); ++rank) {
            rank_of[item] = rank;
            on_ranks[rank].push_back(batch.lengths[item]);
            if (load_of(on_ranks[rank], model) <= most_load) {
                self(self, item + 1);
            }
            on_ranks[rank].pop_back();
        }
    };
    place(place, 0);
    return fewest;
}

}  // namespace evenkeel::test
