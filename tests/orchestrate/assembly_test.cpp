// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/orchestrate/assembly.hpp>
#include <evenkeel/orchestrate/orchestrate.hpp>
#include <evenkeel/rearrange/order.hpp>

#include "tests/support/layouts.hpp"
#include "tests/support/steps.hpp"

namespace evenkeel::assembly_test {
namespace {

using sizes = std::vector<std::uint64_t>;
using counts = std::vector<std::size_t>;
using tokens = std::vector<std::int32_t>;
using slices = std::vector<output_slice>;
using texts = std::vector<text_slice>;

auto refuses(std::string const& text) { return testing::ThrowsMessage<std::invalid_argument>(text); }

/// One LLM rank, two encoders; sample 0 is "tt IIII t AA t" and sample 1 "III tt", padded to multiples of 4.
struct interleaved {
    step_samples samples{.counts = {2},
                         .text = {4, 2},
                         .labels = {3, 1},
                         .inputs = {{.units = units_of(counts{1, 1}), .lengths = {4, 3}, .starts = {2, 0}},
                                    {.units = units_of(counts{1, 0}), .lengths = {3}, .starts = {7}}}};
    std::vector<phase> phases{{.name = "vision", .group = flat_group({1})},
                              {.name = "audio", .group = flat_group({1}), .tokens_per_output = 2},
                              {.name = "llm", .group = flat_group({1}), .pad_to = 4}};

