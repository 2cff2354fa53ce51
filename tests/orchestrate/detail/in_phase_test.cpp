// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/cost/attention.hpp>
#include <evenkeel/cost/conv_attention.hpp>
#include <evenkeel/cost/linear.hpp>
#include <evenkeel/cost/padded.hpp>
#include <evenkeel/orchestrate/detail/in_phase.hpp>
#include <evenkeel/orchestrate/orchestrate.hpp>

#include "tests/support/layouts.hpp"

namespace evenkeel::detail::in_phase_test {
namespace {

using sizes = std::vector<std::uint64_t>;
using counts = std::vector<std::size_t>;

constexpr std::uint64_t half = std::uint64_t{1} << 63U;

/// Two ranks on two nodes, each with two samples, each of these with an image.
struct two_ranks {
    topology cluster = uniform_topology({2}, {1});
    step_samples samples{.counts = {2, 2},
                         .text = {1, 1, 1, 1},
                         .labels = {},
                         .inputs = {{.units = units_of(counts{1, 1, 1, 1}), .lengths = {4, 4, 4, 4}, .starts = {}},
                                    {.units = units_of(counts{1, 0, 0, 0}), .lengths = {3}, .starts = {}}}};
    std::vector<phase> phases{{.name = "vision", .group = flat_group({2}), .bytes_in = 1, .bytes_out = 1},
                              {.name = "audio", .group = flat_group({2}), .bytes_in = 1, .bytes_out = 1},
                              {.name = "llm", .group = flat_group({2}), .bytes_in = 1}};
    orchestrate_options options;

