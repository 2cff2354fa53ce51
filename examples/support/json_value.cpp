// SPDX-License-Identifier: Apache-2.0
#include "json_value.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "input_error.hpp"
#include "text.hpp"

namespace evenkeel::examples {
namespace {

/// A key as a JSON pointer has it (RFC 6901).
std::string escaped(std::string_view key) {
    auto result = std::string{};
    for (auto const letter : key) {
        letter == '~' ? result += "~0" : letter == '/' ? result += "~1" : result += letter;
    }
    return result;
}

/// How an error shows a value: short, whatever it is.
std::string shown(nlohmann::json const& value) {
    if (value.is_object() || value.is_array()) {
        return fmt::format("an {} of {}", value.is_object() ? "object" : "array", value.size());
    }
    if (value.is_string()) {
        return in_quotes(value.get_ref<std::string const&>());
    }
    return shortened(value.dump(), 40);
}

/// Where the parser is, so that errors can say it, and the keys that the objects around it have so far: the parser
/// itself lets a later key replace an earlier one.
class parser_position {
  public:
    explicit parser_position(std::string_view name) : name_{name} {}

    bool follow(nlohmann::json::parse_event_t event, nlohmann::json const& parsed) {
        switch (event) {
            case nlohmann::json::parse_event_t::object_start:
            case nlohmann::json::parse_event_t::array_start:
                next_element();
                levels_.push_back({.is_array = event == nlohmann::json::parse_event_t::array_start});
                break;
            case nlohmann::json::parse_event_t::key: {
                auto& level = levels_.back();
                level.key = parsed.get<std::string>();
                if (!level.keys.insert(level.key).second) {
                    throw input_error{fmt::format("{}: {}: expected every key once, got it twice", name_, pointer())};
                }
                break;
            }
            case nlohmann::json::parse_event_t::object_end:
            case nlohmann::json::parse_event_t::array_end: levels_.pop_back(); break;
            case nlohmann::json::parse_event_t::value: next_element(); break;
        }
        return true;
    }

    /// As far as anybody reads it.
    [[nodiscard]] std::string pointer() const {
        constexpr auto longest = std::size_t{200};
        auto result = std::string{};
        for (auto const& level : levels_) {
            if (level.is_array) {
                // The element that is next, or the one that is open.
                auto const is_open = &level != &levels_.back();
                result += fmt::format("/{}", level.elements - (is_open ? 1 : 0));
            } else if (!level.keys.empty()) {
                result.append("/").append(escaped(level.key));
            }
            if (result.size() > longest) {
                return shortened(result, longest);
            }
        }
        return result;
    }

  private:
    struct container {
        bool is_array = false;
        std::size_t elements = 0;
        std::string key = {};
        std::set<std::string> keys = {};
    };

    void next_element() {
        if (!levels_.empty() && levels_.back().is_array) {
            ++levels_.back().elements;
        }
    }

