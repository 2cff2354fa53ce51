// SPDX-License-Identifier: Apache-2.0
// Trains a small contrastive model of two towers in libtorch, each tower a pipeline whose stages are ranks: DistMM-Pipe
// with batch-syncs, in double precision. The same model is trained in one process, too; exit status 1 where a loss or a
// gradient differs.
// `--help` lists the options. Needs libtorch: `cmake/bootstrap.sh --torch` installs it.
//
//     train_two_towers                                                  # ranks are threads
//     mpirun -n 4 train_two_towers --backend mpi                        # or processes
//     mpirun -n 4 train_two_towers --backend mpi --stages 1,3
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/torch.h>

#include <evenkeel/comm/executor.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/parallel/stages.hpp>
#include <evenkeel/pipeline/distmm_pipe.hpp>

#include "support/command_line.hpp"
#include "support/processes.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace {

using namespace evenkeel::examples;
using torch::Tensor;

constexpr auto patience = std::chrono::minutes{10};
constexpr double tolerance = 1e-9;

/// Samples that are contrasted with each other, and in a step.
constexpr std::size_t contrastive_batch = 32;
constexpr std::size_t samples_per_step = 2 * contrastive_batch;
constexpr std::int64_t features = 16;

struct tower_shape {
    std::int64_t inputs = 0;
    std::int64_t width = 0;
    std::size_t linear_layers = 0;
    std::size_t micro_batch = 0;
};
constexpr auto shapes = std::array{tower_shape{.inputs = 64, .width = 32, .linear_layers = 4, .micro_batch = 8},
                                   tower_shape{.inputs = 108, .width = 48, .linear_layers = 6, .micro_batch = 4}};
constexpr auto names = std::array{"text", "image"};

/// Two towers and the scale of their similarities. The same in every process, as its random numbers are.
struct two_towers {
    std::array<torch::nn::Sequential, 2> towers;
    Tensor log_scale = torch::full({}, 2.0, torch::kFloat64);

    two_towers() {
        torch::manual_seed(1);
        for (std::size_t one = 0; one < towers.size(); ++one) {
            auto const& shape = shapes[one];
            for (std::size_t layer = 1; layer <= shape.linear_layers; ++layer) {
                bool const is_last = layer == shape.linear_layers;
                torch::nn::Linear const linear{layer == 1 ? shape.inputs : shape.width,
                                               is_last ? features : shape.width};
                torch::nn::init::kaiming_normal_(linear->weight);
                torch::nn::init::zeros_(linear->bias);
                towers[one]->push_back(linear);
                if (is_last) {
                    towers[one]->push_back(torch::nn::Functional(
                        [](Tensor const& raw) { return raw / raw.norm(2, std::vector<std::int64_t>{1}, true); }));
                } else {
                    towers[one]->push_back(torch::nn::GELU());
                }
            }
            towers[one]->to(torch::kFloat64);
        }
        log_scale.requires_grad_();
    }
};

/// What each tower sees of the samples of each step: two views of the same hidden thing.
std::vector<std::array<Tensor, 2>> draw_samples(std::size_t steps) {
    torch::manual_seed(2);
    constexpr std::int64_t hidden = 8;
    auto const random = [](std::int64_t rows, std::int64_t columns) {
        return torch::randn({rows, columns}, torch::kFloat64);
    };
    auto const words = random(hidden, shapes[0].inputs);
    auto const pixels = random(hidden, shapes[1].inputs);
    std::vector<std::array<Tensor, 2>> drawn;
    for (std::size_t step = 0; step < steps; ++step) {
        auto const samples = static_cast<std::int64_t>(samples_per_step);
        auto const what = random(samples, hidden);
        // How often each word comes; brightness, with noise.
        drawn.push_back({what.mm(words).relu().round(), what.mm(pixels) + random(samples, shapes[1].inputs) / 4});
    }
    return drawn;
}

/// CLIP's: every sample is to be found among all by its features in the other modality, in both directions.
Tensor contrastive_loss(std::array<Tensor, 2> const& of, Tensor const& log_scale) {
    auto const similarities = of[0].mm(of[1].t()) * log_scale.exp();
    auto const own = torch::arange(similarities.size(0));
    auto const loss = torch::cross_entropy_loss(similarities, own) + torch::cross_entropy_loss(similarities.t(), own);
    constexpr double batches = samples_per_step / contrastive_batch;
    return loss / (2 * batches);
}

torch::optim::SGD optimizer_of(std::vector<Tensor> parameters) {
    return torch::optim::SGD{std::move(parameters), torch::optim::SGDOptions(0.05).momentum(0.9)};
}

Tensor rows(Tensor const& all, std::size_t first, std::size_t count) {
    return all.narrow(0, static_cast<std::int64_t>(first), static_cast<std::int64_t>(count));
}