    [[nodiscard]] auto planning() const {
        return [drawn = *this] { (void)orchestrate(drawn.samples, drawn.phases, drawn.cluster, drawn.options); };
    }
};

auto refuses(std::string const& message) { return testing::ThrowsMessage<std::invalid_argument>(message); }
auto overflows(std::string const& message) { return testing::ThrowsMessage<std::overflow_error>(message); }

/// A step that is sound but for one thing.
template <class Change>
auto with(Change change) {
    two_ranks drawn;
    change(drawn);
    return drawn.planning();
}

TEST(in_phase, names_the_phase_of_what_samples_bring_for_an_encoder) {
    EXPECT_THAT(with([](auto& drawn) { drawn.samples.inputs[0].units = units_of(counts{4}); }),
                refuses("orchestrate: phases[0] (vision): samples.inputs[0].units.offsets.size() = 2, expected 1 + the "
                        "4 samples"));
    EXPECT_THAT(with([](auto& drawn) { drawn.samples.inputs[0].units.offsets[0] = 1; }),
                testing::ThrowsMessage<std::invalid_argument>(
                    testing::StartsWith("orchestrate: phases[0] (vision): samples.inputs[0].units.offsets")));
    EXPECT_THAT(with([](auto& drawn) { drawn.samples.inputs[1].lengths.push_back(1); }),
                refuses("orchestrate: phases[1] (audio): samples.inputs[1].lengths.size() = 2, expected one for each "
                        "of 1 units"));
    EXPECT_THAT(with([](auto& drawn) {
                    drawn.samples.inputs[1].starts = {0, 3};
                }),
                refuses("orchestrate: phases[0] (vision): samples.inputs[0].starts.size() = 0, expected one for each "
                        "of 4 units, as samples.inputs[1] has some"));
    EXPECT_THAT(with([](auto& drawn) { drawn.samples.inputs[0].starts = sizes(4); }),
                refuses("orchestrate: phases[1] (audio): samples.inputs[1].starts.size() = 0, expected one for each "
                        "of 1 units, as samples.inputs[0] has some"));
    EXPECT_THAT(with([](auto& drawn) { drawn.samples.inputs[0].starts = sizes(3); }),
                refuses("orchestrate: phases[0] (vision): samples.inputs[0].starts.size() = 3, expected one for each "
                        "of 4 units"));
}

TEST(in_phase, names_the_phase_whose_group_or_members_are_refused) {
    EXPECT_THAT(with([](auto& drawn) { drawn.phases[2].group = flat_group({3}); }),
                refuses("orchestrate: phases[2] (llm): group.members[2] = 2, expected a world rank below 2"));
    EXPECT_THAT(
        with([](auto& drawn) { drawn.phases[1].group.members[1] = world_rank{0}; }),
        refuses("orchestrate: phases[1] (audio): group.members[1] = 0, expected every world rank at most once"));
    EXPECT_THAT(with([](auto& drawn) { drawn.phases[0].group.offsets.clear(); }),
                refuses("orchestrate: phases[0] (vision): group.offsets.size() = 0, expected 1 + instances"));
    EXPECT_THAT(with([](auto& drawn) { drawn.phases[0].group = {}; }),
                refuses("orchestrate: phases[0] (vision): group.ranks() = 0, expected at least 1"));
    EXPECT_THAT(with([](auto& drawn) { drawn.phases[2].members.context = 0; }),
                refuses("orchestrate: phases[2] (llm): members.context = 0, expected at least 1"));
    EXPECT_THAT(with([](auto& drawn) { drawn.phases[2].members.pipeline = 2; }),
                refuses("orchestrate: phases[2] (llm): the members of instance 0 = 1, expected a multiple of 2 stages "
                        "of 1 parts"));
}

TEST(in_phase, names_the_phase_of_a_wrong_number_or_plan) {
    EXPECT_THAT(with([](auto& drawn) { drawn.phases[0].tokens_per_output = 0; }),
                refuses("orchestrate: phases[0] (vision): tokens_per_output = 0, expected at least 1"));
    EXPECT_THAT(with([](auto& drawn) { drawn.phases[2].pad_to = 0; }),
                refuses("orchestrate: phases[2] (llm): pad_to = 0, expected at least 1"));
    EXPECT_THAT(with([](auto& drawn) { drawn.phases[1].tolerance = -1; }),
                refuses("orchestrate: phases[1] (audio): tolerance = -1, expected at least 0"));
    EXPECT_THAT(with([](auto& drawn) { drawn.phases[1].method = static_cast<phase_method>(4); }),
                refuses("orchestrate: phases[1] (audio): method = 4, expected a value of phase_method"));
    EXPECT_THAT(with([](auto& drawn) { drawn.phases[1].method = phase_method::given; }),
                refuses("orchestrate: phases[1] (audio): given = none, expected a plan with the method `given`, and "
                        "with no other"));
    EXPECT_THAT(with([](auto& drawn) {
                    drawn.phases[1].given = test::plan_of({{0}, {}});
                }),
                refuses("orchestrate: phases[1] (audio): given = a plan, expected a plan with the method `given`, and "
                        "with no other"));
    auto const given = [](plan const& of_llm) {
        return with([&](auto& drawn) {
            drawn.phases[2].method = phase_method::given;
            drawn.phases[2].given = of_llm;
        });
    };
    EXPECT_THAT(given(test::plan_of({{0, 1, 2}, {2}})),
                refuses("orchestrate: phases[2] (llm): given->items[3] = 2, expected every item once, not twice"));
    EXPECT_THAT(given(test::plan_of({{0, 1}, {2}})),
                refuses("orchestrate: phases[2] (llm): given lacks item 3, expected every item once"));
    EXPECT_THAT(given(test::plan_of({{0, 1, 2, 3}})),
                refuses("orchestrate: phases[2] (llm): given->ranks() = 1, expected the 2 ranks of the group"));
    EXPECT_THAT(given(test::plan_of({{0}, {1}, {2}, {3}}, 2)),
                refuses("orchestrate: phases[2] (llm): given->micro_batches = 2, expected the 1 micro-batches of the "
                        "step"));
}

TEST(in_phase, names_the_phase_of_a_unit_in_another_micro_batch_than_its_sample) {
    auto const planning = with([](auto& drawn) {
        drawn.phases[0].method = phase_method::given;
        drawn.phases[0].given = test::plan_of({{0, 1}, {}, {2, 3}, {}}, 2);
        drawn.options = {.micro_batches = {2}, .micro_batch_of_sample = std::vector(4, micro_batch_id{1})};
    });
    EXPECT_THAT(planning, refuses("orchestrate: phases[0] (vision): the micro-batch of item 0 in given = 0, expected "
                                  "that of its sample, 1"));
}

TEST(in_phase, gives_a_phase_without_a_name_its_number) {
    EXPECT_THAT(with([](auto& drawn) {
                    drawn.phases[2].name.clear();
                    drawn.phases[2].pad_to = 0;
                }),
                refuses("orchestrate: phases[2]: pad_to = 0, expected at least 1"));
}

TEST(in_phase, names_the_phase_of_lengths_and_bytes_that_do_not_fit) {
    EXPECT_THAT(with([](auto& drawn) {
                    drawn.samples.text[2] = half;
                    drawn.phases[2].bytes_in = 2;
                }),
                overflows("orchestrate: phases[2] (llm): samples.text[2] * bytes_in, 9223372036854775808 * 2, exceeds "
                          "64 bits"));
    EXPECT_THAT(with([](auto& drawn) {
                    drawn.samples.text = {half, half, 0, 0};
                }),
                overflows("orchestrate: phases[2] (llm): the size of the first 2 texts, 9223372036854775808 + "
                          "9223372036854775808, exceeds 64 bits"));
    EXPECT_THAT(with([](auto& drawn) {
                    drawn.samples.inputs[0].lengths[1] = half;
                    drawn.phases[0].bytes_in = 2;
                }),
                overflows("orchestrate: phases[0] (vision): samples.inputs[0].lengths[1] * bytes_in, "
                          "9223372036854775808 * 2, exceeds 64 bits"));
    EXPECT_THAT(with([](auto& drawn) {
                    drawn.samples.inputs[1].lengths[0] = half / 4;
                    drawn.phases[1].bytes_out = 8;
                }),
                overflows("orchestrate: phases[1] (audio): the output tokens of unit 0 * bytes_out, "
                          "2305843009213693952 * 8, exceeds 64 bits"));
    EXPECT_THAT(with([](auto& drawn) {
                    drawn.samples.inputs[1].lengths[0] = half / 2;
                    drawn.phases[1].bytes_out = 2;
                }),
                overflows("orchestrate: phases[1] (audio): the size of the output and the gradient of unit 0, 2 * "
                          "9223372036854775808, exceeds 64 bits"));
    EXPECT_THAT(with([](auto& drawn) {
                    drawn.samples.inputs[0].lengths = {half, half, 0, 0};
                    drawn.phases[0].bytes_out = 0;
                }),
                overflows("orchestrate: phases[0] (vision): the size of the first 2 units, 9223372036854775808 + "
                          "9223372036854775808, exceeds 64 bits"));
    EXPECT_THAT(with([](auto& drawn) {
                    drawn.samples.text[0] = half;
                    drawn.samples.inputs[1].lengths[0] = half;
                    drawn.phases[1].bytes_in = drawn.phases[1].bytes_out = drawn.phases[2].bytes_in = 0;
                }),
                overflows("orchestrate: phases[1] (audio): the length of sample 0, 9223372036854775812 + "
                          "9223372036854775808, exceeds 64 bits"));
    EXPECT_THAT(with([](auto& drawn) {
                    drawn.phases[2].pad_to = std::uint64_t{1} << 40;
                    drawn.phases[2].cost = attention_cost{24576, 1};
                }),
                overflows("orchestrate: phases[2] (llm): attention_cost: the weight of length 1099511627776 exceeds 64 "
                          "bits, with lengths rounded up to pad_to = 1099511627776"));
    EXPECT_THAT(with([](auto& drawn) {
                    drawn.samples.text[0] = std::numeric_limits<std::uint64_t>::max() - 8;
                    drawn.phases[2].bytes_in = 0;
                    drawn.phases[2].pad_to = 16;
                }),
                overflows("orchestrate: phases[2] (llm): the length of sample 0 rounded up to pad_to, "
                          "18446744073709551614 + 2, exceeds 64 bits"));
    EXPECT_THAT(with([](auto& drawn) {
                    drawn.samples.inputs[0].lengths[1] = std::numeric_limits<std::uint64_t>::max() - 1;
                    drawn.phases[0].pad_to = 16;
                }),
                overflows("orchestrate: phases[0] (vision): samples.inputs[0].lengths[1] rounded up to pad_to, "
                          "18446744073709551614 + 2, exceeds 64 bits"));
}

TEST(in_phase, says_which_sum_of_bytes_does_not_fit_that_is_of_several) {
    EXPECT_THAT(with([](auto& drawn) {
                    drawn.samples.inputs[0].lengths = {half / 4, half / 4, 4, 4};
                    drawn.phases[0].bytes_out = 2;
                }),
                overflows("orchestrate: phases[0] (vision): the size of all outputs and gradients, 2 * "
                          "9223372036854775824, exceeds 64 bits"));
    EXPECT_THAT(with([](auto& drawn) {
                    drawn.samples.inputs[0].lengths[0] = half / 2;
                    drawn.phases[0].bytes_in = 3;
                }),
                overflows("orchestrate: phases[0] (vision): the size of all units, outputs and gradients, "
                          "13835058055282163748 + 9223372036854775832, exceeds 64 bits"));
    EXPECT_THAT(with([](auto& drawn) {
                    drawn.samples.text[0] = half;
                    drawn.samples.inputs[0].lengths[0] = half / 2;
                    drawn.phases[0].bytes_in = 0;
                }),
                overflows("orchestrate: phases[0] (vision): the size of sample 0 with outputs and gradients, "
                          "9223372036854775808 + 9223372036854775808, exceeds 64 bits"));
    EXPECT_THAT(with([](auto& drawn) {
                    drawn.samples.text[0] = half;
                    drawn.samples.inputs[0].lengths[1] = half / 2;
                    drawn.phases[0].bytes_in = 0;
                }),
                overflows("orchestrate: the size of the first 2 samples with their outputs, 9223372036854775822 + "
                          "9223372036854775809, exceeds 64 bits"));
}

TEST(in_phase, names_the_phase_of_weights_that_do_not_fit) {
    std::uint64_t const length = std::uint64_t{1} << 32U;
    auto const heavy = [&](std::size_t number, phase_cost const& cost) {
        return with([&](auto& drawn) {
            (number == 0 ? drawn.samples.inputs[0].lengths[3] : drawn.samples.text[3]) = length;
            drawn.phases[number].cost = cost;
        });
    };
    EXPECT_THAT(heavy(0, attention_cost{.linear = 0, .quadratic = 1}),
                overflows("orchestrate: phases[0] (vision): attention_cost: the weight of length 4294967296 exceeds 64 "
                          "bits"));
    EXPECT_THAT(heavy(2, attention_cost{.linear = 0, .quadratic = 2}),
                overflows("orchestrate: phases[2] (llm): attention_cost: the weight of length 4294967300 exceeds 64 "
                          "bits"));
    EXPECT_THAT(heavy(0, padded_cost{.linear = half}),
                overflows("orchestrate: phases[0] (vision): padded_cost: the weight of length 4 exceeds 64 bits"));
    EXPECT_THAT(
        heavy(0, conv_attention_cost{.padded = half / length, .linear = half / length}),
        overflows("orchestrate: phases[0] (vision): phase_cost: the weight of length 4294967296 exceeds 64 bits"));
}

/// Each of the encoder's four items weighs a quarter of what would be one too much for 64 bits.
auto loaded(phase_cost const& cost, phase_method method, std::size_t micro_batches = 1) {
    return with([&](two_ranks& drawn) {
        drawn.phases[0].cost = cost;
        drawn.phases[0].method = method;
        drawn.options.micro_batches = {micro_batches};
        if (method == phase_method::given) {
            drawn.phases[0].given = test::plan_of({{0, 1, 2, 3}, {}});
        }
    });
}

TEST(in_phase, names_the_phase_of_loads_that_do_not_fit_by_whatever_method) {
    auto const packed = linear_cost{.linear = half / 8};
    auto const padded = padded_cost{.linear = half / 8};
    auto const mixed = conv_attention_cost{.padded = half / 8};
    std::string const vision = "orchestrate: phases[0] (vision): ";
    EXPECT_THAT(loaded(packed, phase_method::stay), overflows(vision + "rebalance: the total load exceeds 64 bits"));
    EXPECT_THAT(loaded(packed, phase_method::scratch), overflows(vision + "balance: the total load exceeds 64 bits"));
    EXPECT_THAT(loaded(packed, phase_method::relabel), overflows(vision + "balance: the total load exceeds 64 bits"));
    EXPECT_THAT(loaded(packed, phase_method::given), overflows(vision + "the total load exceeds 64 bits"));
    EXPECT_THAT(loaded(packed, phase_method::stay, 2), overflows(vision + "the total load exceeds 64 bits"));
    EXPECT_THAT(loaded(padded, phase_method::stay), overflows(vision + "rebalance: the total load exceeds 64 bits"));
    EXPECT_THAT(loaded(padded, phase_method::scratch), overflows(vision + "balance: the total load exceeds 64 bits"));
    EXPECT_THAT(loaded(mixed, phase_method::stay), overflows(vision + "balance: the total load exceeds 64 bits"));
}

TEST(in_phase, names_the_phase_of_padded_loads_that_do_not_fit) {
    // A second item on the rank of one that heavy weighs as much again.
    auto const planning = with([](two_ranks& drawn) {
        drawn.samples.inputs[0].lengths = {half, 1, 1, 1};
        drawn.phases[0].bytes_in = drawn.phases[0].bytes_out = 0;
        drawn.phases[0].cost = padded_cost{};
        drawn.phases[0].method = phase_method::given;
        drawn.phases[0].given = test::plan_of({{0, 1}, {2, 3}});
    });
    EXPECT_THAT(
        planning,
        overflows(
            "orchestrate: phases[0] (vision): the padded load of rank 0, 2 * 9223372036854775808, exceeds 64 bits"));
}

TEST(in_phase, names_the_phase_of_padded_loads_that_no_plan_makes_fit) {
    auto const on_one_rank = [](phase_cost const& cost, phase_method method) {
        return with([&](two_ranks& drawn) {
            drawn.samples.inputs[0].lengths = {half, 1, 1, 1};
            drawn.phases[0] = {.name = "vision", .cost = cost, .group = flat_group({1}), .method = method};
        });
    };
    auto const packs_nothing = conv_attention_cost{.linear = 0};
    std::string const vision = "orchestrate: phases[0] (vision): ";
    EXPECT_THAT(on_one_rank(padded_cost{}, phase_method::stay),
                overflows(vision + "rebalance: the padded load of a rank exceeds 64 bits"));
    EXPECT_THAT(on_one_rank(padded_cost{}, phase_method::scratch),
                overflows(vision + "balance: the padded load of a rank exceeds 64 bits"));
    EXPECT_THAT(on_one_rank(packs_nothing, phase_method::scratch),
                overflows(vision + "balance: the padded load of a rank exceeds 64 bits"));
}

TEST(in_phase, names_the_phase_of_bytes_that_are_too_many_to_relabel) {
    EXPECT_THAT(with([](two_ranks& drawn) {
                    drawn.phases[0].method = phase_method::relabel;
                    drawn.phases[0].cost = attention_cost{1, 1};  // of tokens, weights would stand for bytes
                    drawn.phases[0].bytes_in = half / 16;
                    drawn.phases[0].bytes_out = 0;
                }),
                overflows("orchestrate: phases[0] (vision): relabel: the total of all bytes exceeds 62 bits"));
}

TEST(in_phase, lets_other_errors_of_a_caller_s_cost_model_pass) {
    struct fragile {
        static std::uint64_t weight(std::uint64_t length) { return length < 5 ? length : throw std::range_error{"5"}; }
    };
    EXPECT_THAT(with([](two_ranks& drawn) {
                    drawn.phases[0].cost = fragile{};
                    drawn.samples.inputs[0].lengths[0] = 9;
                }),
                testing::ThrowsMessage<std::range_error>("5"));
}

}  // namespace
}  // namespace evenkeel::detail::in_phase_test