    std::string_view name_;
    std::vector<container> levels_;
};

[[noreturn]] void refuse_text(std::string_view text, std::string_view name, std::size_t byte,
                              parser_position const& at) {
    // The parser counts from 1, and names the byte that it did not expect.
    auto const offset = std::min(byte == 0 ? 0 : byte - 1, text.size());
    auto const before = text.substr(0, offset);
    auto const line = 1 + std::count(before.begin(), before.end(), '\n');
    auto const start = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
    auto const got = offset == text.size() ? std::string{"the end"} : in_quotes(text.substr(offset, 1));
    auto const pointer = at.pointer();
    throw input_error{fmt::format("{}:{}:{}: {}expected JSON, got {}", name, line, offset - start + 1,
                                  pointer.empty() ? "" : pointer + ": ", got)};
}

}  // namespace

json_value::json_value(std::shared_ptr<nlohmann::json const> document, nlohmann::json const& value, std::string name,
                       std::string pointer)
    : document_{std::move(document)}, value_{&value}, name_{std::move(name)}, pointer_{std::move(pointer)} {}

json_value json_value::parse(std::string_view text, std::string_view name) {
    auto position = parser_position{name};
    try {
        auto document = std::make_shared<nlohmann::json const>(
            nlohmann::json::parse(text, [&](int, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
                return position.follow(event, parsed);
            }));
        auto const& value = *document;
        return {std::move(document), value, std::string{name}, ""};
    } catch (nlohmann::json::parse_error const& error) {
        refuse_text(text, name, error.byte, position);
    } catch (nlohmann::json::out_of_range const&) {
        throw input_error{fmt::format("{}: {}: expected a number that fits into 64 bits", name, position.pointer())};
    }
}

json_value json_value::read(std::filesystem::path const& file) {
    errno = 0;
    auto stream = std::ifstream{file, std::ios::binary};
    auto text = std::ostringstream{};
    auto error = std::error_code{};
    if (std::filesystem::is_directory(file, error)) {
        throw input_error{fmt::format("'{}' cannot be read: it is a folder", file.string())};
    }
    // An empty file sets the stream's failbit: nothing was inserted.
    if (!stream || (!(text << stream.rdbuf()) && stream.peek() != std::ifstream::traits_type::eof())) {
        auto const why = std::generic_category().message(errno == 0 ? EIO : errno);
        throw input_error{fmt::format("'{}' cannot be read: {}", file.string(), why)};
    }
    return parse(text.str(), file.string());
}

json_value json_value::child(nlohmann::json const& value, std::string_view key) const {
    return {document_, value, name_, pointer_ + "/" + escaped(key)};
}

std::optional<json_value> json_value::find(std::string_view key) const {
    if (!value_->is_object()) {
        refuse("an object");
    }
    auto const found = value_->find(key);
    return found == value_->end() ? std::nullopt : std::optional{child(*found, key)};
}

json_value json_value::operator[](std::string_view key) const {
    auto found = find(key);
    if (!found) {
        throw input_error{fmt::format("{}: expected the key '{}', got none", place(), key)};
    }
    return *std::move(found);
}

void json_value::allow_only(std::vector<std::string_view> const& known) const {
    if (!value_->is_object()) {
        refuse("an object");
    }
    for (auto const& [key, value] : value_->items()) {
        if (std::find(known.begin(), known.end(), key) == known.end()) {
            throw input_error{fmt::format("{}: expected one of the keys {}, got {}", place(), fmt::join(known, ", "),
                                          in_quotes(key))};
        }
    }
}

std::vector<json_value> json_value::elements() const {
    if (!value_->is_array()) {
        refuse("an array");
    }
    auto result = std::vector<json_value>{};
    for (auto const& element : *value_) {
        result.push_back(child(element, fmt::to_string(result.size())));
    }
    return result;
}

double json_value::number(double least, double most) const {
    if (value_->is_number()) {
        auto const number = value_->get<double>();
        if (number >= least && number <= most) {
            return number;
        }
    }
    refuse(fmt::format("a number from {:.6g} to {:.6g}", least, most));
}

std::uint64_t json_value::count(std::uint64_t least, std::uint64_t most) const {
    constexpr auto exact = 0x1p53;
    auto result = std::optional<std::uint64_t>{};
    if (value_->is_number_unsigned()) {
        result = value_->get<std::uint64_t>();
    } else if (value_->is_number_float()) {
        auto const number = value_->get<double>();
        if (number >= 0 && number <= exact && number == std::floor(number)) {
            result = static_cast<std::uint64_t>(number);
        }
    }
    if (!result || *result < least || *result > most) {
        refuse(fmt::format("a whole number from {} to {}", least, most));
    }
    return *result;
}

std::string json_value::text() const {
    if (!value_->is_string()) {
        refuse("a text");
    }
    return value_->get<std::string>();
}

bool json_value::flag() const {
    if (!value_->is_boolean()) {
        refuse("true or false");
    }
    return value_->get<bool>();
}

std::string json_value::place() const { return fmt::format("{}: {}", name_, pointer_.empty() ? "/" : pointer_); }

void json_value::refuse(std::string_view expected) const {
    throw input_error{fmt::format("{}: expected {}, got {}", place(), expected, shown(*value_))};
}

}  // namespace evenkeel::examples
