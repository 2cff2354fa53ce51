// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

namespace evenkeel::examples {

/// A file to be written at the end of the work: whole, or not at all.
///
///     auto const result = output_file{"result.json"};   // throws before hours of work, not after
///     ...
///     result.write(text);
///
/// Making one checks that the file can be written and leaves its folder as it was. Writing goes to a file of another
/// name beside it, which then takes its place, so a file that was there before stays as it was until the new one is
/// complete, and no other name is left behind. A symbolic link stays one: what it points to is replaced.
class output_file {
  public:
    /// @throws input_error  if `path` is a folder, a device or what this program prints to, is write-protected, or lies
    ///                      where nothing can be created.
    explicit output_file(std::filesystem::path const& path);

    /// @throws input_error  if the text can't be written in full, because the disk is full, say.
    void write(std::string_view text) const;

    /// Whether both would be the same file, whatever they are called.
    [[nodiscard]] bool same_as(std::filesystem::path const& other) const;

  private:
    std::filesystem::path path_;
    /// Where the links end.
    std::filesystem::path target_;
};

}  // namespace evenkeel::examples
