// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace evenkeel::examples {

/// Where a progress bar draws, and when.
struct progress_output {
    bool terminal = false;
    std::function<void(std::string_view)> write;
    std::function<std::chrono::steady_clock::duration()> now;

    [[nodiscard]] static progress_output standard_error();
};

/// A bar for work that takes a while: it appears on a terminal alone, after a second, and is gone at the end.
///
///     auto bar = progress{"steps", 1000};
///     bar.advance();    // from any thread
class progress {
  public:
    progress(std::string label, std::uint64_t total, progress_output output = progress_output::standard_error());
    ~progress();

    progress(progress const&) = delete;
    progress& operator=(progress const&) = delete;

    void advance(std::uint64_t by = 1);

  private:
    void draw(std::uint64_t done);

    std::string label_;
    std::uint64_t total_;
    progress_output output_;
    std::chrono::steady_clock::duration start_;
    std::atomic<std::uint64_t> done_ = 0;
    std::mutex drawing_;
    std::chrono::steady_clock::duration next_;
    bool visible_ = false;
};

}  // namespace evenkeel::examples