/// What a step left behind.
struct trained_step {
    double loss = 0;
    std::array<std::vector<std::vector<Tensor>>, 2> gradients = {};  ///< per tower, module and parameter
    Tensor scale_gradient = {};
};

/// Trains all of it in this process, contrastive batch by contrastive batch.
std::vector<trained_step> train_alone(two_towers const& model, std::vector<std::array<Tensor, 2>> const& samples) {
    std::array<std::vector<torch::nn::AnyModule>, 2> towers;
    auto const log_scale = model.log_scale.detach().clone().requires_grad_();
    std::vector<Tensor> parameters{log_scale};
    for (std::size_t one = 0; one < towers.size(); ++one) {
        for (auto const& module : *model.towers[one]) {
            towers[one].push_back(module.clone());
            auto const own = towers[one].back().ptr()->parameters();
            parameters.insert(parameters.end(), own.begin(), own.end());
        }
    }
    auto optimizer = optimizer_of(parameters);
    std::vector<trained_step> steps;
    for (auto const& drawn : samples) {
        optimizer.zero_grad();
        auto& step = steps.emplace_back();
        for (std::size_t first = 0; first < samples_per_step; first += contrastive_batch) {
            std::array<Tensor, 2> through;
            for (std::size_t one = 0; one < towers.size(); ++one) {
                through[one] = rows(drawn[one], first, contrastive_batch);
                for (auto& module : towers[one]) {
                    through[one] = module.forward(through[one]);
                }
            }
            auto const loss = contrastive_loss(through, log_scale);
            loss.backward();
            step.loss += loss.item<double>();
        }
        for (std::size_t one = 0; one < towers.size(); ++one) {
            for (auto const& module : towers[one]) {
                auto& own = step.gradients[one].emplace_back();
                for (auto const& parameter : module.ptr()->parameters()) {
                    own.push_back(parameter.grad().clone());
                }
            }
        }
        step.scale_gradient = log_scale.grad().clone();
        optimizer.step();
    }
    return steps;
}

/// Where a tower is cut, and what goes over each cut.
struct cut_tower {
    std::vector<std::size_t> starts = {};  ///< of the stages, and the number of modules
    std::vector<std::size_t> boundary_bytes = {};
};

cut_tower cut(two_towers const& model, std::size_t one, std::size_t stages) {
    std::vector<std::uint64_t> weights;
    std::vector<std::size_t> widths;
    auto through = torch::zeros({1, shapes[one].inputs}, torch::kFloat64);
    for (auto const& module : *model.towers[one]) {
        std::uint64_t parameters = 0;
        for (auto const& parameter : module.ptr()->parameters()) {
            parameters += static_cast<std::uint64_t>(parameter.numel());
        }
        weights.push_back(parameters);
        through = module.clone().forward(through);
        widths.push_back(static_cast<std::size_t>(through.size(1)));
    }
    cut_tower result{.starts = evenkeel::split_layers(weights, stages)};
    for (std::size_t stage = 1; stage < stages; ++stage) {
        result.boundary_bytes.push_back(shapes[one].micro_batch * widths[result.starts[stage] - 1] * sizeof(double));
    }
    return result;
}

/// The executor's bytes as a tensor, without a copy.
Tensor tensor_of(std::span<std::byte const> bytes, std::size_t samples) {
    // libtorch has no tensors of constants.
    auto* const data = const_cast<std::byte*>(bytes.data());
    auto const count = static_cast<std::int64_t>(bytes.size() / sizeof(double));
    auto const own = static_cast<std::int64_t>(samples);
    return torch::from_blob(data, {own, count / own}, torch::kFloat64);
}

void put(Tensor const& values, std::span<std::byte> bytes) {
    auto const whole = values.detach().contiguous();
    TORCH_CHECK(whole.nbytes() == bytes.size(), whole.nbytes(), " bytes for a buffer of ", bytes.size());
    std::memcpy(bytes.data(), whole.data_ptr(), bytes.size());
}

/// Some consecutive modules of a tower as a stage of its pipeline; the last one has the interaction, too.
class tower_stage final : public evenkeel::comm::pipeline_stage {
  public:
    tower_stage(two_towers const& model, std::size_t tower, std::size_t first, std::size_t last)
        : tower_{tower}, is_last_{last == model.towers[tower]->size()} {
        for (std::size_t at = first; at < last; ++at) {
            modules.push_back((model.towers[tower]->begin() + static_cast<std::ptrdiff_t>(at))->clone());
        }
        log_scale = model.log_scale.detach().clone().requires_grad_();
    }

    void forward(std::uint32_t number, std::span<std::byte const> input, std::span<std::byte> output) override {
        auto const samples = shapes[tower_].micro_batch;
        // Nobody asks for the gradient of the samples themselves.
        auto& kept = kept_[number];
        kept.input =
            input.empty() ? rows(samples_, number * samples, samples) : tensor_of(input, samples).requires_grad_();
        kept.output = kept.input;
        for (auto& module : modules) {
            kept.output = module.forward(kept.output);
        }
        put(kept.output, output);
    }

