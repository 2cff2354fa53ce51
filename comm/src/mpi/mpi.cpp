// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/comm/error.hpp>
#include <evenkeel/comm/mpi.hpp>
#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/fingerprint.hpp>

#include "../run_ranks.hpp"
#include "communicator.hpp"
#include "hub.hpp"
#include "post.hpp"
#include "process.hpp"

namespace evenkeel::comm {

namespace {

constexpr std::size_t most_piece_bytes = std::size_t{1} << 30U;

/// A communicator that goes away unless somebody takes it.
class owned_comm {
  public:
    owned_comm() = default;
    owned_comm(owned_comm const&) = delete;
    owned_comm& operator=(owned_comm const&) = delete;
    ~owned_comm() {
        if (comm_ != MPI_COMM_NULL) {
            MPI_Comm_free(&comm_);
        }
    }

    [[nodiscard]] MPI_Comm* out() noexcept { return &comm_; }
    [[nodiscard]] MPI_Comm get() const noexcept { return comm_; }
    [[nodiscard]] MPI_Comm release() noexcept { return std::exchange(comm_, MPI_COMM_NULL); }

  private:
    MPI_Comm comm_ = MPI_COMM_NULL;
};

/// What must hold before MPI can be asked for anything.
void require_running(std::string_view function, MPI_Comm processes) {
    int flag = 0;
    mpi::require_success(MPI_Initialized(&flag), "MPI_Initialized");
    if (flag == 0) {
        throw_invalid(function, "MPI", "not initialised", "MPI_Init_thread to be called before");
    }
    mpi::require_success(MPI_Finalized(&flag), "MPI_Finalized");
    if (flag != 0) {
        throw_invalid(function, "MPI", "finalised", "MPI_Finalize to be called after the last communicator is gone");
    }
    if (processes == MPI_COMM_NULL) {
        throw_invalid(function, "processes", "MPI_COMM_NULL", "a communicator");
    }
    mpi::require_success(MPI_Comm_test_inter(processes, &flag), "MPI_Comm_test_inter");
    if (flag != 0) {
        throw_invalid(function, "processes", "an intercommunicator", "processes of one group");
    }
}

std::string_view level_name(int level) {
    switch (level) {
        case MPI_THREAD_SINGLE: return "MPI_THREAD_SINGLE";
        case MPI_THREAD_FUNNELED: return "MPI_THREAD_FUNNELED";
        case MPI_THREAD_SERIALIZED: return "MPI_THREAD_SERIALIZED";
        default: return "MPI_THREAD_MULTIPLE";
    }
}

void require_thread_level(std::string_view function, int least, std::string_view why) {
    int level = MPI_THREAD_SINGLE;
    mpi::require_success(MPI_Query_thread(&level), "MPI_Query_thread");
    if (level < least) {
        throw_invalid(function, "the thread level of MPI", level_name(level),
                      std::string{"at least "}.append(level_name(least)).append(why));
    }
}

void require_options(std::string_view function, mpi_options const& options) {
    if (options.piece_bytes == 0 || options.piece_bytes > most_piece_bytes) {
        throw_invalid(function, "options.piece_bytes", options.piece_bytes,
                      "from 1 to " + std::to_string(most_piece_bytes));
    }
}

/// Collective. What `check` throws is thrown, and the other processes hear of it; all must pass the same nodes.
template <class Check>
void require_alike(std::string_view function, MPI_Comm processes, topology const& nodes, Check check) {
    struct {
        std::uint64_t nodes = 0;
        std::uint64_t refused = 0;
    } mine;
    std::exception_ptr refusal;
    try {
        check();
        fingerprint all;
        for (auto const node : nodes.nodes_of_ranks) {
            all.add(std::uint64_t{to_index(node)});
        }
        mine.nodes = all.value();
    } catch (...) {
        refusal = std::current_exception();
        mine.refused = 1;
    }
    int self = 0;
    int count = 0;
    mpi::require_success(MPI_Comm_rank(processes, &self), "MPI_Comm_rank");
    mpi::require_success(MPI_Comm_size(processes, &count), "MPI_Comm_size");
    std::vector<decltype(mine)> all(static_cast<std::size_t>(count));
    mpi::require_success(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, processes),
                         "MPI_Allgather");
    if (refusal != nullptr) {
        std::rethrow_exception(refusal);
    }
    for (std::size_t process = 0; process < all.size(); ++process) {
        bool const refused = all[process].refused != 0;
        if (refused || all[process].nodes != all.front().nodes) {
            auto const name = "process " + std::to_string(process);
            throw error{function, to_id<world_rank>(static_cast<std::size_t>(self)), std::nullopt,
                        refused ? name + " refused its arguments" : name + " passes other nodes than process 0"};
        }
    }
}

/// Collective: the ranks of this process.
std::vector<std::unique_ptr<communicator>> make_ranks(std::string_view function, MPI_Comm processes,
                                                      topology const& nodes, mpi_options const& options,
                                                      bool several_ranks) {
    require_running(function, processes);
    owned_comm duplicate;
    mpi::require_success(MPI_Comm_dup(processes, duplicate.out()), "MPI_Comm_dup");
    mpi::require_success(MPI_Comm_set_errhandler(duplicate.get(), MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    int count = 0;
    mpi::require_success(MPI_Comm_size(duplicate.get(), &count), "MPI_Comm_size");
    require_alike(function, duplicate.get(), nodes, [&] {
        require_options(function, options);
        auto const ranks = nodes.size().value;
        auto const across = static_cast<std::size_t>(count);
        bool const fits = several_ranks ? ranks != 0 && ranks % across == 0 : ranks == across;
        if (!fits) {
            throw_invalid(function, "nodes.size()", ranks,
                          (several_ranks ? "a multiple of the " : "one rank for each of the ") + std::to_string(count) +
                              " processes");
        }
        if (ranks == across) {
            require_thread_level(function, MPI_THREAD_SERIALIZED, "");
        } else {
            require_thread_level(function, MPI_THREAD_MULTIPLE, " for several ranks per process");
        }
    });

    auto const process =
        std::make_shared<mpi::process>(duplicate.release(), options.piece_bytes, options.meet_neighbours);
    auto const hub = process->root(nodes);
    std::vector<std::unique_ptr<communicator>> ranks;
    for (auto const rank : hub->ranks_here()) {
        ranks.push_back(std::make_unique<mpi::rank_communicator>(rank, hub));
    }
    return ranks;
}

/// Collective: which of `processes` share memory.
topology nodes_of(MPI_Comm processes) {
    int self = 0;
    int count = 0;
    mpi::require_success(MPI_Comm_rank(processes, &self), "MPI_Comm_rank");
    mpi::require_success(MPI_Comm_size(processes, &count), "MPI_Comm_size");
    owned_comm node;
    mpi::require_success(MPI_Comm_split_type(processes, MPI_COMM_TYPE_SHARED, self, MPI_INFO_NULL, node.out()),
                         "MPI_Comm_split_type");
    // The first process of a node stands for it.
    int first = self;
    mpi::require_success(MPI_Bcast(&first, 1, MPI_INT, 0, node.get()), "MPI_Bcast");
    std::vector<int> firsts(static_cast<std::size_t>(count));
    mpi::require_success(MPI_Allgather(&first, 1, MPI_INT, firsts.data(), 1, MPI_INT, processes), "MPI_Allgather");

    auto distinct = firsts;
    std::ranges::sort(distinct);
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    topology nodes;
    for (int const one : firsts) {
        auto const node_number = std::ranges::lower_bound(distinct, one) - distinct.begin();
        nodes.nodes_of_ranks.push_back(to_id<node_id>(static_cast<std::size_t>(node_number)));
    }
    return nodes;
}

}  // namespace

std::unique_ptr<communicator> make_mpi(MPI_Comm processes, mpi_options options) {
    require_running("make_mpi", processes);
    return make_mpi(processes, nodes_of(processes), options);
}

std::unique_ptr<communicator> make_mpi(MPI_Comm processes, topology const& nodes, mpi_options options) {
    return std::move(make_ranks("make_mpi", processes, nodes, options, false).front());
}

void run_mpi(MPI_Comm processes, topology const& nodes, std::function<void(communicator&)> const& body,
             mpi_options options) {
    require_body("run_mpi", body);
    run_ranks(make_ranks("run_mpi", processes, nodes, options, true), body);
}

}  // namespace evenkeel::comm
