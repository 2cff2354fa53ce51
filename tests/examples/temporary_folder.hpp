// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace evenkeel::examples {

/// A folder of its own for one test; gone with all that is in it at the end.
class temporary_folder {
  public:
    temporary_folder() {
        auto name = (std::filesystem::temp_directory_path() / "evenkeel-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) {
            throw std::runtime_error{"temporary_folder: mkdtemp failed"};
        }
        path_ = name;
    }
    ~temporary_folder() {
        auto error = std::error_code{};
        std::filesystem::remove_all(path_, error);
    }
    temporary_folder(temporary_folder const&) = delete;
    temporary_folder& operator=(temporary_folder const&) = delete;

    [[nodiscard]] std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

    std::filesystem::path write(std::string_view name, std::string_view text) const {
        std::ofstream{path_ / name, std::ios::binary} << text;
        return path_ / name;
    }

    [[nodiscard]] std::string read(std::string_view name) const {
        auto file = std::ifstream{path_ / name, std::ios::binary};
        return {std::istreambuf_iterator<char>{file}, {}};
    }

    /// The names in it, sorted.
    [[nodiscard]] std::vector<std::string> names() const {
        auto result = std::vector<std::string>{};
        for (auto const& entry : std::filesystem::directory_iterator{path_}) {
            result.push_back(entry.path().filename().string());
        }
        std::sort(result.begin(), result.end());
        return result;
    }

  private:
    std::filesystem::path path_;
};

/// What `action` throws as an `Error` says; empty if it throws nothing.
template <class Error, class Action>
std::string complaint(Action action) {
    try {
        action();
    } catch (Error const& error) {
        return error.what();
    }
    return {};
}

}  // namespace evenkeel::examples
