// SPDX-License-Identifier: Apache-2.0
// Runs a pipeline schedule on ranks whose stages sleep as long as they would compute, and says how far the simulation
// was off. `--backend mpi` wants one process for every stage: mpirun -n 4 run_schedule --backend mpi. Pictures and
// traces are of the measured step. `--help` lists the options.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <evenkeel/comm/executor.hpp>
#include <evenkeel/comm/threads.hpp>
#include <evenkeel/pipeline/chrome_trace.hpp>
#include <evenkeel/pipeline/pytorch_csv.hpp>
#include <evenkeel/pipeline/simulate.hpp>

#ifdef EVENKEEL_EXAMPLE_MPI
#include <evenkeel/comm/mpi.hpp>
#endif

#include "support/command_line.hpp"
#include "support/program.hpp"
#include "support/schedule_options.hpp"
#include "support/text.hpp"
#include "support/timeline_plot.hpp"

namespace {

using namespace evenkeel::examples;
using evenkeel::comm::communicator;

#ifdef EVENKEEL_EXAMPLE_MPI
constexpr auto backends = std::array<std::string_view, 2>{"threads", "mpi"};

/// MPI, for as long as it is needed.
struct mpi_session {
    mpi_session() {
        int level = 0;
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
    }
    mpi_session(mpi_session const&) = delete;
    mpi_session& operator=(mpi_session const&) = delete;
    ~mpi_session() { MPI_Finalize(); }
};
#else
constexpr auto backends = std::array<std::string_view, 1>{"threads"};
#endif

/// The others are only simulated.
constexpr auto executed = std::array<std::string_view, 4>{"gpipe", "gpipe_sync", "one_f_one_b", "distmm_pipe"};

/// Takes its time.
class sleeping_stage final : public evenkeel::comm::pipeline_stage {
  public:
    using unit = std::chrono::duration<double, std::milli>;

    sleeping_stage(evenkeel::stage_times times, double sync, double unit_ms)
        : forward_{times.forward * unit_ms}, backward_{times.backward * unit_ms}, sync_{sync * unit_ms} {}

    void forward(std::uint32_t, std::span<std::byte const>, std::span<std::byte>) override {
        std::this_thread::sleep_for(forward_);
    }
    void backward(std::uint32_t, std::span<std::byte const>, std::span<std::byte const>,
                  std::span<std::byte>) override {
        std::this_thread::sleep_for(backward_);
    }
    void interact(std::uint32_t, std::span<std::span<std::byte const> const>, std::span<std::byte>) override {
        std::this_thread::sleep_for(sync_);
    }

