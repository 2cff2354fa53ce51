// SPDX-License-Identifier: Apache-2.0
#include "trace.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <limits>
#include <memory>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "input_error.hpp"
#include "text.hpp"

namespace evenkeel::examples {
namespace {

constexpr auto most_bytes = std::size_t{1} << 30u;
constexpr auto largest = std::numeric_limits<std::uint64_t>::max();

/// A byte that no text file has: a NUL, say, which tells a binary file.
constexpr bool is_binary(char byte) noexcept {
    auto const value = static_cast<unsigned char>(byte);
    return (value < 0x20 && value != '\t' && value != '\r' && value != '\n') || value == 0x7f;
}

class parser {
  public:
    parser(std::string_view text, std::string_view name) : rest_{text}, name_{name} {}

    trace parse() {
        if (rest_.starts_with("\xff\xfe") || rest_.starts_with("\xfe\xff")) {
            ++number_;
            fail(1, "UTF-16 text", "UTF-8");
        }
        if (rest_.starts_with("\xef\xbb\xbf")) {
            rest_.remove_prefix(3);
        }
        while (next_line()) {
            refuse_binary();
            auto const content = trimmed(line_);
            if (content.empty() || content.front() == '#') {
                continue;
            }
            if (result_.columns.empty()) {
                read_header();
            } else {
                read_row();
            }
        }
        ++number_;
        if (result_.columns.empty()) {
            fail(1, number_ == 1 ? "an empty file" : "the end of the file", "a header that names the columns");
        }
        if (result_.lengths.empty()) {
            fail(1, "the end of the file after the header", "at least one row of lengths");
        }
        return std::move(result_);
    }

  private:
    [[noreturn]] void fail(std::size_t cell, std::string_view found, std::string_view expected) const {
        throw input_error{fmt::format("{}:{}:{}: found {}, expected {}", name_, number_, cell, found, expected)};
    }

    bool next_line() {
        if (rest_.empty()) {
            return false;
        }
        ++number_;
        auto const end = std::min(rest_.find('\n'), rest_.size());
        line_ = rest_.substr(0, end);
        rest_.remove_prefix(std::min(end + 1, rest_.size()));
        if (line_.ends_with('\r')) {
            line_.remove_suffix(1);
        }
        return true;
    }

    void refuse_binary() const {
        auto const bad =
            std::find_if(line_.begin(), line_.end(), [](char byte) { return is_binary(byte) || byte == '\r'; });
        if (bad != line_.end()) {
            auto const cell = std::count(line_.begin(), bad, ',') + 1;
            fail(static_cast<std::size_t>(cell),
                 fmt::format("the control character 0x{:02x}", static_cast<unsigned char>(*bad)),
                 "a text file with comma-separated values");
        }
    }

    /// Calls `use(cell, number)` for each cell of the line; numbers begin at 1.
    template <class Use>
    void for_each_cell(Use use) const {
        auto number = std::size_t{1};
        for (auto rest = line_;; ++number) {
            auto const comma = rest.find(',');
            use(trimmed(rest.substr(0, comma)), number);
            if (comma == std::string_view::npos) {
                return;
            }
            rest.remove_prefix(comma + 1);
        }
    }

    void read_header() {
        auto names = std::vector<std::string>{};
        for_each_cell([&](std::string_view name, std::size_t number) {
            check_name(name, number);
            names.emplace_back(name);
        });
        refuse_repetition(names);
        result_.columns = std::move(names);
        result_.lengths.reserve(result_.columns.size() *
                                static_cast<std::size_t>(std::count(rest_.begin(), rest_.end(), '\n') + 1));
    }

    void check_name(std::string_view name, std::size_t number) const {
        if (name.empty()) {
            fail(number, "an empty column name", "a name in each cell of the header");
        }
        if (name.find_first_of("\"'\t") != std::string_view::npos || !is_utf8(name) || printable(name) != name) {
            fail(number, in_quotes(name), "a column name in UTF-8 without quotes and control characters");
        }
        if (name.find_first_not_of("0123456789+-. ") == std::string_view::npos) {
            fail(number, in_quotes(name), "a column name: the first line that is no comment is the header");
        }
        if (name == "llm") {
            fail(number, "the column 'llm'", "another name: phase llm is the sum of all columns");
        }
    }