    [[nodiscard]] assembly assemble() const {
        auto const step = orchestrate(samples, phases, uniform_topology({1}, {1}));
        return assembly_of(samples, phases, step, rank_id{0});
    }
};

TEST(assembly_of, puts_every_output_and_every_run_of_text_in_its_place) {
    auto const mine = interleaved{}.assemble();
    EXPECT_EQ(mine.sequences.offsets, (tokens{0, 10, 15}));
    EXPECT_EQ(mine.sequences.padded_offsets, (tokens{0, 12, 20}));
    EXPECT_EQ(mine.outputs, (std::vector<slices>{{{item_id{0}, 2, 4}, {item_id{1}, 12, 3}}, {{item_id{0}, 7, 2}}}));
    EXPECT_EQ(mine.text,
              (texts{{item_id{0}, 0, 0, 2}, {item_id{0}, 2, 6, 1}, {item_id{0}, 3, 9, 1}, {item_id{1}, 0, 15, 2}}));
    EXPECT_EQ(mine.labels, 4u);
}

TEST(assembly_of, puts_outputs_first_where_nobody_says_where_they_begin) {
    interleaved drawn;
    drawn.samples.inputs[0].starts.clear();
    drawn.samples.inputs[1].starts.clear();
    auto const mine = drawn.assemble();
    EXPECT_EQ(mine.outputs, (std::vector<slices>{{{item_id{0}, 0, 4}, {item_id{1}, 12, 3}}, {{item_id{0}, 4, 2}}}));
    EXPECT_EQ(mine.text, (texts{{item_id{0}, 0, 6, 4}, {item_id{1}, 0, 15, 2}}));
}

TEST(assembly_of, is_empty_on_a_rank_without_samples) {
    step_samples const samples{.counts = {1, 0}, .text = {5}};
    std::vector<phase> const phases{{.name = "llm", .group = flat_group({2})}};
    auto const step = orchestrate(samples, phases, uniform_topology({2}, {2}));
    auto const mine = assembly_of(samples, phases, step, rank_id{1});
    EXPECT_EQ(mine.sequences.offsets, tokens{0});
    EXPECT_TRUE(mine.outputs.empty());
    EXPECT_EQ(mine.labels, 0u);
    EXPECT_EQ(assembly_of(samples, phases, step, rank_id{0}).labels, 5u) << "all text, where labels are not counted";
}

TEST(assembly_of, refuses_outputs_that_meet_or_end_past_their_sequence) {
    interleaved drawn;
    drawn.samples.inputs[1].starts[0] = 5;
    EXPECT_THAT([&] { (void)drawn.assemble(); }, refuses("assembly_of: phases[1] (audio): samples.inputs[1].starts[0] "
                                                         "= 5, expected a start outside the sample's other outputs"));
    drawn.samples.inputs[1].starts[0] = 9;
    EXPECT_THAT([&] { (void)drawn.assemble(); }, refuses("assembly_of: phases[1] (audio): samples.inputs[1].starts[0] "
                                                         "= 9, expected an output that ends in its sample's "
                                                         "sequence of 10 tokens"));
    drawn.samples.inputs[1].starts.clear();
    EXPECT_THAT(
        [&] { (void)drawn.assemble(); },
        refuses("orchestrate: phases[1] (audio): samples.inputs[1].starts.size() = 0, expected one for each of 1 "
                "units, as samples.inputs[0] has some"));
}

TEST(assembly_of, refuses_a_rank_or_a_micro_batch_that_the_step_has_not) {
    interleaved const drawn;
    auto const step = orchestrate(drawn.samples, drawn.phases, uniform_topology({1}, {1}), {.micro_batches = {2}});
    auto const assemble = [&](std::uint32_t rank, std::uint32_t micro_batch) {
        return [&, rank, micro_batch] {
            (void)assembly_of(drawn.samples, drawn.phases, step, rank_id{rank}, micro_batch_id{micro_batch});
        };
    };
    EXPECT_THAT(assemble(1, 1), refuses("assembly_of: rank = 1, expected below the 1 ranks of the LLM's group"));
    EXPECT_THAT(assemble(0, 2), refuses("assembly_of: micro_batch = 2, expected below the 2 micro-batches"));
    EXPECT_NO_THROW(assemble(0, 1)());
}

/// Asks for what is assembled of a sound step, but of samples or phases that were changed after it.
template <class Change>
auto assembled_after(Change change) {
    return [change] {
        interleaved drawn;
        auto const step = orchestrate(drawn.samples, drawn.phases, uniform_topology({1}, {1}));
        change(drawn);
        (void)assembly_of(drawn.samples, drawn.phases, step, rank_id{0});
    };
}

TEST(assembly_of, refuses_a_step_that_is_not_of_these_samples_and_phases) {
    interleaved const sound;
    auto const step = orchestrate(sound.samples, sound.phases, uniform_topology({1}, {1}));
    EXPECT_THAT(assembled_after([](auto& drawn) { drawn.samples.text.push_back(1); }),
                refuses("assembly_of: samples.text.size() = 3, expected one for each of 2 samples of the step"));
    EXPECT_THAT(assembled_after([](auto& drawn) { drawn.samples.text.pop_back(); }),
                refuses("assembly_of: samples.text.size() = 1, expected one for each of 2 samples of the step"));
    EXPECT_THAT(assembled_after([](auto& drawn) { drawn.samples.labels.pop_back(); }),
                refuses("assembly_of: samples.labels.size() = 1, expected one for each of 2 samples of the step"));
    EXPECT_THAT(assembled_after([](auto& drawn) { drawn.samples.counts.clear(); }),
                refuses("assembly_of: samples.counts.size() = 0, expected one for each of 1 world ranks of the step"));
    EXPECT_THAT(assembled_after([](auto& drawn) { drawn.samples.inputs.pop_back(); }),
                refuses("assembly_of: samples.inputs.size() = 1, expected one for each of 2 encoders of the step"));
    EXPECT_THAT(assembled_after([](auto& drawn) { drawn.phases.clear(); }),
                refuses("assembly_of: phases.size() = 0, expected one for each of 3 phases of the step"));
    EXPECT_THAT(assembled_after([](auto& drawn) { drawn.phases.push_back(drawn.phases.back()); }),
                refuses("assembly_of: phases.size() = 4, expected one for each of 3 phases of the step"));
    EXPECT_THAT([&] { (void)assembly_of(sound.samples, sound.phases, planned_step{}, rank_id{0}); },
                refuses("assembly_of: step.phases.size() = 0, expected at least the LLM"));
    auto broken = step;
    broken.phases.pop_back();
    EXPECT_THAT([&] { (void)assembly_of(sound.samples, sound.phases, broken, rank_id{0}); },
                refuses("assembly_of: step.phases.size() = 2, expected 1 + the 2 encoders of the step"));
}

TEST(assembly_of, refuses_inputs_and_phases_that_are_not_those_of_the_step) {
    EXPECT_THAT(assembled_after([](auto& drawn) { drawn.samples.inputs[0].lengths.pop_back(); }),
                refuses("assembly_of: phases[0] (vision): samples.inputs[0].lengths.size() = 1, expected one for each "
                        "of 2 units of the step"));
    EXPECT_THAT(assembled_after([](auto& drawn) { drawn.samples.inputs[0].starts.pop_back(); }),
                refuses("assembly_of: phases[0] (vision): samples.inputs[0].starts.size() = 1, expected one for each "
                        "of 2 units of the step"));
    EXPECT_THAT(assembled_after([](auto& drawn) { drawn.samples.inputs[1].units.offsets.pop_back(); }),
                refuses("assembly_of: phases[1] (audio): samples.inputs[1].units.offsets.size() = 2, expected one for "
                        "each of 3 offsets of the step"));
    EXPECT_THAT(assembled_after([](auto& drawn) { drawn.samples.inputs[0].units.offsets[1] = 1000; }),
                refuses("assembly_of: phases[0] (vision): samples.inputs[0].units.offsets[1] = 1000, expected 1 as in "
                        "the step"));
    EXPECT_THAT(assembled_after([](auto& drawn) { drawn.phases[1].tokens_per_output = 0; }),
                refuses("assembly_of: phases[1] (audio): tokens_per_output = 0, expected at least 1"));
    EXPECT_THAT(assembled_after([](auto& drawn) { drawn.phases[2].pad_to = 0; }),
                refuses("assembly_of: phases[2] (llm): pad_to = 0, expected at least 1"));
}

TEST(assembly_of, takes_an_output_without_tokens_wherever_it_starts_in_its_sequence) {
    interleaved drawn;
    drawn.samples.text[0] = 6;
    drawn.samples.inputs[1] = {.units = units_of(counts{1, 0}), .lengths = {0}, .starts = {4}};
    auto const mine = drawn.assemble();
    EXPECT_EQ(mine.outputs, (std::vector<slices>{{{item_id{0}, 2, 4}, {item_id{1}, 12, 3}}, {{item_id{0}, 4, 0}}}));
    EXPECT_EQ(mine.text, (texts{{item_id{0}, 0, 0, 2}, {item_id{0}, 2, 6, 4}, {item_id{1}, 0, 15, 2}}))
        << "as if it were not there";
    drawn.samples.inputs[1].starts[0] = 10;
    EXPECT_EQ(drawn.assemble().text, mine.text) << "at the end";
    drawn.samples.inputs[1].starts[0] = 11;
    EXPECT_THROW((void)drawn.assemble(), std::invalid_argument);
}

class assembly_law : public testing::TestWithParam<unsigned> {};

TEST_P(assembly_law, covers_every_token_of_memory_once_and_lists_outputs_as_they_arrive) {
    auto const drawn = test::random_step(GetParam());
    auto const step = orchestrate(drawn.samples, drawn.phases, drawn.cluster, drawn.options);
    auto const& llm = drawn.phases.back();
    std::uint64_t text = 0;
    std::vector<std::vector<std::vector<item_id>>> arrived(step.encoders());
    for (std::size_t encoder = 0; encoder < step.encoders(); ++encoder) {
        auto const outputs = step.outputs(encoder);
        for (std::size_t rank = 0; rank < llm.group.ranks().value; ++rank) {
            arrived[encoder].push_back(items_on(outputs.to(), llm.group.leader(to_id<rank_id>(rank))));
        }
    }
    for (std::size_t rank = 0; rank < llm.group.ranks().value; ++rank) {
        std::vector<std::vector<item_id>> listed(step.encoders());
        for (std::size_t slot = 0; slot < drawn.options.micro_batches.value; ++slot) {
            auto const mine =
                assembly_of(drawn.samples, drawn.phases, step, to_id<rank_id>(rank), to_id<micro_batch_id>(slot));
            auto const& sequences = mine.sequences;
            tokens covered(static_cast<std::size_t>(sequences.padded_offsets.back()));
            auto const cover = [&](std::int32_t start, std::int32_t count) {
                for (std::int32_t token = start; token < start + count; ++token) {
                    ++covered[static_cast<std::size_t>(token)];
                }
            };
            for (std::size_t encoder = 0; encoder < step.encoders(); ++encoder) {
                for (auto const& slice : mine.outputs[encoder]) {
                    cover(slice.start, slice.tokens);
                    listed[encoder].push_back(slice.unit);
                }
            }
            for (auto const& slice : mine.text) {
                cover(slice.start, slice.tokens);
                text += static_cast<std::uint64_t>(slice.tokens);
            }
            for (std::size_t number = 0; number < sequences.items.size(); ++number) {
                std::int32_t const length = sequences.offsets[number + 1] - sequences.offsets[number];
                for (std::int32_t token = sequences.padded_offsets[number];
                     token < sequences.padded_offsets[number + 1]; ++token) {
                    EXPECT_EQ(covered[static_cast<std::size_t>(token)],
                              token < sequences.padded_offsets[number] + length ? 1 : 0);
                }
            }
        }
        for (std::size_t encoder = 0; encoder < step.encoders(); ++encoder) {
            EXPECT_EQ(listed[encoder], arrived[encoder][rank]);
        }
    }
    std::uint64_t drawn_text = 0;
    for (auto const one : drawn.samples.text) {
        drawn_text += one;
    }
    EXPECT_EQ(text, drawn_text);
}

INSTANTIATE_TEST_SUITE_P(seeds, assembly_law, testing::Range(0u, 200u));

}  // namespace
}  // namespace evenkeel::assembly_test