  private:
    unit forward_;
    unit backward_;
    unit sync_;
};

struct run_options {
    std::string backend = "threads";
    double unit_ms = 5;
    std::size_t bytes = 65'536;  ///< of a micro-batch
};

/// What all ranks did when, in the simulation's units; the same on every rank.
evenkeel::simulation measure(communicator& world, schedule_options const& options, run_options const& how) {
    constexpr auto patience = std::chrono::minutes{10};
    std::vector<evenkeel::comm::placed_pipeline> placed;
    std::size_t ranks = 0;
    for (auto const& drawn : options.pipelines) {
        auto& own = placed.emplace_back();
        own.schedule = drawn;
        own.boundary_bytes.assign(drawn.stages - 1, how.bytes);
        own.feature_bytes = drawn.group == 0 ? 0 : how.bytes;
        for (std::size_t stage = 0; stage < drawn.stages; ++stage) {
            own.ranks.push_back(evenkeel::to_id<evenkeel::world_rank>(ranks++));
        }
    }
    evenkeel::comm::pipeline_executor executor{world, placed, patience};
    auto const own = executor.own().value();
    auto const& times = options.times[own.pipeline];
    sleeping_stage stage{times.stages[evenkeel::to_index(own.device)], times.sync, how.unit_ms};
    // The first step takes its buffers, the second one is measured.
    executor.run(stage, patience);
    world.barrier().wait(patience);
    executor.run(stage, patience);

    std::vector<std::uint64_t> counts;
    std::size_t total = 0;
    for (auto const& drawn : options.pipelines) {
        for (std::size_t device = 0; device < drawn.devices(); ++device) {
            std::size_t const count = drawn[evenkeel::to_id<evenkeel::device_id>(device)].size();
            counts.push_back(count * sizeof(evenkeel::interval));
            total += count;
        }
    }
    std::vector<evenkeel::interval> all(total);
    world.all_gather(std::as_bytes(executor.last_run()), counts, std::as_writable_bytes(std::span{all})).wait(patience);

    evenkeel::simulation measured;
    auto const units = 1000 / how.unit_ms;
    auto next = all.begin();
    for (auto const& drawn : options.pipelines) {
        auto& line = measured.pipelines.emplace_back();
        line.drawn = evenkeel::fingerprint_of(drawn);
        for (std::size_t device = 0; device < drawn.devices(); ++device) {
            double busy = 0;
            for (auto const& one : drawn[evenkeel::to_id<evenkeel::device_id>(device)]) {
                auto const when = evenkeel::interval{next->start * units, next->end * units};
                ++next;
                line.intervals.push_back(when);
                line.end = std::max(line.end, when.end);
                busy += evenkeel::is_transfer(one.kind) ? 0 : when.length();
            }
            line.busy.push_back(busy);
        }
        measured.end = std::max(measured.end, line.end);
    }
    return measured;
}

struct comparison {
    double simulated = 0;
    double measured = 0;
    double largest_delay = 0;     ///< of any start, in units
    std::size_t pairs = 0;        ///< of instructions that the simulation starts at least half a unit apart
    std::size_t other_order = 0;  ///< of those, how many ran the other way round

