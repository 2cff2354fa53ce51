// SPDX-License-Identifier: Apache-2.0
#include "plan_presets.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

namespace evenkeel::examples {
namespace {

/// 8 x p3.16xlarge: V100s of 16 GB, NVLink, 25 Gbps between nodes. The paper gives no latencies.
cluster v100s(std::size_t nodes, std::size_t gpus_per_node) {
    return {.nodes = nodes,
            .gpus_per_node = gpus_per_node,
            .memory_bytes = 16.0 * (1u << 30u),
            .intra_bandwidth = 150e9,
            .inter_bandwidth = 25e9 / 8,
            .intra_latency = 5e-6,
            .inter_latency = 20e-6};
}

constexpr auto v100_peak = 125e12;

/// Efficiency U * x / (x + h), x = micro-batch * tokens * hidden / tp, through the two points that Fig. 9 gives for
/// CLIP's text tower, 77 tokens wide 1024: 9.9 % of the peak with 8 samples, 46.2 % with 150.
flops_time v100_time() {
    constexpr auto few = 8.0 * 77 * 1024;
    constexpr auto many = 150.0 * 77 * 1024;
    constexpr auto of_few = 0.099;
    constexpr auto of_many = 0.462;
    constexpr auto half = (of_many - of_few) / (of_few / few - of_many / many);
    return {.flops_per_second = v100_peak, .best_efficiency = of_few * (1 + half / few), .half_efficiency = half};
}

/// A tower of Table 2.
struct tower_shape {
    std::size_t layers;
    std::size_t hidden;
    std::size_t heads;  // not in the table; only for the activations
    double parameters;
};

constexpr auto m350 = tower_shape{24, 1024, 16, 350e6};
constexpr auto m760 = tower_shape{24, 1536, 24, 760e6};
constexpr auto b2_7 = tower_shape{32, 2560, 32, 2.7e9};
constexpr auto b6_7 = tower_shape{32, 4096, 32, 6.7e9};
constexpr auto b13 = tower_shape{40, 5140, 40, 13e9};

constexpr auto text_tokens = 77.0;
/// 336 x 336 pixels in patches of 16, and one token more.
constexpr auto image_tokens = 442.0;

submodule tower(std::string name, tower_shape const& of, double tokens) {
    auto const hidden = static_cast<double>(of.hidden);
    auto const per_layer = 34 * tokens * hidden + 5 * static_cast<double>(of.heads) * tokens * tokens;
    return {.name = std::move(name),
            .layers = of.layers,
            .parameters = of.parameters,
            .hidden = of.hidden,
            .tokens = tokens,
            .shard_optimizer = true,
            .activation_bytes = static_cast<double>(of.layers) * per_layer,
            .time = v100_time()};
}

/// How the paper cuts the models of a scale.
enum class scale { single_device, single_node, multi_node };

plan_input towers(scale of, tower_shape const& vision, tower_shape const& text, std::uint64_t batch) {
    auto result = plan_input{.cluster = v100s(8, 8), .batch = {batch}};
    result.model.interaction = {.features = 1024, .flops_per_second = v100_peak / 2};
    result.model.submodules = {tower("vision", vision, image_tokens), tower("text", text, text_tokens)};
    for (auto& one : result.model.submodules) {
        one.tp = of == scale::single_device ? std::vector<std::size_t>{1} : std::vector<std::size_t>{1, 2, 4, 8};
        one.pp = of == scale::multi_node ? std::vector<std::size_t>{1, 2, 4, 8} : std::vector<std::size_t>{1};
    }
    return result;
}

submodule drawn(std::string name, std::size_t tp, std::size_t pp, seconds_per_sample time) {
    return {.name = std::move(name), .layers = 24, .time = time, .tp = {tp}, .pp = {pp}};
}

/// Text 2 x 2, image 4 x 4 on 64 GPUs; 24 of 72 samples meet.
plan_input figure_2() {
    return {.model = {.submodules = {drawn("text", 2, 2, {.seconds = 2}), drawn("image", 4, 4, {.seconds = 1.5})},
                      .interaction = {.batch = 24}},
            .cluster = v100s(8, 8),
            .batch = {72}};
}

/// Each alone uses 45 % of a GPU; colocated, 20 % and 40 %, for 2 and 3 units of time.
plan_input figure_4() {
    constexpr auto samples = 12;
    constexpr auto each = 3;  // samples of a GPU where all are colocated
    auto const alone = [](double work) { return work / 0.45 / samples; };
    return {.model = {.submodules = {drawn("blue", 1, 1, {.seconds = alone(4 * 2 * 0.2), .colocated = 2.0 / each}),
                                     drawn("orange", 1, 1, {.seconds = alone(4 * 3 * 0.4), .colocated = 3.0 / each})}},
            .cluster = v100s(1, 4),
            .batch = {samples}};
}

/// Two encoders and an LLM on 64 GPUs of 80 GB. No model of the paper.
plan_input mllm_8b() {
    auto const part = [](std::string name, tower_shape const& of, double tokens) {
        auto result = tower(std::move(name), of, tokens);
        // Attention that keeps no scores.
        result.activation_bytes = static_cast<double>(of.layers) * 34 * tokens * static_cast<double>(of.hidden);
        result.time = flops_time{.flops_per_second = 312e12, .best_efficiency = 0.5, .half_efficiency = 1e6};
        return result;
    };
    auto result = plan_input{.cluster = v100s(8, 8), .batch = {512}};
    result.cluster.memory_bytes = 80e9;
    result.cluster.memory_reserve = 0.1;
    result.cluster.intra_bandwidth = 300e9;
    result.cluster.inter_bandwidth = 100e9;
    result.model.submodules = {part("vision", {32, 1280, 16, 630e6}, 1024), part("audio", {32, 1280, 20, 640e6}, 1500),
                               part("llm", {32, 4096, 32, 7e9}, 2048)};
    result.model.submodules.back().inputs = {"vision", "audio"};
    result.model.interaction = {.kind = interaction_kind::join, .features = 512 * 4096.0};
    return result;
}

constexpr auto slow_gradients = std::string_view{
    "Why more than measured: nothing hides the gradients here, and on 25 Gbps they are most of the colocated step.\n"
    "Apart, the text tower's stay within a node."};
constexpr auto slow_tensors = std::string_view{
    "Why more than measured: colocated, such a model needs tensor parallelism across nodes, and then all its "
    "gradients\n"
    "on 25 Gbps as well; nothing hides either here. Apart, neither of them leaves a node."};

struct entry {
    std::string_view name;
    std::function<plan_input()> input;
    std::optional<double> paper = std::nullopt;
    std::string_view remark = {};
};

std::vector<entry> const& entries() {
    // Batches: Fig. 9's 600 for CLIP, and the baseline's 8 samples on each of 64 GPUs for its like; beyond one device,
    // the largest power of two that all three models of the scale hold.
    static auto const all = std::vector<entry>{
        {"figure2", figure_2},
        {"figure4", figure_4},
        {"clip_1.1b", [] { return towers(scale::single_device, m760, m350, 600); }, 1.39},
        {"coca_1.52b", [] { return towers(scale::single_device, m760, m760, 512); }, 1.32, slow_gradients},
        {"lit_1.1b", [] { return towers(scale::single_device, m350, m760, 512); }, 1.35, slow_gradients},
        {"clip_9.3b", [] { return towers(scale::single_node, b6_7, b2_7, 128); }, 1.48},
        {"coca_13.4b", [] { return towers(scale::single_node, b6_7, b6_7, 128); }, 1.60},
        {"lit_9.4b", [] { return towers(scale::single_node, b2_7, b6_7, 128); }, 1.67},
        {"clip_19.7b", [] { return towers(scale::multi_node, b13, b6_7, 64); }, 2.70, slow_tensors},
        {"coca_26b", [] { return towers(scale::multi_node, b13, b13, 64); }, 2.80, slow_tensors},
        {"lit_19.7b", [] { return towers(scale::multi_node, b6_7, b13, 64); }, 3.27, slow_tensors},
        {"mllm_8b", mllm_8b}};
    return all;
}

}  // namespace

std::vector<std::string_view> plan_preset_names() {
    auto names = std::vector<std::string_view>{};
    for (auto const& one : entries()) {
        names.push_back(one.name);
    }
    return names;
}

plan_preset preset_of(std::string_view name) {
    for (auto const& one : entries()) {
        if (one.name == name) {
            return {.input = one.input(), .paper_speed_up = one.paper, .remark = one.remark};
        }
    }
    throw std::invalid_argument{"preset_of: no preset " + std::string{name}};
}

std::string_view paper_assumptions() noexcept {
    return "Assumed, as the paper does not say: 16-bit weights and gradients, 12 bytes of optimiser state per "
           "parameter "
           "cut\nover the replicas, all activations kept, 6 FLOPs per parameter and token, an efficiency of\n"
           "58 % * x / (x + 3.1M), x = samples * tokens * hidden / tp, through two points of its Fig. 9 (text tower of "
           "CLIP),\nno communication hidden behind computing. Features of 1024 16-bit numbers meet at half of the "
           "peak. Of the\n"
           "cluster: 125 TFLOP/s and 16 GiB per GPU, 150 GB/s of NVLink, 25 Gbps per node, 5 us and 20 us until a "
           "message arrives.\n";
}

}  // namespace evenkeel::examples
