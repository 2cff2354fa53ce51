// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/comm/dispatcher.hpp>

#include "tests/support/dispatched.hpp"
#include "tests/support/scarce_memory.hpp"

namespace evenkeel::test {
namespace {

constexpr long plenty = std::numeric_limits<long>::max();

/// How often the library has allocated so far, step by step.
struct allocations {
    std::vector<long> here;       ///< on the rank's thread, at the end of each step
    std::vector<long> on_thread;  ///< on the dispatcher's, if it has one, once the lengths of each step are there
};

struct use {
    bool overlap = true;
    bool own_memory = true;  ///< what arrives does so in buffers of the dispatcher's
};

/// Of `steps` steps, that draw `likes` in turn.
allocations count(comm::communicator& world, std::size_t steps, std::span<step_samples const> likes, use const& how) {
    auto const phases = omni_phases(world.size());
    auto const gathering = world.split(0, static_cast<std::uint32_t>(to_index(world.rank())), patience);
    constexpr std::size_t enough = std::size_t{1} << 21U;
    std::vector<std::byte> const outputs(enough);
    std::vector<std::byte> arriving(enough);
    std::vector<std::vector<std::byte>> rooms(8, std::vector<std::byte>(enough));
    allocations result;
    result.here.reserve(steps);
    result.on_thread.reserve(4 * steps);
    comm::dispatcher_options options{.overlap = how.overlap};
    if (how.overlap) {
        options.gather = [&](std::span<std::byte const> mine, std::span<std::byte> all) {
            if (allocations_left < 0) {
                allocations_left = plenty;
            }
            gathering->all_gather(mine, all).wait(patience);
            result.on_thread.push_back(plenty - allocations_left);
        };
    }
    if (!how.own_memory) {
        options.allocate = [&](std::size_t field, std::size_t bytes) { return std::span{rooms[field]}.first(bytes); };
    }
    std::vector<std::unique_ptr<dispatched>> drawn;
    for (auto const& like : likes) {
        drawn.push_back(std::make_unique<dispatched>(like, phases, world.rank()));
    }
    auto const prepare = [&](comm::dispatcher& dispatch, std::size_t number) {
        auto& mine = *drawn[number % drawn.size()];
        return dispatch.prepare(mine.samples(), mine.fields());
    };
    comm::dispatcher dispatch{world, phases, patience, options};
    allocations_left = plenty;
    auto next = prepare(dispatch, 0);
    for (std::size_t number = 0; number < steps; ++number) {
        auto step = next.wait(patience);
        if (number + 1 < steps) {
            next = prepare(dispatch, number + 1);
        }
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
        result.here.push_back(plenty - allocations_left);
    }
    allocations_left = -1;
    return result;
}

/// Nothing from step `first` on.
void expect_nothing_from(std::size_t first, allocations const& counted) {
    ASSERT_GT(counted.here.size(), first);
    for (std::size_t step = first; step < counted.here.size(); ++step) {
        EXPECT_EQ(counted.here[step] - counted.here[first - 1], 0) << "step " << step;
    }
    EXPECT_GT(counted.here[0], 0) << "what is counted would be seen";
    if (counted.on_thread.empty()) {
        return;
    }
    // Lengths may have been gathered twice in a step before.
    std::size_t const gathers = counted.on_thread.size();
    std::size_t const before = gathers - (counted.here.size() - first);
    for (std::size_t gather = before; gather < gathers; ++gather) {
        EXPECT_EQ(counted.on_thread[gather] - counted.on_thread[before], 0) << "from the end " << gathers - gather;
    }
    EXPECT_GT(counted.on_thread[before], 0);
}

template <class Backend>
class dispatcher_memory_on : public on_ranks<Backend> {};
TYPED_TEST_SUITE(dispatcher_memory_on, backends, backend_name);

TYPED_TEST(dispatcher_memory_on, allocates_nothing_from_the_third_step_of_one_size_on) {
    for (use const how : {use{}, use{.overlap = false}, use{.own_memory = false}}) {
        SCOPED_TRACE(how.overlap ? "overlap" : "no overlap");
        this->run(3, [how](comm::communicator& world) {
            expect_nothing_from(2, count(world, 7, std::array{omni_samples(1, {6, 0, 9})}, how));
        });
    }
}

TYPED_TEST(dispatcher_memory_on, allocates_nothing_either_where_lengths_fill_more_than_a_parcel) {
    this->run(3, [](comm::communicator& world) {
        expect_nothing_from(2, count(world, 6, std::array{omni_samples(1, {2'600, 0, 2'400})}, {}));
    });
}

TYPED_TEST(dispatcher_memory_on, allocates_nothing_either_where_eight_ranks_share_processes) {
    this->run(8, [](comm::communicator& world) {
        expect_nothing_from(2, count(world, 7, std::array{omni_samples(1, {6, 0, 9, 3, 7, 12, 0, 5})}, {}));
    });
}

TYPED_TEST(dispatcher_memory_on, takes_nothing_more_over_a_thousand_steps_of_changing_sizes) {
    this->run(3, [](comm::communicator& world) {
        std::vector<step_samples> likes;
        for (std::uint64_t seed = 0; seed < 21; ++seed) {
            likes.push_back(omni_samples(seed, {seed % 10, 3, seed % 7}));
        }
        // An odd number of them: then both of the steps that exist at a time have been each.
        expect_nothing_from(2 * likes.size(), count(world, 1'000, likes, {}));
    });
}

}  // namespace
}  // namespace evenkeel::test
