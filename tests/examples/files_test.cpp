// SPDX-License-Identifier: Apache-2.0
#include "examples/support/files.hpp"

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "examples/support/input_error.hpp"
#include "tests/examples/temporary_folder.hpp"

namespace evenkeel::examples::files_test {
namespace {

namespace fs = std::filesystem;
using names = std::vector<std::string>;

std::string refusal(fs::path const& path) {
    return complaint<input_error>([&] { (void)output_file{path}; });
}

TEST(output_file, leaves_no_trace_before_it_is_written) {
    auto const folder = temporary_folder{};
    folder.write("old", "precious");
    auto const fresh = output_file{folder / "new"};
    auto const old = output_file{folder / "old"};

    EXPECT_EQ(folder.names(), names{"old"});
    EXPECT_EQ(folder.read("old"), "precious");
}

TEST(output_file, is_written_whole_and_alone) {
    auto const folder = temporary_folder{};
    folder.write("old", "precious, and longer than what replaces it");
    output_file{folder / "old"}.write("{}");
    output_file{folder / "new"}.write(std::string(1'000'000, 'x'));

    EXPECT_EQ(folder.names(), (names{"new", "old"}));
    EXPECT_EQ(folder.read("old"), "{}");
    EXPECT_EQ(folder.read("new"), std::string(1'000'000, 'x'));
}

TEST(output_file, keeps_the_permissions_of_the_file_that_it_replaces) {
    auto const folder = temporary_folder{};
    auto const old = folder.write("old", "");
    fs::permissions(old, fs::perms{0640});
    output_file{old}.write("{}");
    EXPECT_EQ(fs::status(old).permissions(), fs::perms{0640});
}

TEST(output_file, refuses_what_cannot_be_written) {
    auto const folder = temporary_folder{};
    folder.write("file", "");

    EXPECT_EQ(refusal(folder / "no/such"),
              "'" + (folder / "no/such").string() + "' cannot be written: No such file or directory");
    EXPECT_NE(refusal(folder / "file/below").find("cannot be written: Not a directory"), std::string::npos);
    EXPECT_NE(refusal(folder / "").find("it names a folder"), std::string::npos);
    EXPECT_NE(refusal(fs::temp_directory_path() / ".").find("it is a folder"), std::string::npos);
    EXPECT_NE(refusal("").find("the name is empty"), std::string::npos);
    EXPECT_NE(refusal(folder / std::string(256, 'x')).find("File name too long"), std::string::npos);
    EXPECT_EQ(refusal(folder / std::string(255, 'x')), "");
    EXPECT_EQ(folder.names(), names{"file"});
}

TEST(output_file, refuses_devices_and_pipes) {
    auto const folder = temporary_folder{};
    ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);

    EXPECT_NE(refusal("/dev/full").find("it is no regular file"), std::string::npos);
    EXPECT_NE(refusal(folder / "pipe").find("it is no regular file"), std::string::npos);
    EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST(output_file, follows_links) {
    auto const folder = temporary_folder{};
    folder.write("file", "old");
    fs::create_symlink("file", folder / "link");
    fs::create_symlink("missing", folder / "dangling");
    fs::create_symlink("circle", folder / "circle");

    output_file{folder / "link"}.write("new");
    EXPECT_TRUE(fs::is_symlink(folder / "link"));
    EXPECT_EQ(folder.read("file"), "new");
    output_file{folder / "dangling"}.write("made");
    EXPECT_EQ(folder.read("missing"), "made");
    EXPECT_NE(refusal(folder / "circle").find("symbolic links"), std::string::npos);
}

TEST(output_file, knows_itself_under_another_name) {
    auto const folder = temporary_folder{};
    folder.write("file", "");
    fs::create_symlink("file", folder / "link");
    fs::create_symlink("missing", folder / "dangling");

    EXPECT_TRUE(output_file{folder / "file"}.same_as(folder / "./file"));
    EXPECT_TRUE(output_file{folder / "file"}.same_as(folder / "link"));
    EXPECT_TRUE(output_file{folder / "missing"}.same_as(folder / "dangling"));
    EXPECT_FALSE(output_file{folder / "file"}.same_as(folder / "missing"));
    EXPECT_FALSE(output_file{folder / "missing"}.same_as(folder / "other"));
}

TEST(output_file, leaves_the_old_file_and_nothing_else_when_there_is_no_room) {
    auto const folder = temporary_folder{};
    folder.write("old", "precious");
    auto const file = output_file{folder / "old"};

    // A limit on the size of a file stands in for a full disk.
    auto before = rlimit{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    auto const handler = std::signal(SIGXFSZ, SIG_IGN);
    auto const small = rlimit{.rlim_cur = 1000, .rlim_max = before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    auto const said = complaint<input_error>([&] { file.write(std::string(5000, 'x')); });
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);

    EXPECT_NE(said.find("cannot be written: File too large"), std::string::npos) << said;
    EXPECT_EQ(folder.names(), names{"old"});
    EXPECT_EQ(folder.read("old"), "precious");
}

}  // namespace
}  // namespace evenkeel::examples::files_test
