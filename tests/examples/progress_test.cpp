// SPDX-License-Identifier: Apache-2.0
#include "examples/support/progress.hpp"

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace evenkeel::examples::progress_test {
namespace {

using namespace std::chrono_literals;

/// A terminal whose clock is set by hand.
struct fake_screen {
    std::string drawn;
    std::chrono::steady_clock::duration time = 0s;

    progress_output output(bool terminal = true) {
        return {.terminal = terminal,
                .write = [this](std::string_view text) { drawn += text; },
                .now = [this] { return time; }};
    }
};

TEST(progress, stays_away_from_short_work) {
    auto screen = fake_screen{};
    {
        auto bar = progress{"steps", 10, screen.output()};
        screen.time = 900ms;
        bar.advance(10);
    }
    EXPECT_EQ(screen.drawn, "");
}

TEST(progress, appears_after_a_second_and_is_gone_at_the_end) {
    auto screen = fake_screen{};
    {
        auto bar = progress{"steps", 10, screen.output()};
        screen.time = 2s;
        bar.advance(5);
        EXPECT_EQ(screen.drawn, "\r\x1b[K[###############...............]  50 %  5 of 10 steps  2 s left");
    }
    EXPECT_TRUE(screen.drawn.ends_with("\r\x1b[K"));
}

TEST(progress, never_appears_where_there_is_no_terminal) {
    auto screen = fake_screen{};
    {
        auto bar = progress{"steps", 10, screen.output(false)};
        screen.time = 10s;
        bar.advance(5);
    }
    EXPECT_EQ(screen.drawn, "");
}

TEST(progress, draws_ten_times_a_second_at_most) {
    auto screen = fake_screen{};
    auto bar = progress{"steps", 1000, screen.output()};
    screen.time = 2s;
    for (auto i = 0; i < 100; ++i) {
        bar.advance();
    }
    EXPECT_EQ(screen.drawn.find("1 of 1000"), screen.drawn.rfind(" of 1000") - 1);
    screen.time += 100ms;
    bar.advance();
    EXPECT_NE(screen.drawn.find("101 of 1000"), std::string::npos);
}

TEST(progress, is_never_more_than_done) {
    auto screen = fake_screen{};
    auto bar = progress{"steps", 0, screen.output()};
    screen.time = 2s;
    bar.advance(7);
    EXPECT_NE(screen.drawn.find("100 %"), std::string::npos);
}

TEST(progress, counts_from_many_threads) {
    auto screen = fake_screen{};
    auto bar = progress{"steps", 4001, screen.output()};
    auto threads = std::vector<std::thread>{};
    for (auto i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (auto k = 0; k < 1000; ++k) {
                bar.advance();
            }
        });
    }
    for (auto& thread : threads) {
        thread.join();
    }
    screen.time = 2s;
    bar.advance();
    EXPECT_NE(screen.drawn.find("4001 of 4001"), std::string::npos);
}

}  // namespace
}  // namespace evenkeel::examples::progress_test
