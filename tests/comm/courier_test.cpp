// SPDX-License-Identifier: Apache-2.0
#include "comm/src/courier.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include <evenkeel/comm/threads.hpp>

#include "tests/support/backends.hpp"

namespace evenkeel::test::courier_test {
namespace {

/// What the owner of a courier does, as transfers on the courier's thread see it.
class owner {
  public:
    /// It is about to wait for the transfer `number`.
    void waits_for(int number) { waits_for_ = number; }
    [[nodiscard]] bool has_come_to(int number) const { return waits_for_ >= number; }
    /// By the end of it the owner waits, unless the machine is busy: then the test sees less.
    void linger_until_it_waits_for(int number) const {
        for (comm::deadline const end = patience; !has_come_to(number) && !end.passed();) {
            std::this_thread::yield();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }

  private:
    std::atomic<int> waits_for_ = 0;
};

/// What the courier has seen so far.
struct progress {
    std::atomic<int> looks = 0;  ///< at the second transfer
    int looks_since = 0;         ///< since the owner waits for it
    bool lingered = false;
};

/// Holds the courier up when the owner waits for the second; never complete by itself.
class first_transfer final : public comm::transfer {
  public:
    first_transfer(owner const& by, progress& so_far) : by_{by}, so_far_{so_far} {}
    bool ready() override {
        if (!so_far_.lingered && by_.has_come_to(2)) {
            by_.linger_until_it_waits_for(2);
            so_far_.lingered = true;
        }
        return false;
    }
    void wait(comm::deadline) override {}

  private:
    owner const& by_;
    progress& so_far_;
};

/// Complete when the courier knows that the owner waits no longer. It leaves when that one waits for the third.
class second_transfer final : public comm::transfer {
  public:
    second_transfer(owner const& by, progress& so_far) : by_{by}, so_far_{so_far} {}
    ~second_transfer() override {
        if (!asked_) {
            by_.linger_until_it_waits_for(3);
        }
    }
    bool ready() override {
        ++so_far_.looks;
        so_far_.looks_since += so_far_.lingered ? 1 : 0;
        return so_far_.looks_since > 1;
    }
    /// Where the owner was quicker than meant: then the test sees less.
    void wait(comm::deadline) override { asked_ = true; }

  private:
    owner const& by_;
    progress& so_far_;
    bool asked_ = false;
};

/// Nobody comes to it, which it says when it is asked; in the end also when it is not, lest the owner wait for ever.
class third_transfer final : public comm::transfer {
  public:
    bool ready() override {
        if (end_.passed()) {
            throw comm::error{"test", {}, {}, "it was never asked who did not come"};
        }
        return false;
    }
    void wait(comm::deadline) override { throw comm::error{"test", {}, {}, "nobody came"}; }

  private:
    comm::deadline end_ = std::chrono::seconds{10};
};

TEST(courier, holds_a_deadline_that_passes_while_it_completes_what_the_owner_waited_for_before) {
    auto const world = comm::make_threads(uniform_topology(world_size{1}, node_size{1}));
    owner self;
    progress so_far;
    comm::courier by{*world[0]};
    by.post({}, [&self, &so_far] { return comm::pending{std::make_unique<first_transfer>(self, so_far)}; });
    auto const second =
        by.post({}, [&self, &so_far] { return comm::pending{std::make_unique<second_transfer>(self, so_far)}; });
    // By then both have begun, and it looks at each once in turn.
    for (comm::deadline const end = patience; so_far.looks < 5 && !end.passed();) {
        std::this_thread::yield();
    }
    self.waits_for(2);
    by.wait(second, std::chrono::seconds{0});
    auto const third = by.post({}, [] { return comm::pending{std::make_unique<third_transfer>()}; });
    self.waits_for(3);
    EXPECT_EQ(error_of([&] { by.wait(third, std::chrono::seconds{0}); }).reason(), "nobody came");
}

}  // namespace
}  // namespace evenkeel::test::courier_test
