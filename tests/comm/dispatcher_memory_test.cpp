// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/comm/dispatcher.hpp>

#include "tests/support/dispatched.hpp"
#include "tests/support/scarce_memory.hpp"

namespace evenkeel::test {
namespace {

constexpr long plenty = std::numeric_limits<long>::max();

/// What the library allocates in one step after the other, in planning and in all else.
struct allocations {
    std::vector<long> planning;
    std::vector<long> other;
};

/// @param own_memory  What arrives does so in buffers of the dispatcher's. Then planning cannot be told from the rest.
allocations count(comm::communicator& world, std::span<step_samples const> steps, bool own_memory) {
    auto const phases = omni_phases(world.size());
    auto const gathering = world.split(0, static_cast<std::uint32_t>(to_index(world.rank())), patience);
    std::vector<std::byte> const outputs(1 << 18);
    std::vector<std::byte> arriving(1 << 18);
    std::vector<std::vector<std::byte>> rooms(8, std::vector<std::byte>(1 << 18));
    long planning = 0;
    std::optional<long> before_planning;
    comm::dispatcher_options options{.overlap = false};
    options.gather = [&](std::span<std::byte const> mine, std::span<std::byte> all) {
        gathering->all_gather(mine, all).wait(patience);
        before_planning = allocations_left;
    };
    if (!own_memory) {
        options.allocate = [&](std::size_t field, std::size_t bytes) {
            if (before_planning) {
                planning = *before_planning - allocations_left;
                before_planning.reset();
            }
            return std::span{rooms[field]}.first(bytes);
        };
    }
    comm::dispatcher dispatch{world, phases, patience, options};
    std::vector<std::unique_ptr<dispatched>> drawn;
    for (auto const& samples : steps) {
        drawn.push_back(std::make_unique<dispatched>(samples, phases, world.rank()));
    }
    auto next = dispatch.prepare(drawn[0]->samples(), drawn[0]->fields());
    allocations result;
    for (std::size_t number = 0; number + 1 < steps.size(); ++number) {
        planning = 0;
        allocations_left = plenty;
        auto step = next.wait(patience);
        next = dispatch.prepare(drawn[number + 1]->samples(), drawn[number + 1]->fields());
        for (std::size_t encoder = 0; encoder < 2; ++encoder) {
            auto const rows = step.rows_of(encoder);
            std::array field{comm::output_field{.name = "h",
                                                .source = std::span{outputs}.first(8 * rows.at_encoder),
                                                .target = std::span{arriving}.first(8 * rows.at_llm),
                                                .columns = 8}};
            step.forward(encoder, field).wait(patience);
            field[0].source = std::span{outputs}.first(8 * rows.at_llm);
            field[0].target = std::span{arriving}.first(8 * rows.at_encoder);
            step.backward(encoder, field).wait(patience);
        }
        long const all = plenty - std::exchange(allocations_left, -1);
        result.planning.push_back(planning);
        result.other.push_back(all - planning);
    }
    static_cast<void>(next.wait(patience));
    return result;
}

void on_threads(rank_body const& body) { threads::run(uniform_topology(world_size{3}, node_size{3}), body); }

TEST(dispatcher_memory, allocates_nothing_but_plans_from_the_third_step_of_one_size_on) {
    on_threads([](comm::communicator& world) {
        std::vector<step_samples> const steps(7, omni_samples(1, {6, 0, 9}));
        auto const counted = count(world, steps, false);
        for (std::size_t step = 2; step < counted.other.size(); ++step) {
            EXPECT_EQ(counted.other[step], 0) << "step " << step;
            EXPECT_EQ(counted.planning[step], counted.planning[2]) << "step " << step;
        }
        EXPECT_GT(counted.other[0], 0) << "what is counted would be seen";
        EXPECT_GT(counted.planning[2], 0);

        auto const in_own_memory = count(world, steps, true);
        for (std::size_t step = 2; step < in_own_memory.other.size(); ++step) {
            EXPECT_EQ(in_own_memory.other[step], counted.planning[step]) << "step " << step;
        }
    });
}

TEST(dispatcher_memory, takes_nothing_more_for_steps_whose_like_it_has_seen) {
    on_threads([](comm::communicator& world) {
        std::vector<step_samples> steps;
        for (std::uint64_t step = 0; step < 60; ++step) {
            std::uint64_t const seed = step % 20;
            steps.push_back(omni_samples(seed, {seed % 10, 3, seed % 7}));
        }
        auto const counted = count(world, steps, false);
        for (std::size_t step = 20; step < counted.other.size(); ++step) {
            EXPECT_EQ(counted.other[step], 0) << "step " << step;
        }
    });
}

}  // namespace
}  // namespace evenkeel::test
