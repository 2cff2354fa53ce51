// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/orchestrate/orchestrate.hpp>

namespace evenkeel::detail::dealing_test {
namespace {

using sizes = std::vector<std::uint64_t>;

planned_step llm_alone(std::vector<std::size_t> const& drawn, sizes const& text, std::size_t ranks_per_node,
                       orchestrate_options const& options = {.micro_batches = {2}}) {
    world_size const ranks{drawn.size()};
    std::vector<phase> const phases{{.name = "llm", .group = flat_group(ranks), .bytes_in = 8, .tolerance = 0}};
    return orchestrate({.counts = drawn, .text = text}, phases, uniform_topology(ranks, {ranks_per_node}), options);
}

TEST(dealing, leaves_what_is_even_as_drawn) {
    // Level over a node, all of rank 0 would come first, and all of rank 1 second.
    auto const step = llm_alone({4, 4}, {6, 5, 4, 3, 6, 5, 4, 3}, 2);
    EXPECT_EQ(step.traffic.moved, 0u);
    EXPECT_EQ(sums_of(step.llm()).max_loads, 18u);
}

TEST(dealing, levels_what_would_have_to_leave_its_node_as_drawn) {
    // As drawn, the nodes would have 8 and 4, then 4 and 8: the same in all, but 2 would have to move each time.
    auto const step = llm_alone({8, 8}, {2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2}, 1);
    EXPECT_EQ(step.traffic.moved, 0u);
    EXPECT_EQ(sums_of(step.llm()).max_loads, 12u);
}

TEST(dealing, puts_heavy_samples_together_that_were_not_drawn_so) {
    // As drawn, no node would have to give any load away, and all would wait for 9 twice.
    auto const step = llm_alone({4, 4}, {9, 1, 9, 1, 9, 1, 9, 1}, 2, {.micro_batches = {4}});
    EXPECT_EQ(sums_of(step.llm()).max_loads, 20u);
}

TEST(dealing, is_refused_by_its_number_where_it_is_none_of_them) {
    EXPECT_THAT(
        [] { (void)llm_alone({1}, {1}, 1, {.micro_batches = {2}, .deal = static_cast<dealing>(4)}); },
        testing::ThrowsMessage<std::invalid_argument>("orchestrate: options.deal = 4, expected a value of dealing"));
}

class equal_ranks_law : public testing::TestWithParam<unsigned> {};

/// All ranks have drawn the same, of two encoders and text, so that nothing need move.
TEST_P(equal_ranks_law, samples_stay_as_drawn_and_move_nothing) {
    std::mt19937 random{GetParam()};
    auto const below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
    std::size_t const ranks_per_node = 1 + below(3);
    world_size const ranks{ranks_per_node * (1 + below(3))};
    std::size_t const each = 1 + below(12);
    sizes tokens;
    std::vector<std::size_t> images;
    std::vector<std::size_t> sounds;
    for (std::size_t sample = 0; sample < each; ++sample) {
        tokens.push_back(below(500));
        images.push_back(below(3));
        sounds.push_back(below(2));
    }
    sizes const lengths{1 + below(400), 1 + below(400), 1 + below(400)};
    step_samples samples{.counts = std::vector<std::size_t>(ranks.value, each)};
    std::vector<std::size_t> all_images;
    std::vector<std::size_t> all_sounds;
    samples.inputs.resize(2);
    for (std::size_t rank = 0; rank < ranks.value; ++rank) {
        samples.text.insert(samples.text.end(), tokens.begin(), tokens.end());
        all_images.insert(all_images.end(), images.begin(), images.end());
        all_sounds.insert(all_sounds.end(), sounds.begin(), sounds.end());
        for (std::size_t sample = 0; sample < each; ++sample) {
            for (std::size_t unit = 0; unit < images[sample]; ++unit) {
                samples.inputs[0].lengths.push_back(lengths[(sample + unit) % 3]);
            }
            for (std::size_t unit = 0; unit < sounds[sample]; ++unit) {
                samples.inputs[1].lengths.push_back(lengths[sample % 2]);
            }
        }
    }
    samples.inputs[0].units = units_of(all_images);
    samples.inputs[1].units = units_of(all_sounds);
    auto const group = flat_group(ranks);
    std::vector<phase> const phases{{.name = "image", .group = group, .bytes_in = 4704, .bytes_out = 7168},
                                    {.name = "audio", .group = group, .bytes_in = 1024, .bytes_out = 7168},
                                    {.name = "llm", .group = group, .bytes_in = 8}};
    auto const cluster = uniform_topology(ranks, {ranks_per_node});
    micro_batch_count const slots{2 + below(3)};
    auto const best = orchestrate(samples, phases, cluster, {.micro_batches = slots});
    auto const drawn = orchestrate(samples, phases, cluster, {.micro_batches = slots, .deal = dealing::as_drawn});
    EXPECT_EQ(drawn.traffic.moved, 0u);
    EXPECT_EQ(best, drawn);
}

INSTANTIATE_TEST_SUITE_P(seeds, equal_ranks_law, testing::Range(0u, 100u));

}  // namespace
}  // namespace evenkeel::detail::dealing_test
