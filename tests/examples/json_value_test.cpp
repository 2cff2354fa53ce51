// SPDX-License-Identifier: Apache-2.0
#include "examples/support/json_value.hpp"

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "examples/support/input_error.hpp"
#include "temporary_folder.hpp"

namespace evenkeel::examples::json_value_test {
namespace {

json_value parsed(std::string_view text) { return json_value::parse(text, "t.json"); }

template <class Action>
std::string refusal(std::string_view text, Action action) {
    return complaint<input_error>([&] { static_cast<void>(action(parsed(text))); });
}

std::string refusal(std::string_view text) {
    return complaint<input_error>([&] { static_cast<void>(parsed(text)); });
}

TEST(json_value, reads_what_is_there) {
    auto const value = parsed(R"({"a": [1, 7.6e8, "x", true], "b": {"c": 0.5}})");
    auto const elements = value["a"].elements();
    ASSERT_EQ(elements.size(), 4u);
    EXPECT_EQ(elements[0].count(1, 9), 1u);
    EXPECT_EQ(elements[1].count(1, 1'000'000'000), 760'000'000u);
    EXPECT_EQ(elements[2].text(), "x");
    EXPECT_TRUE(elements[3].flag());
    EXPECT_EQ(value["b"]["c"].number(0, 1), 0.5);
    EXPECT_FALSE(value.find("d"));
    EXPECT_EQ(value["b"]["c"].place(), "t.json: /b/c");
    EXPECT_EQ(value.place(), "t.json: /");
}

TEST(json_value, names_the_pointer_of_what_is_wrong) {
    EXPECT_EQ(refusal(R"({"a": [0, {"b/c~": "760M"}]})",
                      [](auto const& value) { return value["a"].elements()[1]["b/c~"].number(0, 1e24); }),
              "t.json: /a/1/b~1c~0: expected a number from 0 to 1e+24, got '760M'");
    EXPECT_EQ(refusal(R"({"a": {}})", [](auto const& value) { return value["a"]["nodes"]; }),
              "t.json: /a: expected the key 'nodes', got none");
    EXPECT_EQ(refusal(R"({"a": {"nods": 1}})",
                      [](auto const& value) {
                          value["a"].allow_only({"nodes", "gpus"});
                          return 0;
                      }),
              "t.json: /a: expected one of the keys nodes, gpus, got 'nods'");
    EXPECT_EQ(refusal("[]", [](auto const& value) { return value["a"]; }),
              "t.json: /: expected an object, got an array of 0");
    EXPECT_EQ(refusal("{}", [](auto const& value) { return value.elements(); }),
              "t.json: /: expected an array, got an object of 0");
    EXPECT_EQ(refusal("null", [](auto const& value) { return value.text(); }), "t.json: /: expected a text, got null");
    EXPECT_EQ(refusal("1", [](auto const& value) { return value.flag(); }), "t.json: /: expected true or false, got 1");
}

TEST(json_value, takes_for_a_count_only_what_is_one) {
    for (auto const* const bad : {"0", "-1", "1.5", "11", "1e300", "18446744073709551616", "\"1\"", "true", "[]"}) {
        EXPECT_NE(refusal(bad, [](auto const& value) { return value.count(1, 10); }), "") << bad;
    }
    EXPECT_EQ(parsed("18446744073709551615").count(0, UINT64_MAX), UINT64_MAX);
    EXPECT_EQ(parsed("1e1").count(1, 10), 10u);
}

TEST(json_value, takes_for_a_number_only_what_is_in_range) {
    for (auto const* const bad : {"-0.1", "1.1", "\"0.5\"", "null", "{}"}) {
        EXPECT_NE(refusal(bad, [](auto const& value) { return value.number(0, 1); }), "") << bad;
    }
    EXPECT_EQ(parsed("-0").number(0, 1), 0);
}

TEST(json_value, says_where_text_is_no_json) {
    EXPECT_EQ(refusal(""), "t.json:1:1: expected JSON, got the end");
    EXPECT_EQ(refusal("{\n  \"a\": [1,\n 2"), "t.json:3:3: /a/2: expected JSON, got the end");
    EXPECT_EQ(refusal(R"({"a": {"b": NaN}})"), "t.json:1:13: /a/b: expected JSON, got 'N'");
    EXPECT_EQ(refusal("[[0], [1, NaN]]"), "t.json:1:11: /1/1: expected JSON, got 'N'");
    EXPECT_EQ(refusal("{} x"), "t.json:1:4: expected JSON, got 'x'");
    EXPECT_EQ(refusal(std::string_view{"\0", 1}), "t.json:1:1: expected JSON, got '\\x00'");
    EXPECT_EQ(refusal(R"({"a": [1, 1e999]})"), "t.json: /a/1: expected a number that fits into 64 bits");
    // As deep as it likes, and no longer than anybody reads.
    EXPECT_LT(refusal(std::string(100'000, '[')).size(), 300u);
}

TEST(json_value, refuses_a_key_that_comes_twice) {
    EXPECT_EQ(refusal(R"({"a": {"b": 1, "c": 2, "b": 3}})"), "t.json: /a/b: expected every key once, got it twice");
    EXPECT_EQ(refusal(R"([{"a": 1}, {"a": 1}])"), "");
}

TEST(json_value, reads_files_and_says_which_it_cannot) {
    auto const folder = temporary_folder{};
    EXPECT_EQ(json_value::read(folder.write("a.json", "[1]")).elements().size(), 1u);
    auto const refusal_of = [](std::filesystem::path const& path) {
        return complaint<input_error>([&] { static_cast<void>(json_value::read(path)); });
    };
    EXPECT_EQ(refusal_of(folder / "none.json"),
              fmt::format("'{}' cannot be read: No such file or directory", (folder / "none.json").string()));
    EXPECT_EQ(refusal_of(folder / "."), fmt::format("'{}' cannot be read: it is a folder", (folder / ".").string()));
    auto const empty = folder.write("empty.json", "");
    EXPECT_EQ(refusal_of(empty), fmt::format("{}:1:1: expected JSON, got the end", empty.string()));
}

}  // namespace
}  // namespace evenkeel::examples::json_value_test
