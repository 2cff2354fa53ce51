// SPDX-License-Identifier: Apache-2.0
#include "examples/support/text.hpp"

#include <string>

#include <gtest/gtest.h>

namespace evenkeel::examples::text_test {
namespace {

TEST(text, knows_utf_8_from_other_bytes) {
    for (auto const* const good : {"", "text", "Größe", "画像", "\xf0\x9f\x9a\xa2", "\xf4\x8f\xbf\xbf"}) {
        EXPECT_TRUE(is_utf8(good)) << good;
    }
    // A lone continuation, a cut character, an overlong slash, half of a UTF-16 pair, beyond Unicode, Latin-1.
    for (auto const* const bad : {"\x80", "\xe7\x94", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                  "Gr\xf6\xdf"
                                  "e"}) {
        EXPECT_FALSE(is_utf8(bad)) << printable(bad);
    }
}

TEST(text, shows_every_byte_on_one_line) {
    EXPECT_EQ(printable("a\nb\x1b[31mc\x7f"), "a\\x0ab\\x1b[31mc\\x7f");
    EXPECT_EQ(printable("Größe \xff"), "Größe \\xff");
    // U+0085 would end a line on some terminals.
    EXPECT_EQ(printable("\xc2\x85"), "\\xc2\\x85");
    EXPECT_EQ(printable(std::string(1, '\0')), "\\x00");
}

TEST(text, cuts_between_characters) {
    EXPECT_EQ(shortened("Größe", 5), "Größe");
    EXPECT_EQ(shortened("Größen", 5), "Größ…");
    EXPECT_EQ(shortened("", 5), "");
    EXPECT_EQ(width_of("Größ…"), 5u);
}

TEST(text, quotes_the_beginning_of_something_endless) {
    EXPECT_EQ(in_quotes("4++4"), "'4++4'");
    EXPECT_EQ(width_of(in_quotes(std::string(1'000'000, 'x'))), 42u);
}

TEST(text, trims_blanks_and_tabs_alone) {
    EXPECT_EQ(trimmed(" \t 12 \t"), "12");
    EXPECT_EQ(trimmed(" \t "), "");
    EXPECT_EQ(trimmed("1 2"), "1 2");
}

TEST(text, names_sizes_as_a_person_would) {
    EXPECT_EQ(human_bytes(0), "0 B");
    EXPECT_EQ(human_bytes(999), "999 B");
    EXPECT_EQ(human_bytes(1'000), "1.00 kB");
    EXPECT_EQ(human_bytes(41'270'000), "41.3 MB");
    EXPECT_EQ(human_bytes(999'700), "1.00 MB");
    EXPECT_EQ(human_bytes(123'400'000'000), "123 GB");
    EXPECT_EQ(human_bytes(18446744073709551615.0), "18.4 EB");
}

}  // namespace
}  // namespace evenkeel::examples::text_test
