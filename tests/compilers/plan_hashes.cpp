// SPDX-License-Identifier: Apache-2.0
// Prints one hash per kind of plan, over seeded inputs. Whatever compiled this, and however, prints the same: the test
// compares. Valid CUDA C++ too.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/core.hpp>
#include <evenkeel/cost.hpp>
#include <evenkeel/parallel.hpp>
#include <evenkeel/place.hpp>
#include <evenkeel/rearrange.hpp>
#include <evenkeel/solve.hpp>

#include "tests/support/batches.hpp"

namespace {

using evenkeel::fingerprint;
using batches = std::vector<evenkeel::test::batch>;

/// A kind of batch under its name.
struct suite {
    std::string_view name;
    batches of;
};

void print(std::string const& name, fingerprint const& hash) {
    std::printf("%016llx %s\n", static_cast<unsigned long long>(hash.value()), name.c_str());
}

/// The batches of seeds 0 to `count` - 1.
template <class Make>
batches seeds(std::uint64_t count, Make make) {
    batches result;
    for (std::uint64_t seed = 0; seed < count; ++seed) {
        result.push_back(make(seed));
    }
    return result;
}

std::vector<suite> suites() {
    using namespace evenkeel::test;
    return {{"small", seeds(100, [](auto seed) { return small_batch(seed); })},
            {"mixed", seeds(6, [](auto seed) { return mixed_batch(seed, 4 + 12 * seed, 5 + 5 * seed); })},
            {"sparse", seeds(8, [](auto seed) { return sparse_batch(seed, 4 + 4 * seed, 2 + seed % 3); })},
            {"tiles", seeds(2, [](auto seed) { return tiled_batch(seed, 64 + 64 * seed, 8); })},
            {"large", seeds(1, [](auto seed) { return mixed_batch(seed, 256, 24); })}};
}

/// Lengths as seconds, in steps that no double meets exactly.
template <class Float>
std::vector<Float> seconds(std::span<std::uint64_t const> lengths) {
    std::vector<Float> result;
    for (auto const length : lengths) {
        result.push_back(static_cast<Float>(length) / static_cast<Float>(30));
    }
    return result;
}

/// Adds the plan, or why there is none: the weight of a long item may exceed 64 bits, wishes may be too many.
template <class Balance>
void add_plan(fingerprint& hash, Balance balance) {
    try {
        auto const even = balance();
        hash.add(even.plan).add(even.quality.max_load).add(even.quality.total_load).add(even.quality.lower_bound);
    } catch (std::runtime_error const& error) {
        hash.add(std::string_view{error.what()});
    }
}

template <class Model>
void print_balance(suite const& suite, std::string const& name, Model const& model) {
    constexpr std::array<evenkeel::balance_options, 4> efforts{
        {{.effort = 0}, {.tolerance = 1e-3, .effort = 16}, {}, {.effort = 512}}};
    for (auto const& options : efforts) {
        fingerprint hash;
        for (auto const& [lengths, ranks] : suite.of) {
            add_plan(hash, [&, &of = lengths, on = ranks] { return balance(of, on, model, options); });
        }
        print(std::string{suite.name} + " " + name + " effort " + std::to_string(options.effort), hash);
    }
    for (std::uint64_t const resolution : {1U, 100U, 1000U}) {
        fingerprint hash;
        for (auto const& [lengths, ranks] : suite.of) {
            evenkeel::balance_options const options{.effort = 16, .resolution = resolution};
            add_plan(hash, [&, &of = lengths, on = ranks] { return balance(seconds<double>(of), on, model, options); });
            add_plan(hash, [&, &of = lengths, on = ranks] { return balance(seconds<float>(of), on, model, options); });
        }
        print(std::string{suite.name} + " " + name + " in seconds / " + std::to_string(resolution), hash);
    }
}

/// Wishes of all kinds together and in turn, and micro-batches with and without a cap.
void print_wishes(suite const& suite) {
    constexpr std::size_t kinds = 6;
    constexpr evenkeel::attention_cost model{.linear = 24'576, .quadratic = 1};
    fingerprint wished;
    fingerprint in_micro_batches;
    std::uint64_t seed = 0;
    for (auto const& [lengths, ranks] : suite.of) {
        evenkeel::test::seeded random{++seed};
        std::vector<std::uint64_t> tokens;
        std::vector<std::uint32_t> groups;
        std::vector<evenkeel::rank_id> pinned;
        std::uint64_t total = 0;
        std::uint64_t longest = 0;
        for (auto const length : lengths) {
            tokens.push_back(length % 65'536);
            total += tokens.back();
            longest = std::max(longest, tokens.back());
            groups.push_back(random.up_to(2) == 0 ? static_cast<std::uint32_t>(random.up_to(lengths.size()))
                                                  : evenkeel::ungrouped);
            pinned.push_back(random.up_to(7) == 0 ? evenkeel::to_id<evenkeel::rank_id>(random.up_to(ranks.value - 1))
                                                  : evenkeel::unpinned);
        }
        std::vector<std::uint64_t> speeds(ranks.value);
        for (auto& speed : speeds) {
            speed = random.between(5, 10);
        }
        std::uint64_t const cap = std::max(longest, total / ranks.value) * 21 / 20;
        std::array<evenkeel::wishes, kinds> const all{
            {{.quantities = tokens, .cap = cap, .step = 3},
             {.equal_counts = true},
             {.speeds = speeds, .step = 2},
             {.no_empty_rank = true, .groups = groups},
             {.quantities = tokens, .cap = 2 * cap, .pinned = pinned, .speeds = speeds},
             {.count_cap = lengths.size() / ranks.value + 2, .groups = groups, .step = 1}}};
        for (auto const& wishes : all) {
            add_plan(wished, [&, on = ranks] { return balance(tokens, on, model, {.wishes = wishes}); });
        }
        std::array<evenkeel::micro_batch_options, 3> const splits{
            {{.cap = longest + longest / 2 + 1, .step = 5},
             {.count = 3, .effort = 16},
             {.cap = 2 * longest + 1, .multiple_of = 2, .tolerance = 0}}};
        for (auto const& options : splits) {
            auto const [plan, quality] = micro_batches(tokens, ranks, model, options);
            in_micro_batches.add(plan).add(quality.sum_of_slowest).add(quality.lower_bound);
            in_micro_batches.add(std::uint64_t{quality.number.lower_bound});
        }
    }
    print(std::string{suite.name} + " wishes", wished);
    print(std::string{suite.name} + " micro-batches", in_micro_batches);
}

/// Which ranks get the batches, and what each rank then sends.
void print_moves(suite const& suite) {
    fingerprint total;
    fingerprint busiest;
    fingerprint sends;
    fingerprint padded;
    for (auto const& [lengths, ranks] : suite.of) {
        auto const even = evenkeel::balance(lengths, ranks, evenkeel::linear_cost{});
        std::vector<std::size_t> drawn(ranks.value, lengths.size() / ranks.value);
        drawn.back() += lengths.size() % ranks.value;
        auto const home = evenkeel::home_layout(drawn);
        auto const cluster = evenkeel::uniform_topology({ranks.value}, {std::gcd(ranks.value, std::size_t{4})});
        std::vector<std::uint64_t> bytes;
        for (auto const length : lengths) {
            bytes.push_back(length % 4096);
        }
        for (double const tolerance : {0.0, 0.07}) {
            add_plan(padded, [&, &of = lengths] {
                return rebalance(of, home, cluster, evenkeel::padded_cost{}, {.tolerance = tolerance, .bytes = bytes});
            });
        }
        total.add(relabel(even.plan, home, cluster, bytes).plan);
        auto const kept = relabel(even.plan, home, cluster, bytes, {.objective = evenkeel::relabel_objective::busiest});
        busiest.add(kept.plan).add(kept.busiest_node);
        evenkeel::rearrangement const move{home, layout_of(kept.plan)};
        sends.add(move.to());
        for (std::uint32_t rank = 0; rank < ranks.value; ++rank) {
            for (auto const offset : exchange_of(move, evenkeel::world_rank{rank}, bytes).sends.byte_offsets) {
                sends.add(std::uint64_t{offset});
            }
        }
    }
    print(std::string{suite.name} + " relabel for total", total);
    print(std::string{suite.name} + " relabel for busiest", busiest);
    print(std::string{suite.name} + " sends", sends);
    print(std::string{suite.name} + " rebalance padded", padded);
}

evenkeel::submodule tower(std::string name, std::size_t hidden, double parameters, double tokens) {
    double const width = static_cast<double>(hidden);
    evenkeel::submodule result{.name = std::move(name), .layers = 24, .parameters = parameters, .hidden = hidden};
    result.tokens = tokens;
    result.shard_optimizer = true;
    result.activation_bytes = 24 * (34 * tokens * width + 5 * (width / 64) * tokens * tokens);
    result.time = evenkeel::flops_time{.flops_per_second = 125e12, .best_efficiency = 0.58, .half_efficiency = 3.1e6};
    return result;
}

/// Cuts, replicas and places of a contrastive model on a cluster. What decides there is seconds, in double.
void print_clusters() {
    evenkeel::multimodal_model const model{
        .submodules = {tower("vision", 1536, 760e6, 442), tower("text", 1024, 350e6, 77)},
        .interaction = {.features = 1024}};
    for (std::size_t const nodes : {6U, 8U}) {
        evenkeel::cluster const cluster{.nodes = nodes,
                                        .gpus_per_node = 8,
                                        .memory_bytes = 17'179'869'184.0,
                                        .intra_bandwidth = 150e9,
                                        .inter_bandwidth = 3.125e9,
                                        .intra_latency = 5e-6,
                                        .inter_latency = 20e-6};
        auto const plan = plan_cluster(model, cluster, {480});
        fingerprint hash;
        for (auto const& one : plan.modalities) {
            hash.add(std::uint64_t{one.deployment.cut.tp}).add(std::uint64_t{one.deployment.cut.pp});
            hash.add(std::uint64_t{one.load.replicas}).add(one.load.micro_batch).add(one.load.syncs);
        }
        for (auto const& gpus : plan.placement.gpus) {
            for (auto const gpu : gpus) {
                hash.add(std::uint64_t{evenkeel::to_index(gpu)});
            }
        }
        print("plan_cluster on " + std::to_string(nodes) + " nodes", hash);
    }
}

}  // namespace

int main() {
    for (auto const& suite : suites()) {
        fingerprint inputs;
        for (auto const& [lengths, ranks] : suite.of) {
            inputs.add(ranks.value);
            for (auto const length : lengths) {
                inputs.add(length);
            }
        }
        print(std::string{suite.name} + " inputs", inputs);
        print_balance(suite, "linear", evenkeel::linear_cost{.linear = 3});
        print_balance(suite, "attention", evenkeel::attention_cost{.linear = 24'576, .quadratic = 1});
        print_balance(suite, "attention + fixed", evenkeel::attention_cost{.quadratic = 2, .fixed = 500});
        print_balance(suite, "padded", evenkeel::padded_cost{.fixed = 9});
        print_balance(suite, "padded attention", evenkeel::padded_cost{.linear = 24'576, .quadratic = 1});
        print_balance(suite, "conv + attention",
                      evenkeel::conv_attention_cost{.padded = 4'915, .linear = 24'576, .quadratic = 1});
        print_wishes(suite);
        print_moves(suite);
    }
    print_clusters();
}