    void backward(std::uint32_t number, std::span<std::byte const>, std::span<std::byte const> output_gradient,
                  std::span<std::byte> input_gradient) override {
        auto const kept = std::move(kept_.extract(number).mapped());
        kept.output.backward(tensor_of(output_gradient, shapes[tower_].micro_batch));
        if (!input_gradient.empty()) {
            put(kept.input.grad(), input_gradient);
        }
    }

    void interact(std::uint32_t, std::span<std::span<std::byte const> const> gathered,
                  std::span<std::byte> gradient) override {
        std::array<Tensor, 2> of;
        for (std::size_t one = 0; one < of.size(); ++one) {
            of[one] = tensor_of(gathered[one], contrastive_batch).requires_grad_();
        }
        auto const batch_loss = contrastive_loss(of, log_scale);
        batch_loss.backward();
        loss += batch_loss.item<double>();
        put(of[tower_].grad(), gradient);
    }

    void begin_step(Tensor const& samples) {
        samples_ = samples;
        loss = 0;
    }

    [[nodiscard]] std::vector<Tensor> parameters() const {
        std::vector<Tensor> all;
        for (auto const& module : modules) {
            auto const own = module.ptr()->parameters();
            all.insert(all.end(), own.begin(), own.end());
        }
        if (is_last_) {
            all.push_back(log_scale);
        }
        return all;
    }

    std::vector<torch::nn::AnyModule> modules;
    Tensor log_scale;  ///< every last stage has it and computes the same gradient
    double loss = 0;

  private:
    /// What backward needs of forward.
    struct kept_pass {
        Tensor input;
        Tensor output;
    };

    std::size_t tower_;
    bool is_last_;
    Tensor samples_;
    std::map<std::uint32_t, kept_pass> kept_;
};

/// How far apart, relative to the largest entry of what was expected. Infinitely, where something is not a number.
double difference(Tensor const& found, Tensor const& expected) {
    double const scale = expected.abs().max().item<double>();
    double const apart = (found - expected).abs().max().item<double>();
    if (!std::isfinite(apart)) {
        return std::numeric_limits<double>::infinity();
    }
    return scale == 0 ? apart : apart / scale;
}

/// What a rank has to say of a step.
struct comparison {
    double loss = 0;
    double difference = 0;  ///< the largest of any gradient, and of the loss where it is known
};

struct job {
    two_towers model;
    std::vector<std::array<Tensor, 2>> samples;
    std::vector<trained_step> alone;
    std::vector<cut_tower> cuts;
    std::vector<evenkeel::comm::placed_pipeline> pipelines;
    std::size_t ranks = 0;

    job(std::span<std::size_t const> stages, std::size_t steps)
        : samples{draw_samples(steps)}, alone{train_alone(model, samples)} {
        for (std::size_t one = 0; one < stages.size(); ++one) {
            cuts.push_back(cut(model, one, stages[one]));
            auto const micro_batch = shapes[one].micro_batch;
            evenkeel::comm::placed_pipeline placed{
                .schedule = evenkeel::distmm_pipe({stages[one]}, {samples_per_step / micro_batch},
                                                  {contrastive_batch / micro_batch}),
                .boundary_bytes = cuts.back().boundary_bytes,
                .feature_bytes = micro_batch * static_cast<std::size_t>(features) * sizeof(double)};
            for (std::size_t stage = 0; stage < stages[one]; ++stage) {
                placed.ranks.push_back(evenkeel::to_id<evenkeel::world_rank>(ranks++));
            }
            pipelines.push_back(std::move(placed));
        }
    }
};

/// Trains this rank's stage, and compares it with the same part of the model that one process has trained.
std::vector<comparison> train_stage(evenkeel::comm::communicator& world, job const& job) {
    // Ranks share the processors.
    at::set_num_threads(1);
    evenkeel::comm::pipeline_executor executor{world, job.pipelines, patience};
    auto const own = executor.own().value();
    auto const& starts = job.cuts[own.pipeline].starts;
    std::size_t const first = starts[evenkeel::to_index(own.device)];
    tower_stage stage{job.model, own.pipeline, first, starts[evenkeel::to_index(own.device) + 1]};
    bool const has_loss = evenkeel::to_index(own.device) + 2 == starts.size();

    auto optimizer = optimizer_of(stage.parameters());
    std::vector<comparison> compared;
    for (std::size_t step = 0; step < job.samples.size(); ++step) {
        optimizer.zero_grad();
        stage.begin_step(job.samples[step][own.pipeline]);
        executor.run(stage, patience);

        auto const& expected = job.alone[step];
        auto& result = compared.emplace_back(comparison{.loss = stage.loss});
        auto const compare = [&](Tensor const& found, Tensor const& wanted) {
            result.difference = std::max(result.difference, difference(found, wanted));
        };
        for (std::size_t at = 0; at < stage.modules.size(); ++at) {
            auto const parameters = stage.modules[at].ptr()->parameters();
            for (std::size_t number = 0; number < parameters.size(); ++number) {
                compare(parameters[number].grad(), expected.gradients[own.pipeline][first + at][number]);
            }
        }
        if (has_loss) {
            compare(stage.log_scale.grad(), expected.scale_gradient);
            compare(torch::full({}, stage.loss, torch::kFloat64), torch::full({}, expected.loss, torch::kFloat64));
        }
        optimizer.step();
    }
    return compared;
}