    void refuse_repetition(std::vector<std::string> const& names) const {
        auto order = std::vector<std::size_t>(names.size());
        for (auto i = std::size_t{0}; i < order.size(); ++i) {
            order[i] = i;
        }
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return names[a] < names[b]; });
        auto const twin =
            std::adjacent_find(order.begin(), order.end(), [&](auto a, auto b) { return names[a] == names[b]; });
        if (twin != order.end()) {
            fail(twin[1] + 1, fmt::format("the column {} again", in_quotes(names[*twin])), "each column once");
        }
    }

    void read_row() {
        auto const& columns = result_.columns;
        auto const cells = static_cast<std::size_t>(std::count(line_.begin(), line_.end(), ',')) + 1;
        if (cells != columns.size()) {
            fail(std::min(cells, columns.size()) + 1, fmt::format("{} cell{}", cells, cells == 1 ? "" : "s"),
                 fmt::format("{}: {}", columns.size(), shortened(fmt::format("{}", fmt::join(columns, ", ")), 60)));
        }
        auto sum = std::uint64_t{0};
        for_each_cell([&](std::string_view cell, std::size_t number) {
            auto const length = read_length(cell, number);
            if (length > largest - sum) {
                fail(number, fmt::format("{}, which takes the sum of this row beyond 64 bits", in_quotes(cell)),
                     fmt::format("lengths that add up to at most {}", largest));
            }
            sum += length;
            result_.lengths.push_back(length);
        });
    }

    std::uint64_t read_length(std::string_view cell, std::size_t number) const {
        auto length = std::uint64_t{0};
        for (auto rest = cell;;) {
            auto const plus = rest.find('+');
            auto const unit = read_unit(trimmed(rest.substr(0, plus)), cell, number);
            if (unit > largest - length) {
                refuse_cell(cell, number, "more than 64 bits hold");
            }
            length += unit;
            if (plus == std::string_view::npos) {
                return length;
            }
            rest.remove_prefix(plus + 1);
        }
    }

    std::uint64_t read_unit(std::string_view unit, std::string_view cell, std::size_t number) const {
        auto value = std::uint64_t{0};
        auto const* const end = unit.data() + unit.size();
        auto const [stop, error] = std::from_chars(unit.data(), end, value);
        if (error == std::errc{} && stop == end) {
            return value;
        }
        refuse_cell(cell, number,
                    cell.empty()                              ? "an empty cell"
                    : unit.empty()                            ? "a '+' without a length on both sides"
                    : unit.find('"') != unit.npos             ? "a stray quote"
                    : unit.front() == '-'                     ? "a negative number"
                    : error == std::errc::result_out_of_range ? "more than 64 bits hold"
                    : stop != end && *stop == '.'             ? "a fraction"
                                                              : "not a number");
    }

    [[noreturn]] void refuse_cell(std::string_view cell, std::size_t number, std::string_view why) const {
        auto const found = cell.empty() ? std::string{why} : fmt::format("{} ({})", in_quotes(cell), why);
        fail(number, fmt::format("{} in column {}", found, in_quotes(result_.columns[number - 1])),
             "a length in tokens such as 512, or unit lengths such as 256+256+88");
    }

    std::string_view rest_;
    std::string_view name_;
    std::string_view line_;
    std::size_t number_ = 0;
    trace result_;
};

}  // namespace

trace read_trace(std::filesystem::path const& file) {
    auto const name = file.string();
    auto const refuse = [&](std::string_view why) {
        throw input_error{fmt::format("{}: {}, expected a readable file of lengths", name.empty() ? "''" : name, why)};
    };
    auto const reason = [] { return std::generic_category().message(errno); };

    auto close = [](std::FILE* stream) { std::fclose(stream); };
    auto const stream = std::unique_ptr<std::FILE, decltype(close)>{std::fopen(name.c_str(), "rb"), close};
    if (!stream) {
        refuse(reason());
    }
    auto text = std::string{};
    for (auto got = std::size_t{1}; got > 0;) {
        constexpr auto chunk = std::size_t{1} << 18u;
        auto const before = text.size();
        text.resize(before + chunk);
        got = std::fread(text.data() + before, 1, chunk, stream.get());
        text.resize(before + got);
        if (std::ferror(stream.get()) != 0) {
            refuse(reason());
        }
        if (text.size() > most_bytes) {
            refuse("more than 1 GiB");
        }
        // An endless device need not be read to its end: the parser will name the place.
        if (std::any_of(text.begin() + static_cast<std::ptrdiff_t>(before), text.end(), is_binary)) {
            break;
        }
    }
    return parse_trace(text, name);
}

trace parse_trace(std::string_view text, std::string_view name) { return parser{text, name}.parse(); }

}  // namespace evenkeel::examples
