// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/core/topology.hpp>

namespace evenkeel::examples {

/// What can move the bytes in this build: threads, and mpi where it was found.
[[nodiscard]] std::span<std::string_view const> backends() noexcept;

/// Thrown where another process has failed and says why.
struct failed_elsewhere {
    int status = 1;
};

/// The processes that do a job together: this one alone, or all that mpirun has started.
///
///     processes all{argc, argv};
///     all.together([&] { lengths = read(file); });                   // every process has them, or none goes on
///     all.run(cluster, [&](comm::communicator& world) { ... });
class processes {
  public:
    /// This one alone.
    processes() = default;
    /// Starts MPI if the command line asks for `--backend mpi` and this build has it.
    processes(int count, char const* const* arguments);
    processes(processes const&) = delete;
    processes& operator=(processes const&) = delete;
    ~processes();

    [[nodiscard]] std::size_t count() const noexcept { return static_cast<std::size_t>(count_); }
    /// Whether this is the one that prints and writes files.
    [[nodiscard]] bool is_first() const noexcept { return self_ == 0; }

    /// Takes a step that may fail.
    ///
    /// @throws what `step` throws, on the first process where it does; `failed_elsewhere` on all others.
    void together(std::function<void()> const& step) const;

    /// Runs `body` on the ranks of `cluster`, equally many consecutive ones on each process.
    ///
    /// @throws what the first rank of this process to fail has thrown. Where that is a `comm::error`, another rank is
    ///         the cause, and the first process is the one that reports it: the others throw `failed_elsewhere`.
    void run(topology const& cluster, std::function<void(comm::communicator&)> const& body);

  private:
    [[maybe_unused]] bool with_mpi_ = false;
    int count_ = 1;
    int self_ = 0;
    [[maybe_unused]] bool broken_ = false;  ///< a process may have died
};

}  // namespace evenkeel::examples
