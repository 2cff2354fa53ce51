// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <evenkeel/comm/mpi.hpp>

#include "comm/src/mpi/neighbours.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/mailbox.hpp"

namespace evenkeel::test::mpi_neighbours_test {
namespace {

/// Memory that this process reads and no other one can, whatever it may do otherwise.
class secret_memory {
  public:
    explicit secret_memory(std::size_t bytes) : size_{bytes} {
#ifdef SYS_memfd_secret
        auto const file = static_cast<int>(syscall(SYS_memfd_secret, 0));
        if (file < 0) {
            return;
        }
        if (ftruncate(file, static_cast<off_t>(bytes)) == 0) {
            void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
            data_ = at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
        }
        close(file);
#endif
    }
    secret_memory(secret_memory const&) = delete;
    secret_memory& operator=(secret_memory const&) = delete;
    ~secret_memory() {
        if (data_ != nullptr) {
            munmap(data_, size_);
        }
    }

    /// Nothing where the system has no such memory.
    [[nodiscard]] std::span<std::byte> bytes() const { return {data_, data_ == nullptr ? 0 : size_}; }

  private:
    std::size_t size_;
    std::byte* data_ = nullptr;
};

/// The first two processes, as neighbours.
class mpi_neighbours : public testing::Test {
  protected:
    void SetUp() override {
        if (mpi_processes() < 2 || !mpi_neighbours_meet) {
            GTEST_SKIP() << "nobody has a neighbour";
        }
        pair.emplace(2);
        if (pair->get() == MPI_COMM_NULL) {
            GTEST_SKIP() << "two are enough";
        }
        MPI_Comm_rank(pair->get(), &self);
        other = 1 - self;
        all = std::make_unique<comm::mpi::neighbours>(pair->get(), true);
        ASSERT_TRUE(all->has(other)) << "the system keeps processes apart: see --strangers";
    }

    void TearDown() override { all.reset(); }

    void meet() const { MPI_Barrier(pair->get()); }

    [[nodiscard]] bool send(std::span<std::byte const> parcel) const {
        auto* const room = all->room_for(other, parcel.size());
        if (room == nullptr) {
            return false;
        }
        std::ranges::copy(parcel, room);
        all->send(other, false);
        return true;
    }

    [[nodiscard]] std::vector<std::vector<std::byte>> receive() const {
        std::vector<std::vector<std::byte>> parcels;
        all->receive([&](std::span<std::byte const> parcel) { parcels.emplace_back(parcel.begin(), parcel.end()); });
        return parcels;
    }

    /// The address of `bytes` in the other process.
    [[nodiscard]] std::uint64_t where_the_other_has(std::span<std::byte const> bytes) const {
        auto const mine = reinterpret_cast<std::uint64_t>(bytes.data());
        std::uint64_t its = 0;
        MPI_Sendrecv(&mine, 1, MPI_UINT64_T, other, 0, &its, 1, MPI_UINT64_T, other, 0, pair->get(), MPI_STATUS_IGNORE);
        return its;
    }

