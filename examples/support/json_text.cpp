// SPDX-License-Identifier: Apache-2.0
#include "json_text.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace evenkeel::examples {
namespace {

using json = nlohmann::ordered_json;

constexpr auto line_length = std::size_t{110};
constexpr auto step = std::size_t{2};

std::string key_text(std::string const& key) { return json(key).dump() + ": "; }

std::string in_a_line(json const& value) {
    if (!value.is_structured()) {
        return value.dump();
    }
    auto result = std::string{};
    for (auto const& [key, element] : value.items()) {
        result += result.empty() ? "" : ", ";
        result += (value.is_object() ? key_text(key) : "") + in_a_line(element);
    }
    return value.is_object() ? fmt::format("{{{}}}", result) : fmt::format("[{}]", result);
}

/// Numbers, or lists of numbers.
bool is_plain_list(json const& value) {
    return value.is_array() && std::all_of(value.begin(), value.end(), [](json const& element) {
               return !element.is_structured() || is_plain_list(element);
           });
}

void append(std::string& text, json const& value, std::size_t indent) {
    auto const line = in_a_line(value);
    if (!value.is_structured() || is_plain_list(value) || indent + line.size() <= line_length) {
        text += line;
        return;
    }
    text += value.is_object() ? '{' : '[';
    auto separator = "\n";
    for (auto const& [key, element] : value.items()) {
        text += separator;
        text.append(indent + step, ' ').append(value.is_object() ? key_text(key) : "");
        append(text, element, indent + step);
        separator = ",\n";
    }
    text += '\n';
    text.append(indent, ' ').append(value.is_object() ? "}" : "]");
}

}  // namespace

std::string json_text(json const& value) {
    auto text = std::string{};
    append(text, value, 0);
    return text + "\n";
}

}  // namespace evenkeel::examples
