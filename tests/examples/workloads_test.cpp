// SPDX-License-Identifier: Apache-2.0
#include "examples/support/workloads.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "examples/support/tri_modal.hpp"
#include "tests/examples/temporary_folder.hpp"

namespace evenkeel::examples::workloads_test {
namespace {

TEST(workload, is_there_under_every_name_and_depends_on_the_seed_alone) {
    EXPECT_EQ(workload_names().size(), 8u);
    for (auto const name : workload_names()) {
        auto const lengths = workload(name, 1000, 3);
        EXPECT_EQ(lengths.size(), 1000u) << name;
        EXPECT_EQ(lengths, workload(name, 1000, 3)) << name;
        EXPECT_NE(lengths, workload(name, 1000, 4)) << name;
        EXPECT_GT(*std::max_element(lengths.begin(), lengths.end()), 0u) << name;
    }
}

TEST(workload, keeps_to_its_range) {
    auto const range = [](std::string_view name) {
        auto const lengths = workload(name, 100'000, 1);
        auto const [least, most] = std::minmax_element(lengths.begin(), lengths.end());
        return std::pair{*least, *most};
    };
    EXPECT_EQ(range("uniform"), (std::pair<std::uint64_t, std::uint64_t>{1, 2000}));
    EXPECT_EQ(range("tiles"), (std::pair<std::uint64_t, std::uint64_t>{0, 2880}));
    EXPECT_EQ(range("lognormal_1.5").second, 32'768u);
    EXPECT_GE(range("lognormal_1.5").first, 1u);
}

TEST(workload, spreads_a_lognormal_around_400) {
    for (auto const* const name : {"lognormal_0.5", "lognormal_1.0", "lognormal_1.5"}) {
        auto lengths = workload(name, 100'001, 1);
        std::nth_element(lengths.begin(), lengths.begin() + 50'000, lengths.end());
        EXPECT_NEAR(static_cast<double>(lengths[50'000]), 400, 8) << name;
    }
}

TEST(workload, takes_vision_audio_and_llm_from_one_mixture) {
    auto const rows = tri_modal(50, 9);
    for (auto row = std::size_t{0}; row < 50; ++row) {
        EXPECT_EQ(workload("vision", 50, 9)[row], rows[row][1]);
        EXPECT_EQ(workload("audio", 50, 9)[row], rows[row][2]);
        EXPECT_EQ(workload("llm", 50, 9)[row], rows[row][0] + rows[row][1] + rows[row][2]);
    }
}

TEST(workload, says_which_names_there_are) {
    auto const said = complaint<std::invalid_argument>([] { (void)workload("normal", 1, 1); });
    EXPECT_NE(said.find("no 'normal', expected one of lognormal_0.5,"), std::string::npos) << said;
}

}  // namespace
}  // namespace evenkeel::examples::workloads_test