    /// Nothing where there is nothing to deviate from.
    [[nodiscard]] std::optional<double> deviation() const noexcept {
        return simulated > 0 ? std::optional{measured / simulated - 1} : std::nullopt;
    }
};

comparison compare(schedule_options const& options, evenkeel::simulation const& simulated,
                   evenkeel::simulation const& measured) {
    comparison result{.simulated = simulated.end, .measured = measured.end};
    std::vector<std::pair<double, double>> starts;
    for (std::size_t number = 0; number < options.pipelines.size(); ++number) {
        auto const& instructions = options.pipelines[number].instructions;
        for (std::size_t position = 0; position < instructions.size(); ++position) {
            if (instructions[position].kind == evenkeel::instruction_kind::forward ||
                instructions[position].kind == evenkeel::instruction_kind::backward) {
                starts.emplace_back(simulated.pipelines[number].intervals[position].start,
                                    measured.pipelines[number].intervals[position].start);
            }
        }
    }
    for (auto const& a : starts) {
        result.largest_delay = std::max(result.largest_delay, a.second - a.first);
        for (auto const& b : starts) {
            if (a.first + 0.5 <= b.first) {
                ++result.pairs;
                result.other_order += a.second < b.second ? 0 : 1;
            }
        }
    }
    return result;
}

bool report(schedule_options const& options, evenkeel::simulation const& simulated,
            evenkeel::simulation const& measured, run_options const& how) {
    auto const result = compare(options, simulated, measured);
    auto const deviation = result.deviation();
    print(
        fmt::format("{}\n\nsimulated  {:.6g} units of {} ms\nmeasured   {:.6g}{}\n"
                    "No instruction started more than {:.3g} units late; {} of {} pairs of instructions that the "
                    "simulation\nstarts half a unit apart or more ran in the other order.\n",
                    headline(options), result.simulated, how.unit_ms, result.measured,
                    deviation ? fmt::format(" ({:+.2f} %)", 100 * *deviation) : "", result.largest_delay,
                    result.other_order, result.pairs));
    if (options.json) {
        options.json->write(
            nlohmann::ordered_json{{"simulated", result.simulated},
                                   {"measured", result.measured},
                                   {"deviation", deviation ? nlohmann::ordered_json(*deviation) : nullptr},
                                   {"largest_delay", result.largest_delay},
                                   {"pairs", result.pairs},
                                   {"other_order", result.other_order}}
                .dump(2) +
            "\n");
    }
    if (options.plot) {
        auto shown = measured;
        for (std::size_t number = 0; number < shown.pipelines.size(); ++number) {
            shown.pipelines[number].peak_in_flight = simulated.pipelines[number].peak_in_flight;
        }
        options.plot->write(
            to_svg({.title = fmt::format("A step of {} ended at {:.6g}", options.schedule, measured.end),
                    .subtitle = headline(options) + ", as measured",
                    .pipelines = options.pipelines,
                    .simulated = shown}));
    }
    if (options.trace) {
        options.trace->write(
            evenkeel::to_chrome_trace(options.pipelines, measured, {.microseconds = 1000 * how.unit_ms}));
    }
    if (options.csv) {
        options.csv->write(evenkeel::to_pytorch_csv(options.pipelines.front()));
    }
    return true;
}

/// Makes the options of `draw_schedule` those of this program.
void adapt(CLI::App& app, run_options& how) {
    app.name("run_schedule");
    app.description("Runs a pipeline schedule on ranks whose stages sleep, and compares it with the simulation.");
    // What only the simulation knows, and what belongs to schedules that are not executed.
    for (auto const* const name : {"--latency", "--chunks", "--weight-gradient"}) {
        app.remove_option(app.get_option(name));
    }
    app.get_option("--schedule")->description(fmt::format("{}", fmt::join(executed, ", ")));
    app.get_option("--json")->description("Write the comparison as JSON");
    app.get_option("--plot")->description("Write the measured step as SVG");
    app.get_option("--trace")->description(
        "Write the measured step for chrome://tracing and ui.perfetto.dev, in real time");
    app.get_option("--csv")->description(
        "Write the schedule that was run as PyTorch's pipelining reads it; batch-syncs are cells as 3S0");
    app.add_option_function<std::string>(
           "--unit-ms",
           [&](std::string const& text) {
               how.unit_ms = static_cast<double>(whole_number("--unit-ms", text, 1, 60'000));
           },
           "How long a unit of time takes")
        ->type_name("MS")
        ->default_str("5");
    add_choice(app, "--backend", backends, fmt::format("What moves the bytes: {}", fmt::join(backends, ", ")),
               [&](std::size_t which) { how.backend = backends[which]; })
        ->default_str(how.backend);
    add_number(app, "--bytes", how.bytes, 0, std::uint64_t{1} << 30u, "What a stage hands to the next per micro-batch");
}

bool run_schedule(int argc, char** argv) {
    auto how = run_options{};
    auto const options = parse_schedule_options(argc, argv, [&](CLI::App& app) { adapt(app, how); });
    if (std::find(executed.begin(), executed.end(), options.schedule) == executed.end()) {
        refuse("--schedule", fmt::format("one that is executed: {}", fmt::join(executed, ", ")), options.schedule);
    }
    auto const simulated = evenkeel::simulate(options.pipelines, options.times);
    std::size_t ranks = 0;
    for (auto const& drawn : options.pipelines) {
        ranks += drawn.stages;
    }
#ifdef EVENKEEL_EXAMPLE_MPI
    if (how.backend == "mpi") {
        mpi_session const session;
        int processes = 0;
        MPI_Comm_size(MPI_COMM_WORLD, &processes);
        if (static_cast<std::size_t>(processes) != ranks) {
            refuse("--backend", fmt::format("{} processes, one for every stage", ranks), fmt::to_string(processes));
        }
        auto const world = evenkeel::comm::make_mpi(MPI_COMM_WORLD);
        auto const measured = measure(*world, options, how);
        return world->rank() != evenkeel::world_rank{0} || report(options, simulated, measured, how);
    }
#endif
    evenkeel::simulation measured;
    evenkeel::comm::run_threads(evenkeel::uniform_topology({ranks}, {ranks}), [&](communicator& world) {
        auto result = measure(world, options, how);
        if (world.rank() == evenkeel::world_rank{0}) {
            measured = std::move(result);
        }
    });
    return report(options, simulated, measured, how);
}

}  // namespace

int main(int argc, char** argv) {
    return run_program("run_schedule", [&] { return run_schedule(argc, argv); });
}
