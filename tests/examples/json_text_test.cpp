// SPDX-License-Identifier: Apache-2.0
#include "examples/support/json_text.hpp"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace evenkeel::examples::json_text_test {
namespace {

using json = nlohmann::ordered_json;

TEST(json_text, puts_on_a_line_what_fits) {
    EXPECT_EQ(json_text({{"b", 1}, {"a", {1, 2}}}), "{\"b\": 1, \"a\": [1, 2]}\n");
    EXPECT_EQ(json_text(json::array()), "[]\n");
    EXPECT_EQ(json_text(json::object()), "{}\n");
    EXPECT_EQ(json_text("a\"b"), "\"a\\\"b\"\n");
}

TEST(json_text, breaks_what_does_not) {
    auto const name = std::string(100, 'x');
    auto const broken = fmt::format("{{\n  \"a\": {{\n    \"name\": \"{}\",\n    \"tp\": [1, 2]\n  }}\n}}\n", name);
    EXPECT_EQ(json_text({{"a", {{"name", name}, {"tp", {1, 2}}}}}), broken);
}

TEST(json_text, keeps_long_lists_of_numbers_together) {
    auto list = json::array();
    for (auto i = 0; i < 100; ++i) {
        list.push_back({i, i + 1});
    }
    auto const text = json_text(list);
    EXPECT_EQ(text.find('\n'), text.size() - 1);
    EXPECT_EQ(json::parse(text), list);
}

}  // namespace
}  // namespace evenkeel::examples::json_text_test