    std::optional<first_processes> pair;
    std::unique_ptr<comm::mpi::neighbours> all;
    int self = 0;
    int other = 0;
};

TEST_F(mpi_neighbours, know_each_other_only) {
    EXPECT_EQ(all->count(), 1u);
    EXPECT_FALSE(all->has(self));
    EXPECT_FALSE(all->has(2));
}

TEST_F(mpi_neighbours, pass_parcels_of_any_size_in_order_many_times_around_a_ring) {
    std::size_t sent = 0;
    std::size_t came = 0;
    auto const size_of = [](std::size_t number) { return number * 37 % 5'000; };
    comm::deadline const end = patience;
    for (; (sent < 400 || came < 400) && !end.passed();) {
        if (sent < 400 && send(payload(sent, size_of(sent)))) {
            ++sent;
        }
        for (auto const& parcel : receive()) {
            EXPECT_TRUE(parcel == payload(came, size_of(came))) << came;
            ++came;
        }
    }
    EXPECT_EQ(came, 400u);
    meet();
}

TEST_F(mpi_neighbours, have_no_room_for_more_than_a_ring_holds_until_parcels_are_received) {
    auto const parcel = payload(1, 5'000);
    std::size_t sent = 0;
    while (send(parcel)) {
        ++sent;
    }
    EXPECT_GT(sent, 1u);
    meet();
    EXPECT_EQ(receive().size(), sent);
    meet();
    EXPECT_TRUE(send(parcel));
    meet();
}

TEST_F(mpi_neighbours, know_that_a_parcel_takes_the_other_way_until_it_has_come) {
    EXPECT_FALSE(all->other_way_is_due());
    meet();
    all->announce_other_way(other);
    meet();
    EXPECT_TRUE(all->other_way_is_due());
    all->count_other_way(other);
    EXPECT_FALSE(all->other_way_is_due());
    meet();
}

TEST_F(mpi_neighbours, read_the_memory_of_the_other_and_know_whether_it_was_still_lent) {
    auto const bytes = payload(static_cast<std::size_t>(self), 100'000);
    auto const its = where_the_other_has(bytes);
    auto const mine = all->open_lease();
    ASSERT_TRUE(mine);
    comm::mpi::lease lease;
    MPI_Sendrecv(&*mine, sizeof lease, MPI_BYTE, other, 0, &lease, sizeof lease, MPI_BYTE, other, 0, pair->get(),
                 MPI_STATUS_IGNORE);
    auto read = untouched_bytes(bytes.size());
    EXPECT_TRUE(all->read(other, its, read));
    EXPECT_TRUE(read == payload(static_cast<std::size_t>(other), 100'000));
    EXPECT_TRUE(all->is_open(other, lease));
    meet();
    all->close_lease(*mine);
    meet();
    EXPECT_FALSE(all->is_open(other, lease));
    meet();
    // The next one is another, also in the same place.
    auto const next = all->open_lease();
    ASSERT_TRUE(next);
    EXPECT_EQ(next->slot, mine->slot);
    meet();
    EXPECT_FALSE(all->is_open(other, lease));
    meet();
}

TEST_F(mpi_neighbours, do_not_take_what_is_not_there_for_read) {
    std::array<std::byte, 16> into{};
    EXPECT_FALSE(all->read(other, 8, into));
    meet();
}

TEST_F(mpi_neighbours, run_out_of_leases) {
    std::vector<comm::mpi::lease> open;
    while (auto const one = all->open_lease()) {
        open.push_back(*one);
    }
    EXPECT_GT(open.size(), 100u);
    all->close_lease(open.back());
    EXPECT_TRUE(all->open_lease());
    meet();
}

TEST_F(mpi_neighbours, sleep_until_a_parcel_comes) {
    // The deadline is what would end it otherwise.
    auto const end = std::chrono::steady_clock::now() + patience;
    for (int round = 0; round < 100; ++round) {
        if (self == round % 2) {
            while (receive().empty() && std::chrono::steady_clock::now() < end) {
                all->sleep(all->seen(), 1, end);
            }
        } else {
            EXPECT_TRUE(send(payload(1, 10)));
        }
    }
    EXPECT_LT(std::chrono::steady_clock::now(), end);
    meet();
}

TEST_F(mpi_neighbours, wake_for_what_is_urgent_although_they_wait_for_more) {
    auto const end = std::chrono::steady_clock::now() + patience;
    if (self == 0) {
        while (receive().empty() && std::chrono::steady_clock::now() < end) {
            all->sleep(all->seen(), 1'000, end);
        }
    } else {
        ASSERT_NE(all->room_for(other, 8), nullptr);
        all->send(other, true);
    }
    EXPECT_LT(std::chrono::steady_clock::now(), end);
    meet();
}

TEST_F(mpi_neighbours, are_none_where_one_of_both_does_not_want_it) {
    comm::mpi::neighbours const none{pair->get(), self == 0};
    EXPECT_EQ(none.count(), 0u);
    EXPECT_FALSE(none.has(other));
}

TEST_F(mpi_neighbours, exchange_messages_that_are_as_long_as_the_longest_of_each_kind) {
    auto const world = comm::make_mpi(pair->get());
    for (std::size_t const bytes : {1u, 4'095u, 4'096u, 4'097u, 16'383u, 16'384u, 16'385u, 262'144u, 262'145u,
                                    1'048'575u, 1'048'576u, 1'048'577u}) {
        mailbox box{*world, [&](std::size_t from, std::size_t) { return bytes + from; }, bytes};
        box.exchange(*world).wait(patience);
        box.expect_everything();
    }
}

TEST_F(mpi_neighbours, send_what_the_other_cannot_read) {
    auto const world = comm::make_mpi(pair->get());
    for (std::size_t const size : {20'000u, 3'000'001u}) {
        secret_memory const secret{size};
        if (secret.bytes().empty()) {
            GTEST_SKIP() << "no memfd_secret";
        }
        std::ranges::copy(payload(static_cast<std::size_t>(self), size), secret.bytes().begin());
        auto const peer = to_id<world_rank>(static_cast<std::size_t>(other));
        auto arrived = untouched_bytes(size);
        std::array const sends{comm::outgoing{peer, secret.bytes()}};
        std::array const receives{comm::incoming{peer, arrived}};
        for (int round = 0; round < 3; ++round) {
            std::ranges::fill(arrived, std::byte{0});
            world->exchange(sends, receives).wait(patience);
            EXPECT_TRUE(arrived == payload(static_cast<std::size_t>(other), size));
        }
    }
}

TEST_F(mpi_neighbours, exchange_more_than_the_rings_hold_while_nobody_looks) {
    auto const world = comm::make_mpi(pair->get());
    constexpr std::size_t rounds = 60;
    std::vector<mailbox> boxes;
    for (std::size_t round = 0; round < rounds; ++round) {
        boxes.emplace_back(
            *world, [](std::size_t, std::size_t) { return 4'000u; }, round);
    }
    std::vector<comm::pending> exchanges;
    if (self == 0) {
        for (auto const& box : boxes) {
            exchanges.push_back(box.exchange(*world));
        }
        meet();
    } else {
        meet();
        for (auto const& box : boxes) {
            exchanges.push_back(box.exchange(*world));
        }
    }
    for (auto& exchange : exchanges) {
        exchange.wait(patience);
    }
    for (auto const& box : boxes) {
        box.expect_everything();
    }
}

TEST_F(mpi_neighbours, exchange_more_than_is_shown_at_a_time) {
    auto const world = comm::make_mpi(pair->get());
    std::vector<mailbox> boxes;
    for (std::size_t round = 0; round < 25; ++round) {
        boxes.emplace_back(
            *world, [](std::size_t, std::size_t) { return 1'000'000u; }, round);
    }
    for (int times = 0; times < 2; ++times) {
        std::vector<comm::pending> exchanges;
        for (auto const& box : boxes) {
            exchanges.push_back(box.exchange(*world));
        }
        for (auto& exchange : exchanges) {
            exchange.wait(patience);
        }
        for (auto const& box : boxes) {
            box.expect_everything();
        }
    }
}

TEST_F(mpi_neighbours, show_each_other_memory) {
    meet();
    ASSERT_GT(all->shown().size(), 1'000u);
    std::ranges::copy(payload(static_cast<std::size_t>(self), 1'000), all->shown().end() - 1'000);
    meet();
    auto const seen = all->shown_by(other);
    EXPECT_EQ(seen.size(), all->shown().size());
    EXPECT_TRUE(std::ranges::equal(seen.last(1'000), payload(static_cast<std::size_t>(other), 1'000)));
    meet();
}

TEST_F(mpi_neighbours, do_not_report_what_a_sender_has_given_up) {
    for (std::size_t round = 0; round < 40; ++round) {
        auto const world = comm::make_mpi(pair->get());
        // Out of what the sender shows, and out of its own memory.
        std::size_t const bytes = round % 2 == 0 ? 900'000 : 2'000'000;
        mailbox box{*world, [bytes](std::size_t from, std::size_t) { return from == 0 ? bytes : 0; }, round};
        if (self == 0) {
            {
                auto given_up = box.exchange(*world);
                for (std::size_t look = 0; look < round; ++look) {
                    static_cast<void>(given_up.ready());
                }
            }
            box.overwrite_sent();
        } else {
            try {
                box.exchange(*world).wait(patience);
                box.expect_everything();
            } catch (comm::error const& error) {
                EXPECT_EQ(error.peer(), world_rank{0});
            }
        }
    }
}

}  // namespace
}  // namespace evenkeel::test::mpi_neighbours_test
