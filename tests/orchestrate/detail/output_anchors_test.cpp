// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/core/group.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/orchestrate/detail/output_anchors.hpp>

namespace evenkeel::detail::output_anchors_test {

/// Four ranks. Sample 0 has three images of 40, 30 and 30 tokens, sample 1 is text alone, sample 2 has one of 50.
class anchors_of_three : public testing::Test {
  protected:
    anchors_of_three() {
        view_.assign(ranks_, cluster_);
        anchors_.resize(3);
        anchors_.start(item_id{0}, world_rank{3});
        anchors_.start(item_id{1}, world_rank{3});
        anchors_.start(item_id{2}, world_rank{3});
    }

    void follow(std::vector<item_id> const& some, std::vector<std::uint32_t> const& rank_of) {
        anchors_.follow({samples_, phases_, cluster_, amounts_, home_}, view_, some, 0, rank_of);
    }

    /// Gives the images other lengths.
    void resize(std::vector<std::uint64_t> const& lengths) {
        samples_.inputs[0].lengths = lengths;
        amounts_ = amounts_of(samples_, phases_);
    }

    group ranks_ = flat_group({4});
    topology cluster_ = uniform_topology({4}, {2});
    step_samples samples_{
        .counts = {0, 0, 0, 3},
        .text = {1, 1, 1},
        .inputs = {{.units = units_of(std::vector<std::size_t>{3, 0, 1}), .lengths = {40, 30, 30, 50}}}};
    std::vector<phase> phases_{{.name = "vision", .group = ranks_, .bytes_in = 1, .bytes_out = 1},
                               {.name = "llm", .group = ranks_, .bytes_in = 1}};
    step_amounts amounts_ = amounts_of(samples_, phases_);
    layout home_;
    group_view view_;
    output_anchors anchors_;
    std::vector<item_id> const all_{item_id{0}, item_id{1}, item_id{2}};
};

TEST_F(anchors_of_three, are_where_most_outputs_of_a_sample_are_together) {
    follow(all_, {0, 1, 1, 2});

    EXPECT_EQ(anchors_[item_id{0}], world_rank{1});
    EXPECT_EQ(anchors_.held(item_id{0}), 60U);
    EXPECT_EQ(anchors_[item_id{2}], world_rank{2});
    EXPECT_EQ(anchors_.held(item_id{2}), 50U);
}

TEST_F(anchors_of_three, stay_at_home_without_outputs) {
    follow(all_, {0, 1, 1, 2});

    EXPECT_EQ(anchors_[item_id{1}], world_rank{3});
    EXPECT_EQ(anchors_.held(item_id{1}), 0U);
}

TEST_F(anchors_of_three, move_only_for_more_than_is_together_already) {
    follow(all_, {0, 1, 1, 2});
    follow(all_, {0, 0, 1, 0});

    EXPECT_EQ(anchors_[item_id{0}], world_rank{0});
    EXPECT_EQ(anchors_.held(item_id{0}), 70U);
    EXPECT_EQ(anchors_[item_id{2}], world_rank{2});
}

TEST_F(anchors_of_three, follow_some_samples_without_the_others) {
    follow({item_id{2}}, {0, 0, 0, 0});

    EXPECT_EQ(anchors_[item_id{0}], world_rank{3});
    EXPECT_EQ(anchors_[item_id{2}], world_rank{0});
}

TEST_F(anchors_of_three, add_up_what_a_rank_has_although_another_has_the_unit_between) {
    follow(all_, {2, 0, 2, 2});

    EXPECT_EQ(anchors_[item_id{0}], world_rank{2});
    EXPECT_EQ(anchors_.held(item_id{0}), 70U);
    EXPECT_EQ(anchors_.held(item_id{2}), 50U);
}

TEST_F(anchors_of_three, are_on_the_first_of_ranks_that_have_as_much_of_a_sample) {
    resize({40, 40, 30, 50});
    follow(all_, {2, 1, 0, 0});
    EXPECT_EQ(anchors_[item_id{0}], world_rank{1});

    anchors_.start(item_id{0}, world_rank{3});
    follow({item_id{0}}, {2, 1, 0, 0});
    EXPECT_EQ(anchors_[item_id{0}], world_rank{1});
    EXPECT_EQ(anchors_.held(item_id{0}), 40U);
}

TEST_F(anchors_of_three, stay_where_as_much_is_together_already) {
    follow(all_, {3, 3, 1, 2});
    follow(all_, {0, 1, 0, 0});

    EXPECT_EQ(anchors_[item_id{0}], world_rank{3});
    EXPECT_EQ(anchors_[item_id{2}], world_rank{2});
}

}  // namespace evenkeel::detail::output_anchors_test
