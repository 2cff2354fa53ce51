// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/core/grid.hpp>

namespace evenkeel::grid_test {
namespace {

auto refuses(std::string const& message) { return testing::ThrowsMessage<std::invalid_argument>(message); }

TEST(grid, splits_a_world_into_tensor_and_data_parallel_ranks) {
    evenkeel::grid const llm{.tensor = 2, .data = 4};
    EXPECT_EQ(evenkeel::ranks_of(llm), world_size{8});
    EXPECT_EQ(evenkeel::coordinates_of(llm, evenkeel::world_rank{5}).data, 2u);
    EXPECT_EQ(evenkeel::coordinates_of(llm, evenkeel::world_rank{5}).tensor, 1u);
}

TEST(grid, is_one_rank_by_default) {
    EXPECT_EQ(ranks_of(grid{}), world_size{1});
    EXPECT_EQ(coordinates_of(grid{}, world_rank{0}), grid_coordinates{});
    EXPECT_EQ(rank_at(grid{.offset = 7}, {}), world_rank{7});
}

/// The dense grid: rank = tp + TP * (cp + CP * (dp + DP * pp)).
TEST(grid, follows_the_formula_of_dense_ranks) {
    grid const dense{.tensor = 2, .context = 3, .data = 4, .pipeline = 2, .offset = 10};
    for (std::size_t pp = 0; pp < 2; ++pp) {
        for (std::size_t dp = 0; dp < 4; ++dp) {
            for (std::size_t cp = 0; cp < 3; ++cp) {
                for (std::size_t tp = 0; tp < 2; ++tp) {
                    grid_coordinates const at{.tensor = tp, .context = cp, .data = dp, .pipeline = pp};
                    auto const rank = to_id<world_rank>(10 + tp + 2 * (cp + 3 * (dp + 4 * pp)));
                    EXPECT_EQ(rank_at(dense, at), rank);
                    EXPECT_EQ(coordinates_of(dense, rank), at);
                }
            }
        }
    }
}

/// The expert grid: rank = etp + ETP * (ep + EP * (edp + EDP * pp)).
TEST(grid, follows_the_formula_of_expert_ranks) {
    grid const experts{.tensor = 2, .expert = 4, .data = 3, .pipeline = 2};
    for (std::size_t rank = 0; rank < 48; ++rank) {
        grid_coordinates const at{
            .tensor = rank % 2, .expert = rank / 2 % 4, .data = rank / 8 % 3, .pipeline = rank / 24};
        EXPECT_EQ(coordinates_of(experts, to_id<world_rank>(rank)), at);
        EXPECT_EQ(rank_at(experts, at), to_id<world_rank>(rank));
    }
}

TEST(grid, reads_orders_with_the_last_axis_fastest_as_row_major_meshes) {
    grid const mesh{
        .tensor = 2, .context = 3, .data = 4, .pipeline = 2, .order = "pp-dp-cp-tp", .fastest = fastest_axis::last};
    grid const megatron{.tensor = 2, .context = 3, .data = 4, .pipeline = 2};
    for (std::size_t rank = 0; rank < 48; ++rank) {
        EXPECT_EQ(coordinates_of(mesh, to_id<world_rank>(rank)), coordinates_of(megatron, to_id<world_rank>(rank)));
    }
    grid const reversed{.tensor = 2, .data = 4, .order = "dp-tp"};
    EXPECT_EQ(coordinates_of(reversed, world_rank{5}), (grid_coordinates{.tensor = 1, .data = 1}));
}

/// stride[axis] = product of the sizes to the left of it, coordinate = rank / stride % size.
TEST(grid, keeps_the_stride_rule_in_every_order) {
    std::vector<std::string> names{"cp", "dp", "pp", "tp"};
    do {
        grid const any{.tensor = 2,
                       .context = 3,
                       .data = 4,
                       .pipeline = 5,
                       .order = names[0] + "-" + names[1] + "-" + names[2] + "-" + names[3]};
        auto const size = [](std::string const& name) {
            return name == "tp" ? 2u : name == "cp" ? 3u : name == "dp" ? 4u : 5u;
        };
        for (std::size_t rank = 0; rank < 120; ++rank) {
            std::size_t stride = 1;
            auto const at = coordinates_of(any, to_id<world_rank>(rank));
            for (auto const& name : names) {
                auto const found = name == "tp"   ? at.tensor
                                   : name == "cp" ? at.context
                                   : name == "dp" ? at.data
                                                  : at.pipeline;
                EXPECT_EQ(found, rank / stride % size(name)) << any.order << " rank " << rank;
                stride *= size(name);
            }
            EXPECT_EQ(rank_at(any, at), to_id<world_rank>(rank));
        }
    } while (std::ranges::next_permutation(names).found);
}

TEST(grid, may_leave_axes_of_size_1_out_of_its_order) {
    grid const plain{.data = 4, .order = "dp"};
    EXPECT_EQ(ranks_of(plain), world_size{4});
    EXPECT_EQ(coordinates_of(plain, world_rank{3}), grid_coordinates{.data = 3});
}

TEST(grid, refuses_orders_that_are_none) {
    for (std::string const order : {"", "tp-", "-tp", "tp--dp", "tp-tp-dp", "tp-dp-xp", "tp dp", "TP-dp"}) {
        EXPECT_THAT([&] { (void)ranks_of({.order = order}); },
                    refuses("ranks_of: grid.order = " + order +
                            ", expected each of tp, cp, ep, dp and pp at most once, joined by -"));
    }
    EXPECT_THAT([] { (void)ranks_of({.tensor = 2, .data = 2, .order = "dp-pp"}); },
                refuses("ranks_of: grid.order = dp-pp, expected tp among its axes, whose size is 2"));
}

TEST(grid, refuses_sizes_that_make_no_grid) {
    EXPECT_THAT([] { (void)ranks_of({.context = 0}); }, refuses("ranks_of: grid.context = 0, expected at least 1"));
    EXPECT_THAT(
        [] { (void)ranks_of({.context = 2, .expert = 2}); },
        refuses("ranks_of: grid.expert = 2, expected 1 where grid.context is above 1: two grids, one for each"));
    EXPECT_THAT([] { (void)ranks_of({.tensor = 1u << 20u, .data = 1u << 20u}); },
                refuses("ranks_of: grid.data = 1048576, expected fewer than 2^32 ranks in all"));
    EXPECT_THAT([] { (void)ranks_of({.data = 2, .offset = max_items - 1}); },
                refuses("ranks_of: grid.offset = 4294967294, expected world ranks below 2^32"));
}

TEST(grid, refuses_ranks_and_coordinates_outside_it) {
    grid const some{.data = 4, .offset = 8};
    EXPECT_THAT([&] { (void)coordinates_of(some, world_rank{7}); },
                refuses("coordinates_of: rank = 7, expected 8 to 11"));
    EXPECT_THAT([&] { (void)coordinates_of(some, world_rank{12}); },
                refuses("coordinates_of: rank = 12, expected 8 to 11"));
    EXPECT_THAT([&] { (void)rank_at(some, {.data = 4}); },
                refuses("rank_at: at.data = 4, expected a coordinate below 4"));
}

}  // namespace
}  // namespace evenkeel::grid_test
