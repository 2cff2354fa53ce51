// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace evenkeel::examples {

/// A value of a JSON file. What is wrong with it is said with the file and the JSON pointer of the value:
/// "plan.json: /submodules/1/parameters: expected a number from 0 to 1e24, got '760M'".
class json_value {
  public:
    /// @param name  How errors call the file.
    /// @throws input_error  if `text` is no JSON, or an object has a key twice
    [[nodiscard]] static json_value parse(std::string_view text, std::string_view name);

    /// @throws input_error  if there is no such file, or as above
    [[nodiscard]] static json_value read(std::filesystem::path const& file);

    /// @throws input_error  if this is no object, has no such key, or has keys other than `known`
    [[nodiscard]] json_value operator[](std::string_view key) const;
    [[nodiscard]] std::optional<json_value> find(std::string_view key) const;
    void allow_only(std::vector<std::string_view> const& known) const;

    /// @throws input_error  if this is no array, and for an empty one where it may not be
    [[nodiscard]] std::vector<json_value> elements() const;

    /// @throws input_error  if this is no number in that range; a count may be written as 7.6e8
    [[nodiscard]] double number(double least, double most) const;
    [[nodiscard]] std::uint64_t count(std::uint64_t least, std::uint64_t most) const;

    /// @throws input_error  if this is no text, or no `true` or `false`
    [[nodiscard]] std::string text() const;
    [[nodiscard]] bool flag() const;

    /// "plan.json: /submodules/1"
    [[nodiscard]] std::string place() const;

    /// @throws input_error  always: "plan.json: /submodules/1: expected this, got that"
    [[noreturn]] void refuse(std::string_view expected) const;

  private:
    json_value(std::shared_ptr<nlohmann::json const> document, nlohmann::json const& value, std::string name,
               std::string pointer);

    [[nodiscard]] json_value child(nlohmann::json const& value, std::string_view key) const;

    std::shared_ptr<nlohmann::json const> document_;
    nlohmann::json const* value_;
    std::string name_;
    std::string pointer_;
};

}  // namespace evenkeel::examples
