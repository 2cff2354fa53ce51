// SPDX-License-Identifier: Apache-2.0
#include "examples/support/trace.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "examples/support/input_error.hpp"
#include "examples/support/random.hpp"
#include "tests/examples/temporary_folder.hpp"

namespace evenkeel::examples::trace_test {
namespace {

using lengths = std::vector<std::uint64_t>;

std::string refusal(std::string_view text) {
    return complaint<input_error>([&] { (void)parse_trace(text, "t.csv"); });
}

TEST(trace, reads_columns_and_rows) {
    auto const read = parse_trace("# tokens of each example\ntext,image,audio\n12,256+256+88,0\n7,0,98\n", "t.csv");

    EXPECT_EQ(read.columns, (std::vector<std::string>{"text", "image", "audio"}));
    EXPECT_EQ(read.lengths, (lengths{12, 600, 0, 7, 0, 98}));
    ASSERT_EQ(read.rows(), 2u);
    EXPECT_EQ(read[1][2], 98u);
}

TEST(trace, does_not_mind_how_the_lines_are_dressed) {
    auto const plain = parse_trace("text,image\n12,344\n7,0\n", "t.csv");

    EXPECT_EQ(parse_trace("text,image\r\n12,344\r\n7,0\r\n", "t.csv"), plain) << "CRLF";
    EXPECT_EQ(parse_trace("text,image\n12,344\n7,0", "t.csv"), plain) << "no newline at the end";
    EXPECT_EQ(parse_trace("\xef\xbb\xbftext,image\n12,344\n7,0\n", "t.csv"), plain) << "a byte order mark";
    EXPECT_EQ(parse_trace("\n  \ntext,image\n\n12,344\n \t\n7,0\n\n\n", "t.csv"), plain) << "blank lines";
    EXPECT_EQ(parse_trace(" text ,\timage\n 12 , 344\n7,0 \n", "t.csv"), plain) << "blanks around cells";
    EXPECT_EQ(parse_trace("# a\n  # b\ntext,image\n# \"c\", \xff\n12,344\n7,0\n#", "t.csv"), plain)
        << "comments anywhere";
    EXPECT_EQ(parse_trace("text,image\n012,256+88\n7,0+0\n", "t.csv"), plain) << "zeros and units";
    EXPECT_EQ(parse_trace("text,image\n12,256 + 88\n7,0\n", "t.csv"), plain) << "blanks around a plus";
}

TEST(trace, holds_the_largest_length_of_64_bits) {
    auto const read = parse_trace("a,b\n18446744073709551615,0\n0,18446744073709551614+1\n", "t.csv");
    EXPECT_EQ(read.lengths, (lengths{UINT64_MAX, 0, 0, UINT64_MAX}));
}

TEST(trace, names_file_line_and_column_of_a_bad_cell) {
    EXPECT_EQ(refusal("# a comment\ntext,image\n12,345\n14,x\n"),
              "t.csv:4:2: found 'x' (not a number) in column 'image', "
              "expected a length in tokens such as 512, or unit lengths such as 256+256+88");
}

struct bad_text {
    std::string text;
    /// The place, and a part of what is said about it.
    std::string place;
    std::string words;
};

std::ostream& operator<<(std::ostream& out, bad_text const& bad) { return out << bad.words; }

class bad_trace : public testing::TestWithParam<bad_text> {};

TEST_P(bad_trace, is_refused_in_one_line_that_says_where_and_why) {
    auto const& [text, place, words] = GetParam();
    auto const said = refusal(text);

    EXPECT_TRUE(said.starts_with("t.csv:" + place + ": found ")) << said;
    EXPECT_NE(said.find(words), std::string::npos) << said;
    EXPECT_NE(said.find(", expected "), std::string::npos) << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
}

std::vector<bad_text> bad_texts() {
    using namespace std::string_literals;
    auto const header = "text,image\n"s;
    return {
        {"", "1:1", "an empty file"},
        {"\xef\xbb\xbf", "1:1", "an empty file"},
        {"\n\n", "3:1", "expected a header"},
        {"# only\n# comments\n", "3:1", "expected a header"},
        {"text,image\n", "2:1", "at least one row"},
        {"text,image\n# no row\n", "3:1", "at least one row"},
        {"text,text\n1,2\n", "1:2", "the column 'text' again"},
        {"a,b,c,b,a\n1,2,3,4,5\n", "1:5", "the column 'a' again"},
        {"text,,image\n1,2,3\n", "1:2", "an empty column name"},
        {"text,image,\n1,2,3\n", "1:3", "an empty column name"},
        {",\n1,2\n", "1:1", "an empty column name"},
        {"text,llm\n1,2\n", "1:2", "sum of all columns"},
        {"\"text\",image\n1,2\n", "1:1", "without quotes"},
        {"te\"xt,image\n1,2\n", "1:1", "without quotes"},
        {"text,im\xff"
         "age\n1,2\n",
         "1:2", "in UTF-8"},
        {"text\timage\n1\t2\n", "1:1", "control characters"},
        {"512,256\n1,2\n", "1:1", "is the header"},
        {"256+256+88\n1\n", "1:1", "is the header"},
        {header + "1\n", "2:2", "found 1 cell, expected 2: text, image"},
        {header + "1,2,3\n", "2:3", "found 3 cells, expected 2: text, image"},
        {header + "1,2\n1,2,\n", "3:3", "found 3 cells"},
        {header + "1,\n", "2:2", "an empty cell in column 'image'"},
        {header + " ,1\n", "2:1", "an empty cell in column 'text'"},
        {header + "1,-5\n", "2:2", "'-5' (a negative number)"},
        {header + "1,5.0\n", "2:2", "'5.0' (a fraction)"},
        {header + "1,.5\n", "2:2", "'.5' (a fraction)"},
        {header + "1,1e3\n", "2:2", "'1e3' (not a number)"},
        {header + "1,0x10\n", "2:2", "'0x10' (not a number)"},
        {header + "1,nan\n", "2:2", "'nan' (not a number)"},
        {header + "1,1 2\n", "2:2", "'1 2' (not a number)"},
        {header + "1;2\n", "2:2", "1 cell"},
        {header + "1,２\n", "2:2", "'２' (not a number)"},
        {header + "1,18446744073709551616\n", "2:2", "more than 64 bits hold"},
        {header + "1,99999999999999999999999999\n", "2:2", "more than 64 bits hold"},
        {header + "0,18446744073709551615+1\n", "2:2", "more than 64 bits hold"},
        {header + "1,18446744073709551615\n", "2:2", "the sum of this row beyond 64 bits"},
        {header + "1,4+\n", "2:2", "'4+' (a '+' without"},
        {header + "1,+4\n", "2:2", "'+4' (a '+' without"},
        {header + "1,4++4\n", "2:2", "'4++4' (a '+' without"},
        {header + "1,+\n", "2:2", "'+' (a '+' without"},
        {header + "1,4+-4\n", "2:2", "'4+-4' (a negative number)"},
        {header + "1,\"2\"\n", "2:2", "'\"2\"' (a stray quote)"},
        {header + "\"1,2\"\n", "2:1", "'\"1' (a stray quote)"},
        {header + "1,2\"\n", "2:2", "'2\"' (a stray quote)"},
        {header + "1,2\n3,4\0\n"s, "3:2", "the control character 0x00"},
        {"\x7f"
         "ELF\x02\x01\n",
         "1:1", "the control character 0x7f"},
        {"# \x01\ntext\n1\n", "1:1", "the control character 0x01"},
        {"text\r1\r2\r", "1:1", "the control character 0x0d"},
        {"\xff\xfet\0e\0x\0t\0"s, "1:1", "UTF-16"},
        {header + "1,\x1b[31m2\n", "2:2", "the control character 0x1b"},
        {header + "1,2 # said\n", "2:2", "not a number"},
    };
}

INSTANTIATE_TEST_SUITE_P(texts, bad_trace, testing::ValuesIn(bad_texts()));

TEST(trace, shows_no_more_of_an_endless_cell_than_a_line_holds) {
    auto const said = refusal("text\n" + std::string(1'000'000, '7') + "\n");
    EXPECT_LT(said.size(), 250u);
    EXPECT_NE(said.find("more than 64 bits"), std::string::npos);
    EXPECT_LT(refusal(std::string(1'000'000, ',')).size(), 250u);
}

TEST(trace, reads_a_line_of_a_hundred_thousand_units) {
    auto text = std::string{"video\n1"};
    for (auto i = 1; i < 100'000; ++i) {
        text += "+1";
    }
    EXPECT_EQ(parse_trace(text, "t.csv").lengths, lengths{100'000});
}

TEST(trace, refuses_what_is_no_readable_file) {
    auto const folder = temporary_folder{};
    auto const said = [](std::filesystem::path const& file) {
        return complaint<input_error>([&] { (void)read_trace(file); });
    };

    EXPECT_EQ(said(folder / "none.csv"),
              (folder / "none.csv").string() + ": No such file or directory, expected a readable file of lengths");
    EXPECT_EQ(said(folder / ""), (folder / "").string() + ": Is a directory, expected a readable file of lengths");
    EXPECT_EQ(said(""), "'': No such file or directory, expected a readable file of lengths");
    EXPECT_EQ(said(folder.write("empty.csv", "")),
              (folder / "empty.csv").string() + ":1:1: found an empty file, expected a header that names the columns");
    // A device without an end.
    EXPECT_EQ(said("/dev/zero"),
              "/dev/zero:1:1: found the control character 0x00, expected a text file with comma-separated values");
}

TEST(trace, says_the_name_of_a_file_on_one_line_whatever_it_is) {
    auto const folder = temporary_folder{};
    auto const file = folder.write("a\nb.csv", "text\nx\n");
    auto const said = complaint<input_error>([&] { (void)read_trace(file); });
    EXPECT_NE(said.find("a\\x0ab.csv:2:1: found 'x'"), std::string::npos) << said;
}

/// Writes what `read_trace` reads, each length as some units.
std::string as_csv(trace const& trace, random_source& random) {
    auto text = std::string{};
    auto const end = [&] { text += random.uniform() < 0.5 ? "\r\n" : "\n"; };
    for (auto const& column : trace.columns) {
        text += (text.empty() ? "" : ",") + column;
    }
    end();
    for (auto row = std::size_t{0}; row < trace.rows(); ++row) {
        for (auto column = std::size_t{0}; column < trace.columns.size(); ++column) {
            text += column == 0 ? "" : ",";
            auto left = trace[row][column];
            while (random.uniform() < 0.5) {
                auto const unit = std::min<std::uint64_t>(left, random() >> random.between(0, 63));
                text += std::to_string(unit) + "+";
                left -= unit;
            }
            text += std::to_string(left);
        }
        end();
    }
    return text;
}

class trace_law : public testing::TestWithParam<std::uint64_t> {};

TEST_P(trace_law, what_was_written_is_read) {
    auto random = random_source{GetParam()};
    auto written = trace{};
    for (auto column = random.between(1, 5); column > 0; --column) {
        written.columns.push_back("column " + std::to_string(column));
    }
    for (auto row = random.between(1, 30); row > 0; --row) {
        for (auto column = std::size_t{0}; column < written.columns.size(); ++column) {
            // A fifth of 64 bits, so that no row overflows.
            written.lengths.push_back((random() / 5) >> random.between(0, 63));
        }
    }
    EXPECT_EQ(parse_trace(as_csv(written, random), "t.csv"), written);
}

TEST_P(trace_law, any_bytes_are_a_trace_or_an_input_error) {
    constexpr auto alphabet = std::string_view{"0123456789+-.,\n\r\t #\"ax\0\xff\xef\xbb\xbf\xe7", 28};
    auto random = random_source{GetParam()};
    auto text = std::string{random.uniform() < 0.7 ? "a,b\n" : ""};
    for (auto length = random.between(0, 60); length > 0; --length) {
        // Mostly what a file may hold, so that the parser gets somewhere.
        text += random.uniform() < 0.9 ? alphabet[random.between(0, random.uniform() < 0.8 ? 14 : 27)]
                                       : static_cast<char>(random.between(0, 255));
    }
    try {
        auto const read = parse_trace(text, "t.csv");
        EXPECT_GT(read.rows(), 0u);
        EXPECT_EQ(read.lengths.size(), read.rows() * read.columns.size());
    } catch (input_error const& error) {
        EXPECT_TRUE(std::string_view{error.what()}.starts_with("t.csv:")) << printable(text);
        EXPECT_EQ(printable(error.what()), error.what());
    }
}

TEST_P(trace_law, a_good_file_with_one_byte_changed_is_a_trace_or_an_input_error) {
    auto random = random_source{GetParam()};
    auto text = std::string{"# lengths\ntext,image\n12,256+88\n7,0\n"};
    text[random.between(0, text.size() - 1)] = static_cast<char>(random.between(0, 255));
    try {
        EXPECT_GE(parse_trace(text, "t.csv").rows(), 1u);
    } catch (input_error const& error) {
        EXPECT_TRUE(std::string_view{error.what()}.starts_with("t.csv:")) << printable(text);
    }
}

INSTANTIATE_TEST_SUITE_P(seeds, trace_law, testing::Range<std::uint64_t>(0, 500));

TEST(trace, reads_every_real_trace) {
    auto const* const folder = std::getenv("EVENKEEL_TRACES");
    if (folder == nullptr) {
        GTEST_SKIP() << "EVENKEEL_TRACES names no folder with real traces";
    }
    auto files = 0;
    for (auto const& entry : std::filesystem::directory_iterator{folder}) {
        if (entry.path().extension() == ".csv") {
            EXPECT_GT(read_trace(entry.path()).rows(), 100u) << entry.path();
            ++files;
        }
    }
    EXPECT_GT(files, 0) << "no CSV in " << folder;
}

}  // namespace
}  // namespace evenkeel::examples::trace_test