/// @return  whether everything is as it is in one process
bool report(job const& job, std::string const& backend, std::span<comparison const> of_all_ranks) {
    std::size_t const steps = job.samples.size();
    auto const stages = [&](std::size_t one) { return job.pipelines[one].ranks.size(); };
    auto text = fmt::format(
        "Two towers on {} ranks ({}): {} in {} stages, {} in {}.\nA step has {} samples, contrasted {} at once.\n\n"
        "step  loss      in one process  largest difference\n",
        job.ranks, backend, names[0], stages(0), names[1], stages(1), samples_per_step, contrastive_batch);
    bool is_equal = true;
    for (std::size_t step = 0; step < steps; ++step) {
        double largest = 0;
        for (std::size_t rank = 0; rank < job.ranks; ++rank) {
            auto const one = of_all_ranks[rank * steps + step].difference;
            is_equal = is_equal && one <= tolerance;
            largest = std::max(largest, one);
        }
        double const loss = of_all_ranks[(stages(0) - 1) * steps + step].loss;
        text += fmt::format("{:4}  {:.6f}  {:14.6f}  {:18.1e}\n", step + 1, loss, job.alone[step].loss, largest);
    }
    print(text + fmt::format("\nLosses and gradients {}: {} entry is off by more than {:.0e} of the largest of its "
                             "tensor.\n",
                             is_equal ? "equal those of one process" : "DIFFER from those of one process",
                             is_equal ? "no" : "some", tolerance));
    return is_equal;
}

struct train_options {
    std::string backend = "threads";
    std::vector<std::size_t> stages = {2, 2};
    std::size_t steps = 10;
};

train_options parse_options(int argc, char** argv, std::size_t processes) {
    train_options result;
    CLI::App app{"Trains two towers with pipelines on ranks, and compares them with one process.", "train_two_towers"};
    app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    add_choice(app, "--backend", backends(), fmt::format("What moves the bytes: {}", fmt::join(backends(), ", ")),
               [&](std::size_t which) { result.backend = backends()[which]; })
        ->default_str(result.backend);
    app.add_option_function<std::string>(
           "--stages",
           [&](std::string const& text) {
               auto const comma = text.find(',');
               if (comma == text.npos) {
                   refuse("--stages", "two numbers, such as 2,2", in_quotes(text));
               }
               result.stages = {
                   whole_number("--stages", text.substr(0, comma), 1, shapes[0].linear_layers),
                   whole_number("--stages", text.substr(comma + 1), 1, shapes[1].linear_layers),
               };
           },
           "Of the text and the image tower; as many ranks")
        ->type_name("TEXT,IMAGE")
        ->default_str("2,2");
    add_number(app, "--steps", result.steps, 1, 10'000, "How long to train");
    parse(app, argc, argv);
    std::size_t const ranks = result.stages[0] + result.stages[1];
    if (ranks % processes != 0) {
        refuse("--stages", fmt::format("a multiple of the {} processes, all together", processes),
               fmt::to_string(ranks));
    }
    return result;
}

bool train_two_towers(processes& all, int argc, char** argv) {
    train_options options;
    all.together([&] { options = parse_options(argc, argv, all.count()); });
    at::set_num_threads(1);
    job const own{options.stages, options.steps};

    bool is_equal = true;
    all.run(evenkeel::uniform_topology({own.ranks}, {own.ranks}), [&](evenkeel::comm::communicator& world) {
        auto const mine = train_stage(world, own);
        std::vector<comparison> of_all_ranks(own.ranks * mine.size());
        world.all_gather(std::as_bytes(std::span{mine}), std::as_writable_bytes(std::span{of_all_ranks}))
            .wait(patience);
        if (world.rank() == evenkeel::world_rank{0}) {
            is_equal = report(own, options.backend, of_all_ranks);
        }
    });
    return is_equal;
}

}  // namespace

int main(int argc, char** argv) {
    processes all{argc, argv};
    return run_program("train_two_towers", [&] { return train_two_towers(all, argc, argv); });
}
