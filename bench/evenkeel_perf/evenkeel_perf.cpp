// SPDX-License-Identifier: Apache-2.0
// Times exchanges between ranks, algorithm beside algorithm and beside MPI_Alltoallv, in the manner of nccl-tests:
//
//     evenkeel_perf --ranks 8 --ranks-per-node 4 -b 8K -e 8M
//     mpirun -n 8 evenkeel_perf --backend mpi --ranks 8 --algorithm flat,alltoallv
//     evenkeel_perf --backend nccl --ranks 8           (a GPU each; --backend loopback: they share one)
//
// Sizes are bytes per rank, times those of the slowest rank. algbw is size over time, busbw what a link would need
// for that if every rank had one: algbw * (ranks - 1) / ranks. Every byte of the first exchange of each subject is
// checked, outside the time. Beside MPI_Alltoallv each is also told as a ratio, the median over the rounds.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <evenkeel/comm/hierarchy.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/rearrange/links.hpp>

#include "devices.hpp"
#include "examples/support/command_line.hpp"
#include "examples/support/input_error.hpp"
#include "examples/support/json_text.hpp"
#include "examples/support/processes.hpp"
#include "examples/support/program.hpp"
#include "options.hpp"
#include "packing.hpp"
#include "subjects.hpp"
#include "workload.hpp"

namespace {

using namespace evenkeel;
using namespace evenkeel::perf;

/// What the links carry per exchange, by the prediction.
nlohmann::ordered_json carried(pair_traffic const& all, topology const& nodes, exchange_algorithm algorithm) {
    auto const way = predict(all, nodes, algorithm);
    nlohmann::ordered_json result;
    result["busiest_rank_between"] = way.busiest_between();
    result["busiest_node"] = way.busiest_node();
    result["sent_by_nodes"] = way.sent_by_nodes;
    result["received_by_nodes"] = way.received_by_nodes;
    std::vector<std::uint64_t> sent;
    std::vector<std::uint64_t> received;
    for (auto const& rank : way.of_ranks) {
        sent.push_back(rank.sent_between);
        received.push_back(rank.received_between);
    }
    result["sent_by_ranks"] = sent;
    result["received_by_ranks"] = received;
    return result;
}

exchange_algorithm algorithm_of(std::string const& name) {
    return name == "two_hop"  ? exchange_algorithm::two_hop
           : name == "spread" ? exchange_algorithm::spread
                              : exchange_algorithm::flat;
}

void print_head(link_costs const& costs, perf::options const& options) {
    examples::print(
        fmt::format("# {} ranks, {} per node, backend {}; links: {} ns per message inside, {} between and {} per hop, "
                    "{} ps per byte inside, {} between, {} cards per node, {} % longer in a crowd\n"
                    "#{:>13} {:>10} {:>20} {:>12} {:>9} {:>9} {:>7}\n",
                    options.ranks, options.ranks_per_node, options.backend, costs.inside_ns_per_message,
                    costs.between_ns_per_message, costs.between_ns_per_hop, costs.inside_ps_per_byte,
                    costs.between_ps_per_byte, costs.cards_per_node, costs.crowding_percent, "size(B)", "messages",
                    "algorithm", "time(us)", "algbw", "busbw", "#wrong"));
}

/// What one exchange took by each subject: prints it and adds it to `json`. @return how many bytes were wrong
std::uint64_t report(pair_traffic const& row, topology const& nodes, std::vector<timing> const& timings,
                     perf::options const& options, nlohmann::ordered_json& json) {
    bool const equal = !options.matrix && !options.lengths;
    auto const size = size_of(row, equal);
    auto const rival = std::ranges::find(timings, "alltoallv", &timing::subject);
    double const share = equal ? static_cast<double>(options.ranks - 1) / static_cast<double>(options.ranks) : 1;
    std::uint64_t wrong = 0;
    for (auto const& one : timings) {
        double const gigabytes = static_cast<double>(size) / one.median() / 1e9;
        auto const name = one.subject == one.algorithm ? one.subject : fmt::format("{}={}", one.subject, one.algorithm);
        examples::print(fmt::format("{:>14} {:>10} {:>20} {:>12.1f} {:>9.3f} {:>9.3f} {:>7}\n", size, row.pairs.size(),
                                    name, one.median() * 1e6, gigabytes, gigabytes * share,
                                    options.check ? fmt::to_string(one.wrong) : "n/a"));
        if (rival != timings.end() && one.subject != rival->subject) {
            examples::print(fmt::format("# {} / {}: {:.3f}, the median of {} rounds\n", one.subject, rival->subject,
                                        one.over(*rival), one.seconds.size()));
        }
        wrong += one.wrong;
        json.push_back({{"size", size},
                        {"algorithm", one.subject},
                        {"chosen", one.algorithm},
                        {"backend", options.backend},
                        {"ranks", options.ranks},
                        {"ranks_per_node", options.ranks_per_node},
                        {"seconds", one.median()},
                        {"rounds", one.seconds},
                        {"exchanges", std::max<std::size_t>(options.warmup, 1) + options.rounds * options.iterations},
                        {"algbw", gigabytes},
                        {"busbw", gigabytes * share},
                        {"wrong", one.wrong},
                        {"links", carried(row, nodes, algorithm_of(one.algorithm))}});
    }
    return wrong;
}

bool run(examples::processes& all, perf::options const& options) {
    if (options.pack) {
        examples::print(time_packing(*options.pack, options.rounds));
        return true;
    }
    std::vector<pair_traffic> rows;
    all.together([&] {
        if (options.backend == "mpi" && options.ranks != all.count()) {
            examples::refuse("--ranks", fmt::format("one for each of the {} processes", all.count()),
                             fmt::to_string(options.ranks));
        }
        rows = workloads(options);
    });
    auto const nodes = uniform_topology(world_size{options.ranks}, node_size{options.ranks_per_node});
    auto json = nlohmann::ordered_json::array();
    std::uint64_t wrong = 0;
    auto const body = [&](comm::communicator& world) {
        comm::hierarchy ways{world, std::chrono::seconds{60}};
        if (options.measure) {
            ways.measure(std::chrono::seconds{60});
        }
        bool const prints = world.rank() == world_rank{0};
        if (prints) {
            print_head(ways.costs(), options);
        }
        for (auto const& row : rows) {
            auto const timings = time_exchange(world, ways, row, options);
            if (prints) {
                wrong += report(row, nodes, timings, options, json);
            }
        }
    };
    if (std::ranges::find(device_backends(), options.backend) != device_backends().end()) {
        run_on_devices(options.backend, nodes, body);
    } else {
        all.run(nodes, body);
    }
    if (!all.is_first()) {
        return true;
    }
    examples::print(options.check ? fmt::format("# wrong bytes: {}\n", wrong) : "# bytes were not checked\n");
    if (options.json) {
        options.json->write(examples::json_text(json));
    }
    return wrong == 0;
}

}  // namespace

int main(int argc, char** argv) {
    examples::processes all{argc, argv};
    return examples::run_program("evenkeel_perf", [&] {
        perf::options options;
        all.together([&] { options = parse_options(argc, argv); });
        return run(all, options);
    });
}
