// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input_error.hpp"

namespace evenkeel::examples {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(fs::path const& path, std::string_view why) {
    throw input_error{fmt::format("'{}' cannot be written: {}", path.string(), why)};
}

[[noreturn]] void refuse(fs::path const& path, int error) { refuse(path, std::generic_category().message(error)); }

fs::path folder_of(fs::path const& path) { return path.has_parent_path() ? path.parent_path() : fs::path{"."}; }

fs::path follow_links(fs::path path) {
    constexpr auto most_links = 40;
    for (auto links = 0; links < most_links; ++links) {
        auto error = std::error_code{};
        auto const next = fs::read_symlink(path, error);
        if (error) {
            return path;
        }
        path = next.is_absolute() ? next : path.parent_path() / next;
    }
    refuse(path, ELOOP);
}

std::optional<struct stat> status_of(fs::path const& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0) {
        return status;
    }
    if (errno != ENOENT) {
        refuse(path, errno);
    }
    return std::nullopt;
}

bool is_same(struct stat const& a, struct stat const& b) noexcept {
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool is_printed_to(struct stat const& file) noexcept {
    for (auto const descriptor : std::array{STDOUT_FILENO, STDERR_FILENO}) {
        struct stat open {};
        if (::fstat(descriptor, &open) == 0 && is_same(file, open)) {
            return true;
        }
    }
    return false;
}

/// A file beside `target` that goes away unless it takes its place.
class temporary {
  public:
    temporary(fs::path const& target, fs::path const& shown) : shown_{shown} {
        static auto count = std::atomic<unsigned>{0};
        // Short, so that it fits wherever the target's name does.
        for (auto tries = 0; tries < 100 && descriptor_ < 0; ++tries) {
            path_ = folder_of(target) / fmt::format(".{}-{}.tmp", ::getpid(), ++count);
            descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
            if (descriptor_ < 0 && errno != EEXIST) {
                break;
            }
        }
        if (descriptor_ < 0) {
            refuse(shown_, errno);
        }
    }

    temporary(temporary const&) = delete;
    temporary& operator=(temporary const&) = delete;

    ~temporary() {
        if (descriptor_ >= 0) {
            ::close(descriptor_);
        }
        if (!path_.empty()) {
            ::unlink(path_.c_str());
        }
    }

    void write(std::string_view text) {
        while (!text.empty()) {
            auto const written = ::write(descriptor_, text.data(), text.size());
            if (written < 0 && errno != EINTR) {
                refuse(shown_, errno);
            }
            text.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
        }
    }

    void replace(fs::path const& target, std::optional<struct stat> const& old) {
        if (old && ::fchmod(descriptor_, old->st_mode & 07777u) != 0) {
            refuse(shown_, errno);
        }
        if (::close(std::exchange(descriptor_, -1)) != 0 || std::rename(path_.c_str(), target.c_str()) != 0) {
            refuse(shown_, errno);
        }
        path_.clear();
    }

  private:
    fs::path shown_;
    fs::path path_;
    int descriptor_ = -1;
};

}  // namespace

output_file::output_file(fs::path const& path) : path_{path}, target_{follow_links(path)} {
    if (!path.has_filename()) {
        refuse(path, path.empty() ? "the name is empty" : "it names a folder");
    }
    if (auto const old = status_of(target_)) {
        if (S_ISDIR(old->st_mode)) {
            refuse(path, "it is a folder");
        }
        if (!S_ISREG(old->st_mode)) {
            refuse(path, "it is no regular file");
        }
        if (is_printed_to(*old)) {
            refuse(path, "it is where this program prints to");
        }
        if (::access(target_.c_str(), W_OK) != 0) {
            refuse(path, errno);
        }
    }
    auto const probe = temporary{target_, path_};
}

void output_file::write(std::string_view text) const {
    auto file = temporary{target_, path_};
    file.write(text);
    file.replace(target_, status_of(target_));
}

bool output_file::same_as(fs::path const& other) const {
    auto const end = follow_links(other);
    auto error = std::error_code{};
    if (fs::equivalent(target_, end, error)) {
        return true;
    }
    return end.filename() == target_.filename() && fs::equivalent(folder_of(target_), folder_of(end), error);
}

}  // namespace evenkeel::examples
