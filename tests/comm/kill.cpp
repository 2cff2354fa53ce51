// SPDX-License-Identifier: Apache-2.0
// One of the processes of mpirun is killed before, during or after an exchange. The others write what they have found
// into files of their own, for mpirun does not tell what became of them; kill_test.cmake reads these.
//
//     kill before|during|after neighbours|strangers FOLDER
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <mpi.h>
#include <unistd.h>

#include <evenkeel/comm/error.hpp>
#include <evenkeel/comm/mpi.hpp>

#include "tests/support/payloads.hpp"

namespace {

using namespace evenkeel;
using clock_type = std::chrono::steady_clock;

constexpr world_rank victim{2};
constexpr std::chrono::milliseconds patience{2500};
/// Of each message: so large that none is on its way as a whole.
constexpr std::size_t message_bytes = 4'000'000;

/// What one rank sends to and receives from all others.
class traffic {
  public:
    traffic(world_rank self, world_size ranks, std::size_t round) : self_{to_index(self)}, round_{round} {
        for (std::size_t peer = 0; peer < ranks.value; ++peer) {
            out_.push_back(message(self_, peer));
            in_.push_back(test::untouched_bytes(message_bytes));
        }
        for (std::size_t peer = 0; peer < ranks.value; ++peer) {
            if (peer != self_) {
                sends_.push_back({to_id<world_rank>(peer), out_[peer]});
                receives_.push_back({to_id<world_rank>(peer), in_[peer]});
            }
        }
    }

    [[nodiscard]] comm::pending begin(comm::communicator& world) const { return world.exchange(sends_, receives_); }

    [[nodiscard]] bool has_begun_to_arrive() const {
        auto const has_begun = [](auto const& bytes) { return bytes.front() != test::untouched; };
        return std::ranges::any_of(in_, has_begun);
    }

    [[nodiscard]] bool is_right() const {
        for (std::size_t peer = 0; peer < in_.size(); ++peer) {
            if (peer != self_ && in_[peer] != message(peer, self_)) {
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] std::vector<std::vector<std::byte>> const& arrived() const noexcept { return in_; }

  private:
    [[nodiscard]] std::vector<std::byte> message(std::size_t from, std::size_t to) const {
        return test::payload(100 * from + 10 * to + round_, message_bytes);
    }

    std::size_t self_;
    std::size_t round_;
    std::vector<std::vector<std::byte>> out_;
    std::vector<std::vector<std::byte>> in_;
    std::vector<comm::outgoing> sends_;
    std::vector<comm::incoming> receives_;
};

[[noreturn]] void die() {
    ::kill(::getpid(), SIGKILL);
    std::abort();
}

/// What the victim does instead of the exchange that the others do.
[[noreturn]] void be_killed(std::string_view when, comm::communicator& world, traffic const& traffic) {
    if (when == "before") {
        die();
    }
    auto exchange = traffic.begin(world);
    if (when == "after") {
        exchange.wait(patience);
        die();
    }
    while (!traffic.has_begun_to_arrive()) {
        static_cast<void>(exchange.ready());
    }
    die();
}

/// What `call` throws, if it does.
template <class Call>
void report(std::ofstream& out, std::string_view name, Call call) {
    auto const begun = clock_type::now();
    try {
        call();
        out << name << " ends well\n";
    } catch (comm::error const& error) {
        bool const in_time = clock_type::now() - begun < patience + std::chrono::seconds{2};
        out << name << (in_time ? " fails in time, peer " : " fails late, peer ")
            << (error.peer() ? std::to_string(to_index(*error.peer())) : "unknown") << '\n';
    }
}

void survive(std::ofstream& out, std::unique_ptr<comm::communicator> world, traffic const& traffic) {
    report(out, "exchange", [&] {
        traffic.begin(*world).wait(patience);
        out << (traffic.is_right() ? "right bytes\n" : "wrong bytes\n");
    });
    report(out, "barrier", [&] { world->barrier().wait(patience); });

    auto const then = traffic.arrived();
    auto const begun = clock_type::now();
    world.reset();
    // Whatever is still under way had time to arrive, and MPI to receive it.
    for (int time = 0; time < 20; ++time) {
        int found = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    out << (clock_type::now() - begun < std::chrono::seconds{3} ? "is destroyed in time\n" : "is destroyed late\n");
    out << (traffic.arrived() == then ? "buffers are left alone\n" : "buffers are written to afterwards\n");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        return 2;
    }
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    auto world = comm::make_mpi(MPI_COMM_WORLD, {.meet_neighbours = std::string_view{argv[2]} == "neighbours"});
    auto const self = world->rank();

    // Everybody has met everybody, so that no connection is made at an awkward time.
    traffic const first{self, world->size(), 1};
    first.begin(*world).wait(std::chrono::minutes{1});

    traffic const second{self, world->size(), 2};
    bool const first_is_right = first.is_right();
    // From here on, only the victim is late, however busy the machine is.
    world->barrier().wait(std::chrono::minutes{1});
    if (self == victim) {
        be_killed(argv[1], *world, second);
    }
    std::ofstream out{std::string{argv[3]} + "/" + std::to_string(to_index(self)) + ".txt"};
    out << (first_is_right ? "first exchange is right\n" : "first exchange is wrong\n");
    survive(out, std::move(world), second);
    out.close();
    // Neither MPI_Finalize nor what runs at exit is to be trusted without the victim.
    ::_exit(out ? 0 : 1);
}
