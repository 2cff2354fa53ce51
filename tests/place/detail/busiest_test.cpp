// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/place/detail/busiest.hpp>

namespace evenkeel::detail::busiest_test {
namespace {

TEST(read_column, tells_nodes_apart_whose_lowest_bytes_are_the_same) {
    // Batch j draws j + 1 bytes from each of `rows[j]`: nearly 300 entries, several blocks and a rest.
    std::vector<std::vector<std::uint32_t>> rows;
    for (std::uint32_t batch = 0; batch < 97; ++batch) {
        rows.push_back({batch + 2, 256 + batch % 5, batch % 7 == 0 ? 513U : 1U});
    }
    rows[40].clear();
    rows[96] = {1, 257};
    node_traffic traffic;
    traffic.offsets = {0};
    for (std::size_t batch = 0; batch < rows.size(); ++batch) {
        for (std::uint32_t const node : rows[batch]) {
            traffic.nodes.push_back(node);
            traffic.bytes.push_back(batch + 1);
        }
        traffic.offsets.push_back(static_cast<std::uint32_t>(traffic.nodes.size()));
    }
    traffic.of_batch.resize(rows.size());

    busiest_room room;
    mark_entries(traffic, room);
    for (std::uint32_t const node : {1U, 257U, 513U, 2U, 769U}) {
        std::vector<std::uint64_t> column(rows.size());
        std::vector<std::uint32_t> drawing;
        for (std::uint32_t batch = 0; batch < rows.size(); ++batch) {
            for (std::uint32_t const drawn : rows[batch]) {
                if (drawn == node) {
                    column[batch] = batch + 1;
                    drawing.push_back(batch);
                }
            }
        }
        read_column(traffic, node, room);
        EXPECT_EQ(room.column, column) << "node " << node;
        EXPECT_EQ(room.drawing, drawing) << "node " << node;
    }
}

}  // namespace
}  // namespace evenkeel::detail::busiest_test
