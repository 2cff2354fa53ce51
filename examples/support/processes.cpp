// SPDX-License-Identifier: Apache-2.0
#include "processes.hpp"

#include <array>
#include <chrono>
#include <exception>
#include <string>
#include <thread>

#include <evenkeel/comm/error.hpp>
#include <evenkeel/comm/threads.hpp>

#include "command_line.hpp"
#include "input_error.hpp"

#ifdef EVENKEEL_EXAMPLES_WITH_MPI
#include <evenkeel/comm/mpi.hpp>
#endif

namespace evenkeel::examples {
namespace {

#ifdef EVENKEEL_EXAMPLES_WITH_MPI
constexpr auto names = std::array<std::string_view, 2>{"threads", "mpi"};
#else
constexpr auto names = std::array<std::string_view, 1>{"threads"};
#endif

}  // namespace

std::span<std::string_view const> backends() noexcept { return names; }

#ifdef EVENKEEL_EXAMPLES_WITH_MPI
namespace {

/// Before the command line is read, so that one process alone can say what is wrong with it.
bool asks_for_mpi(int count, char const* const* arguments) {
    auto backend = std::string_view{};
    for (auto a = 1; a < count; ++a) {
        auto const word = std::string_view{arguments[a]};
        if (word == "--backend" && a + 1 < count) {
            backend = arguments[a + 1];
        } else if (word.starts_with("--backend=")) {
            backend = word.substr(word.find('=') + 1);
        }
    }
    return backend == "mpi";
}

int status_of(std::exception_ptr const& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (help_wanted const&) {
        return 0;
    } catch (input_error const&) {
        return 2;
    } catch (...) {
        return 1;
    }
}

/// Whether all processes have come here, or come soon.
bool all_are_here() {
    using namespace std::chrono_literals;
    auto request = MPI_Request{};
    auto complete = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (auto const begun = std::chrono::steady_clock::now();
         complete == 0 && std::chrono::steady_clock::now() - begun < 5s; std::this_thread::sleep_for(1ms)) {
        MPI_Test(&request, &complete, MPI_STATUS_IGNORE);
    }
    return complete != 0;
}

}  // namespace

processes::processes(int count, char const* const* arguments) : with_mpi_{asks_for_mpi(count, arguments)} {
    if (with_mpi_) {
        auto level = 0;
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
        MPI_Comm_size(MPI_COMM_WORLD, &count_);
        MPI_Comm_rank(MPI_COMM_WORLD, &self_);
    }
}

processes::~processes() {
    if (!with_mpi_) {
        return;
    }
    if (broken_ && !all_are_here()) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
}

void processes::together(std::function<void()> const& step) const {
    auto failure = std::exception_ptr{};
    try {
        step();
    } catch (...) {
        failure = std::current_exception();
    }
    if (with_mpi_) {
        auto const mine = failure != nullptr ? self_ : count_;
        auto first = mine;
        MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        if (first == count_) {
            return;
        }
        auto status = first == self_ ? status_of(failure) : 0;
        MPI_Bcast(&status, 1, MPI_INT, first, MPI_COMM_WORLD);
        if (first != self_) {
            throw failed_elsewhere{status};
        }
    }
    if (failure != nullptr) {
        std::rethrow_exception(failure);
    }
}

void processes::run(topology const& cluster, std::function<void(comm::communicator&)> const& body) {
    if (!with_mpi_) {
        comm::run_threads(cluster, body);
        return;
    }
    broken_ = true;
    try {
        comm::run_mpi(MPI_COMM_WORLD, cluster, body);
    } catch (comm::error const&) {
        if (is_first()) {
            throw;
        }
        throw failed_elsewhere{};
    }
    broken_ = false;
}
#else
processes::processes(int, char const* const*) {}

processes::~processes() = default;

void processes::together(std::function<void()> const& step) const { step(); }

void processes::run(topology const& cluster, std::function<void(comm::communicator&)> const& body) {
    comm::run_threads(cluster, body);
}
#endif

}  // namespace evenkeel::examples
