// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/orchestrate/loss.hpp>
#include <evenkeel/orchestrate/orchestrate.hpp>

#include "tests/support/layouts.hpp"
#include "tests/support/steps.hpp"

namespace evenkeel::loss_test {
namespace {

using sizes = std::vector<std::uint64_t>;

/// Rank 0 has 30 tokens of loss 1, rank 1 has 10 of loss 3: the mean is 1.5, the mean of means is 2.
TEST(loss_counts_of, gives_what_a_loss_over_unequal_ranks_is_to_be_normalised_by) {
    step_samples const samples{.counts = {2, 1}, .text = {10, 20, 10}};
    std::vector<phase> const phases{{.name = "llm",
                                     .group = flat_group({2}),
                                     .method = phase_method::given,
                                     .given = test::plan_of({{0, 1}, {2}})}};
    auto const step = orchestrate(samples, phases, uniform_topology({2}, {2}));
    auto const loss = loss_counts_of(samples, step);
    EXPECT_EQ(loss.total, 40u);
    EXPECT_EQ(loss.labels, (sizes{30, 10}));
    EXPECT_DOUBLE_EQ((1 * loss.weight(rank_id{0}) + 3 * loss.weight(rank_id{1})) / 2, 1.5);
}

TEST(loss_counts_of, weighs_nothing_where_there_is_no_label) {
    step_samples const samples{.counts = {1, 1}, .text = {10, 20}, .labels = {0, 0}};
    std::vector<phase> const phases{{.name = "llm", .group = flat_group({2})}};
    auto const loss = loss_counts_of(samples, orchestrate(samples, phases, uniform_topology({2}, {2})));
    EXPECT_EQ(loss.total, 0u);
    EXPECT_EQ(loss.weight(rank_id{1}), 0.0);
}

auto refuses(std::string const& text) { return testing::ThrowsMessage<std::invalid_argument>(text); }

TEST(loss_counts_of, refuses_samples_of_another_number_than_the_step_has) {
    step_samples const samples{.counts = {2, 1}, .text = {10, 20, 10}};
    std::vector<phase> const phases{{.name = "llm", .group = flat_group({2})}};
    auto const step = orchestrate(samples, phases, uniform_topology({2}, {2}));
    auto other = samples;
    auto const count = [&] { (void)loss_counts_of(other, step); };
    other.text.pop_back();
    EXPECT_THAT(count,
                refuses("loss_counts_of: samples.text.size() = 2, expected one for each of 3 samples of the step"));
    other.text = {10, 20, 10, 5};
    EXPECT_THAT(count,
                refuses("loss_counts_of: samples.text.size() = 4, expected one for each of 3 samples of the step"));
    other = samples;
    other.labels = {1, 2};
    EXPECT_THAT(count,
                refuses("loss_counts_of: samples.labels.size() = 2, expected one for each of 3 samples of the step"));
    other = samples;
    other.counts = {3};
    EXPECT_THAT(
        count,
        refuses("loss_counts_of: samples.counts.size() = 1, expected one for each of 2 world ranks of the step"));
    EXPECT_THAT([&] { (void)loss_counts_of(samples, planned_step{}); },
                refuses("loss_counts_of: step.phases.size() = 0, expected at least the LLM"));
}

TEST(loss_counts, refuse_a_rank_or_a_micro_batch_that_the_step_has_not) {
    loss_counts const loss{.labels = {1, 2, 3, 4, 5, 6}, .total = 21, .micro_batches = 2};
    EXPECT_THAT([&] { (void)loss.of(rank_id{3}); },
                refuses("loss_counts::of: rank = 3, expected below the 3 ranks of the LLM's group"));
    EXPECT_THAT([&] { (void)loss.weight(rank_id{0}, micro_batch_id{2}); },
                refuses("loss_counts::weight: micro_batch = 2, expected below the 2 micro-batches"));
    EXPECT_THAT([] { (void)loss_counts{}.weight(rank_id{0}); },
                refuses("loss_counts::weight: rank = 0, expected below the 0 ranks of the LLM's group"));
    EXPECT_EQ(loss.of(rank_id{2}, micro_batch_id{1}), 6u) << "the last";
}

class loss_law : public testing::TestWithParam<unsigned> {};

TEST_P(loss_law, weighted_means_of_micro_batches_average_to_the_global_mean) {
    auto const drawn = test::random_step(GetParam());
    auto const step = orchestrate(drawn.samples, drawn.phases, drawn.cluster, drawn.options);
    auto const loss = loss_counts_of(drawn.samples, step);
    // The loss of each token of sample s is s.
    double sum = 0;
    std::uint64_t labels = 0;
    for (std::size_t sample = 0; sample < drawn.samples.size(); ++sample) {
        auto const of_sample = drawn.samples.labels.empty() ? drawn.samples.text[sample] : drawn.samples.labels[sample];
        sum += static_cast<double>(sample * of_sample);
        labels += of_sample;
    }
    EXPECT_EQ(loss.total, labels);
    double averaged = 0;
    auto const& plan = step.llm().plan;
    for (std::size_t rank = 0; rank < plan.ranks().value; ++rank) {
        for (std::size_t slot = 0; slot < plan.micro_batches; ++slot) {
            double of_batch = 0;
            for (item_id const sample : plan.batch(to_id<rank_id>(rank), to_id<micro_batch_id>(slot))) {
                auto const position = to_index(sample);
                of_batch +=
                    static_cast<double>(position * (drawn.samples.labels.empty() ? drawn.samples.text[position]
                                                                                 : drawn.samples.labels[position]));
            }
            auto const count = loss.of(to_id<rank_id>(rank), to_id<micro_batch_id>(slot));
            double const mean = count == 0 ? 0 : of_batch / static_cast<double>(count);
            averaged += mean * loss.weight(to_id<rank_id>(rank), to_id<micro_batch_id>(slot));
        }
    }
    if (labels > 0) {
        EXPECT_NEAR(averaged / static_cast<double>(loss.labels.size()), sum / static_cast<double>(labels), 1e-9);
    }
}

INSTANTIATE_TEST_SUITE_P(seeds, loss_law, testing::Range(0u, 200u));

}  // namespace
}  // namespace evenkeel::loss_test
