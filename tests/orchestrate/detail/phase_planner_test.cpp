// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/core/group.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/orchestrate/orchestrate.hpp>

namespace evenkeel::detail::phase_planner_test {
namespace {

using counts = std::vector<std::size_t>;

/// What is moved of an encoder with few units to a rank; the LLM takes whatever comes.
struct few_units {
    counts samples;  ///< of each rank
    counts units;    ///< of each sample
    std::vector<std::uint64_t> lengths;

    [[nodiscard]] planned_step planned(std::size_t ranks_of_node, double tolerance) const {
        step_samples const drawn{.counts = samples,
                                 .text = std::vector<std::uint64_t>(units.size(), 10),
                                 .inputs = {{.units = units_of(units), .lengths = lengths}}};
        auto const ranks = flat_group({samples.size()});
        std::vector<phase> const phases{
            {.name = "vision", .group = ranks, .bytes_in = 1, .bytes_out = 2, .tolerance = tolerance, .effort = 1024},
            {.name = "llm", .group = ranks, .bytes_in = 1, .tolerance = 5}};
        return orchestrate(drawn, phases, uniform_topology({samples.size()}, {ranks_of_node}));
    }
};

TEST(phase_planner, shares_nodes_out_anew_where_that_lets_less_leave_them) {
    few_units const drawn{.samples = {0, 0, 4, 1}, .units = counts(5, 1), .lengths = {149, 85, 154, 99, 95}};
    auto const step = drawn.planned(2, 0.1);
    EXPECT_LE(step.phases[0].quality[0].gap(), 0.1);
    EXPECT_LE(step.traffic.raw[0].between_nodes, 249u) << "staying where possible takes 279";
}

TEST(phase_planner, leaves_nodes_as_they_are_where_sharing_them_out_anew_lets_more_leave) {
    few_units const drawn{
        .samples = {0, 0, 0, 0, 2, 0, 2, 0, 0}, .units = {1, 1, 2, 4}, .lengths = {10, 5, 16, 14, 10, 15, 7, 14}};
    auto const step = drawn.planned(3, 0.02);
    EXPECT_EQ(step.phases[0].quality[0].max_load, 16u);
    EXPECT_LE(step.traffic.raw[0].between_nodes, 37u);
}

TEST(phase_planner, goes_on_from_an_uneven_plan_close_to_home_before_it_plans_from_scratch) {
    few_units const drawn{.samples = {0, 0, 3, 0, 3, 3},
                          .units = {3, 1, 1, 3, 3, 1, 2, 3, 1},
                          .lengths = {17, 13, 20, 3, 8, 19, 10, 18, 14, 7, 19, 8, 1, 4, 12, 19, 4, 2}};
    auto const step = drawn.planned(3, 0.02);
    EXPECT_FALSE(step.phases[0].from_scratch);
    EXPECT_EQ(step.phases[0].quality[0].max_load, 33u);
    EXPECT_LE(step.traffic.raw[0].between_nodes, 72u) << "from scratch it takes 94";
}

TEST(phase_planner, moves_whole_samples_rather_than_units_that_leave_their_outputs_behind) {
    few_units const drawn{
        .samples = {0, 3, 0, 4}, .units = {2, 1, 1, 2, 1, 2, 1}, .lengths = {1, 20, 12, 13, 8, 2, 4, 10, 14, 1}};
    auto const step = drawn.planned(2, 0.02);
    EXPECT_EQ(step.phases[0].quality[0].max_load, 22u);
    EXPECT_EQ(step.traffic.outputs[0].between_nodes, 0u);
    EXPECT_LE(step.traffic.raw[0].between_nodes, 22u);
}

/// What the busiest of ranks that share samples out from scratch has.
std::uint64_t busiest_from_scratch(std::vector<std::uint64_t> const& lengths, std::size_t ranks, phase_method method,
                                   double tolerance) {
    counts drawn(ranks);
    drawn.back() = lengths.size();
    std::vector<phase> const phases{
        {.name = "llm", .group = flat_group({ranks}), .bytes_in = 8, .method = method, .tolerance = tolerance}};
    return orchestrate({.counts = drawn, .text = lengths, .inputs = {}}, phases, uniform_topology({ranks}, {1}))
        .llm()
        .quality.front()
        .max_load;
}

TEST(phase_planner, is_not_led_astray_from_scratch_by_a_tolerance) {
    std::vector<std::uint64_t> const lengths{139, 274, 1,   12,  555,  3,   501, 4,    1214, 988, 823,
                                             129, 933, 927, 758, 5,    6,   816, 7,    916,  408, 862,
                                             5,   521, 744, 192, 1286, 130, 604, 1129, 344,  68,  1};
    EXPECT_EQ(busiest_from_scratch(lengths, 7, phase_method::scratch, 1e-3), 2187u) << "the mean, rounded up";
}

TEST(phase_planner, is_not_led_astray_from_scratch_by_effort) {
    std::vector<std::uint64_t> const lengths{256, 64,  89,  90,  192, 283, 217, 128, 217, 257, 256, 64,  192,
                                             217, 283, 64,  153, 153, 286, 64,  153, 192, 256, 128, 217, 192,
                                             89,  89,  256, 67,  128, 89,  217, 192, 128, 192, 281, 217, 256};
    EXPECT_EQ(busiest_from_scratch(lengths, 3, phase_method::relabel, 0), 2288u) << "with less effort it is that";
}

}  // namespace
}  // namespace evenkeel::detail::phase_planner_test
