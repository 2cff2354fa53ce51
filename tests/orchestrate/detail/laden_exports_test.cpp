// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/core/group.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/orchestrate/detail/laden_exports.hpp>

namespace evenkeel::detail::laden_exports_test {
namespace {

using numbers = std::vector<std::uint32_t>;

quality quality_of(std::uint64_t max_load) {
    quality result;
    result.max_load = max_load;
    return result;
}

/// Three nodes of one rank. Each of the samples has an image of 10 bytes, and a sound of so many bytes, if any.
class three_nodes {
  public:
    three_nodes(std::vector<std::size_t> const& drawn, std::vector<std::uint64_t> const& sounds) {
        samples_.counts = drawn;
        samples_.text.assign(sounds.size(), 1);
        samples_.inputs = {{.units = one_unit_each(sounds.size()), .lengths = {}},
                           {.units = one_unit_each(sounds.size()), .lengths = sounds}};
        samples_.inputs[0].lengths.assign(sounds.size(), 10);
        amounts_ = amounts_of(samples_, phases_);
        home_ = home_layout(samples_.counts);
        view_.assign(ranks_, cluster_);
    }

    /// The ranks of the images, of which `first` were planned, and `second` would be.
    [[nodiscard]] numbers kept(numbers const& first, numbers const& second) {
        phase_ranks chosen{.rank_of = first, .qualities = {quality_of(1)}, .from_scratch = false};
        leave_unladen_({samples_, phases_, cluster_, amounts_, home_}, view_, 0, chosen, [&](auto const&) {
            ++tries_;
            chosen.rank_of = second;
            chosen.qualities.push_back(quality_of(2));
        });
        EXPECT_EQ(chosen.qualities.size(), 1U);
        EXPECT_EQ(chosen.qualities.back().max_load, chosen.rank_of == first ? 1U : 2U);
        return chosen.rank_of;
    }

    [[nodiscard]] int tries() const noexcept { return tries_; }

  private:
    group ranks_ = flat_group({3});
    topology cluster_ = uniform_topology({3}, {1});
    std::vector<phase> phases_{{.name = "image", .group = ranks_, .bytes_in = 1},
                               {.name = "audio", .group = ranks_, .bytes_in = 1},
                               {.name = "llm", .group = ranks_}};
    step_samples samples_;
    step_amounts amounts_;
    layout home_;
    group_view view_;
    laden_exports leave_unladen_;
    int tries_ = 0;
};

TEST(laden_exports, lets_an_image_without_sound_leave_instead) {
    three_nodes drawn{{2, 0, 0}, {8, 0}};
    EXPECT_EQ(drawn.kept({1, 0}, {0, 1}), (numbers{0, 1}));
    EXPECT_EQ(drawn.tries(), 1);
}

TEST(laden_exports, keeps_the_first_plan_where_the_second_is_no_better) {
    three_nodes drawn{{2, 0, 0}, {8, 8}};
    EXPECT_EQ(drawn.kept({1, 0}, {0, 1}), (numbers{1, 0}));
    EXPECT_EQ(drawn.tries(), 1);
}

TEST(laden_exports, does_not_try_again_where_a_node_that_receives_is_the_busiest_anyway) {
    // Nodes 0 and 1 send 10 bytes each and 5 with them; node 2 receives 20.
    three_nodes drawn{{1, 1, 0}, {5, 5}};
    EXPECT_EQ(drawn.kept({2, 2}, {2, 2}), (numbers{2, 2}));
    EXPECT_EQ(drawn.tries(), 0);
}

}  // namespace
}  // namespace evenkeel::detail::laden_exports_test
