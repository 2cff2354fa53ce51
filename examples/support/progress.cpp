// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace evenkeel::examples {
namespace {

using namespace std::chrono_literals;

constexpr auto silence = 1s;
constexpr auto pause = 100ms;
constexpr auto erased = std::string_view{"\r\x1b[K"};

}  // namespace

progress_output progress_output::standard_error() {
    return {.terminal = ::isatty(STDERR_FILENO) == 1,
            .write =
                [](std::string_view text) {
                    std::fwrite(text.data(), 1, text.size(), stderr);
                    std::fflush(stderr);
                },
            .now = [] { return std::chrono::steady_clock::now().time_since_epoch(); }};
}

progress::progress(std::string label, std::uint64_t total, progress_output output)
    : label_{std::move(label)},
      total_{std::max<std::uint64_t>(total, 1)},
      output_{std::move(output)},
      start_{output_.now()},
      next_{start_ + silence} {}

progress::~progress() {
    if (visible_) {
        output_.write(erased);
    }
}

void progress::advance(std::uint64_t by) {
    auto const done = done_ += by;
    if (!output_.terminal) {
        return;
    }
    // A thread that finds another one drawing has better things to do than to wait.
    auto const lock = std::unique_lock{drawing_, std::try_to_lock};
    if (lock && output_.now() >= next_) {
        draw(std::min(done, total_));
    }
}

void progress::draw(std::uint64_t done) {
    constexpr auto cells = std::size_t{30};
    auto const share = static_cast<double>(done) / static_cast<double>(total_);
    auto const full = static_cast<std::size_t>(share * cells);
    auto const now = output_.now();
    auto const spent = std::chrono::duration<double>(now - start_).count();
    output_.write(fmt::format("{}[{}{}] {:3.0f} %  {} of {} {}  {:.0f} s left", erased, std::string(full, '#'),
                              std::string(cells - full, '.'), 100 * share, done, total_, label_,
                              done == 0 ? 0.0 : std::ceil(spent / share - spent)));
    visible_ = true;
    next_ = now + pause;
}

}  // namespace evenkeel::examples
