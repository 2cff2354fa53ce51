// SPDX-License-Identifier: Apache-2.0
#include "plan_json.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "input_error.hpp"
#include "json_text.hpp"
#include "json_value.hpp"

namespace evenkeel::examples {
namespace {

using json = nlohmann::ordered_json;

constexpr auto least = 1e-24;
constexpr auto most = 1e24;
constexpr auto kinds = std::array<std::string_view, 3>{"contrastive", "fusion", "join"};

/// The members of a submodule that are amounts, and their keys.
constexpr auto amounts = std::array<std::pair<std::string_view, double submodule::*>, 6>{
    {{"tokens", &submodule::tokens},
     {"value_bytes", &submodule::value_bytes},
     {"weight_bytes", &submodule::weight_bytes},
     {"gradient_bytes", &submodule::gradient_bytes},
     {"optimizer_bytes", &submodule::optimizer_bytes},
     {"activation_bytes", &submodule::activation_bytes}}};

/// Reads a member that may be left out.
template <class Member, class Read>
void take(json_value const& from, std::string_view key, Member& member, Read read) {
    if (auto const found = from.find(key)) {
        member = static_cast<Member>(read(*found));
    }
}

double amount_of(json_value const& value) { return value.number(0, most); }
double positive(json_value const& value) { return value.number(least, most); }
double share(json_value const& value) { return value.number(0, 1); }

auto counted(std::uint64_t from, std::uint64_t to) {
    return [=](json_value const& value) { return value.count(from, to); };
}

template <class Count>
void take_counts(json_value const& from, std::string_view key, std::vector<Count>& member, std::uint64_t to) {
    if (auto const found = from.find(key)) {
        auto const elements = found->elements();
        if (elements.empty()) {
            found->refuse("at least one choice");
        }
        for (auto const& element : elements) {
            member.push_back(static_cast<Count>(element.count(1, to)));
        }
    }
}

/// What the library finds wrong with a part of the file is said with the part's pointer.
template <class Check>
void check(json_value const& part, Check check) {
    try {
        check(part.place());
    } catch (std::invalid_argument const& error) {
        throw input_error{error.what()};
    }
}

/// Whether `consumer` takes in what `producer` makes, at whatever number of removes.
bool reaches(multimodal_model const& model, std::string const& producer, std::string const& consumer) {
    auto reached = std::vector<std::string>{consumer};
    for (auto i = std::size_t{0}; i < reached.size(); ++i) {
        if (reached[i] == producer) {
            return true;
        }
        auto const found = std::ranges::find(model.submodules, reached[i], &submodule::name);
        for (auto const& input : found->inputs) {
            if (std::ranges::find(reached, input) == reached.end()) {
                reached.push_back(input);
            }
        }
    }
    return false;
}

/// The value that the library blames with `what`, which begins with its name.
json_value culprit_of(json_value const& from, multimodal_model const& model, std::string_view what) {
    auto const submodules = from["submodules"];
    auto const interaction = from.find("interaction");
    if (what.starts_with("interaction.kind") && interaction) {
        return (*interaction)["kind"];
    }
    auto const elements = submodules.elements();
    for (auto i = std::size_t{0}; i < elements.size(); ++i) {
        if (what.starts_with(element("model.submodules", i) + ".name")) {
            return elements[i]["name"];
        }
        auto const& one = model.submodules[i];
        auto const owner = title_of(one) + ".inputs";
        for (auto input = std::size_t{0}; input < one.inputs.size(); ++input) {
            auto const closes_a_cycle = what.starts_with(owner + " = ") && reaches(model, one.name, one.inputs[input]);
            if (closes_a_cycle || what.starts_with(element(owner, input))) {
                return elements[i]["inputs"].elements()[input];
            }
        }
    }
    return submodules;
}

void check_model(json_value const& from, multimodal_model const& model) {
    try {
        require_model("", model);
    } catch (std::invalid_argument const& error) {
        auto const what = std::string_view{error.what()}.substr(2);  // behind the name of no function
        throw input_error{fmt::format("{}: {}", culprit_of(from, model, what).place(), what)};
    }
}

cluster cluster_of(json_value const& from) {
    from.allow_only({"nodes", "gpus_per_node", "memory_bytes", "memory_reserve", "intra_bandwidth", "inter_bandwidth",
                     "intra_latency", "inter_latency"});
    auto result = cluster{.nodes = from["nodes"].count(1, max_gpus),
                          .gpus_per_node = from["gpus_per_node"].count(1, max_gpus),
                          .memory_bytes = positive(from["memory_bytes"]),
                          .intra_bandwidth = positive(from["intra_bandwidth"]),
                          .inter_bandwidth = positive(from["inter_bandwidth"]),
                          .intra_latency = amount_of(from["intra_latency"]),
                          .inter_latency = amount_of(from["inter_latency"])};
    take(from, "memory_reserve", result.memory_reserve, share);
    check(from, [&](auto const& place) { require_cluster(place, result); });
    return result;
}

time_table table_of(json_value const& from) {
    auto result = time_table{};
    for (auto const& row : from.elements()) {
        row.allow_only({"micro_batch", "tp", "seconds"});
        result.rows.push_back({.micro_batch = row["micro_batch"].count(1, max_batch),
                               .tp = row["tp"].count(1, max_gpus),
                               .seconds = positive(row["seconds"])});
    }
    return result;
}

flops_time flops_of(json_value const& from) {
    from.allow_only({"per_sample", "per_second", "best_efficiency", "half_efficiency"});
    auto result = flops_time{.flops_per_second = positive(from["per_second"])};
    take(from, "per_sample", result.flops_per_sample, amount_of);
    take(from, "best_efficiency", result.best_efficiency, share);
    take(from, "half_efficiency", result.half_efficiency, amount_of);
    return result;
}

time_model time_of(json_value const& from) {
    auto const rate = from.find("seconds_per_sample");
    auto const colocated = from.find("colocated_seconds_per_sample");
    auto const table = from.find("time_table");
    auto const flops = from.find("flops");
    auto const given = (rate ? 1 : 0) + (table ? 1 : 0) + (flops ? 1 : 0);
    if (given != 1) {
        throw input_error{fmt::format("{}: expected one of the keys seconds_per_sample, time_table, flops, got {}",
                                      from.place(), given == 0 ? "none" : "several")};
    }
    if (colocated && !rate) {
        throw input_error{
            fmt::format("{}: expected seconds_per_sample beside colocated_seconds_per_sample, got none", from.place())};
    }
    if (rate) {
        return seconds_per_sample{.seconds = positive(*rate), .colocated = colocated ? positive(*colocated) : 0};
    }
    return table ? time_model{table_of(*table)} : time_model{flops_of(*flops)};
}

submodule submodule_of(json_value const& from) {
    auto known = std::vector<std::string_view>{"name",
                                               "layers",
                                               "parameters",
                                               "seconds_per_sample",
                                               "colocated_seconds_per_sample",
                                               "time_table",
                                               "flops",
                                               "tp",
                                               "pp",
                                               "replicas",
                                               "micro_batches",
                                               "hidden",
                                               "heads",
                                               "shard_optimizer",
                                               "layer_weights",
                                               "inputs"};
    for (auto const& [key, member] : amounts) {
        known.push_back(key);
    }
    from.allow_only(known);
    auto result = submodule{.name = from["name"].text(),
                            .layers = from["layers"].count(1, max_layers),
                            .parameters = amount_of(from["parameters"])};
    result.time = time_of(from);
    take(from, "hidden", result.hidden, counted(0, max_batch));
    take(from, "heads", result.heads, counted(0, max_batch));
    for (auto const& [key, member] : amounts) {
        take(from, key, result.*member, amount_of);
    }
    take(from, "shard_optimizer", result.shard_optimizer, [](json_value const& value) { return value.flag(); });
    take_counts(from, "layer_weights", result.layer_weights, std::uint64_t{1} << 32u);
    take_counts(from, "tp", result.tp, max_gpus);
    take_counts(from, "pp", result.pp, result.layers);
    take_counts(from, "replicas", result.replicas, max_gpus);
    take_counts(from, "micro_batches", result.micro_batches, max_batch);
    if (auto const inputs = from.find("inputs")) {
        for (auto const& input : inputs->elements()) {
            result.inputs.push_back(input.text());
        }
    }
    check(from, [&](auto const& place) { require_submodule(place, result); });
    return result;
}

interaction interaction_of(json_value const& from) {
    from.allow_only({"kind", "features", "value_bytes", "batch", "flops_per_sample", "flops_per_second"});
    auto result = interaction{};
    auto const kind = from.find("kind");
    auto const meets_for_nothing = kind && kind->text() == "none";
    if (kind && !meets_for_nothing) {
        auto const found = std::find(kinds.begin(), kinds.end(), kind->text());
        if (found == kinds.end()) {
            kind->refuse("none, contrastive, fusion or join");
        }
        result.kind = static_cast<interaction_kind>(found - kinds.begin());
    }
    take(from, "features", result.features, amount_of);
    if (meets_for_nothing && result.features > 0) {
        from["features"].refuse("0 in an interaction of the kind none");
    }
    take(from, "value_bytes", result.value_bytes, amount_of);
    take(from, "batch", result.batch, counted(0, max_batch));
    take(from, "flops_per_sample", result.flops_per_sample, amount_of);
    take(from, "flops_per_second", result.flops_per_second, amount_of);
    check(from, [&](auto const& place) { require_interaction(place, result); });
    return result;
}

plan_input input_of(json_value const& from) {
    from.allow_only({"cluster", "global_batch", "submodules", "interaction"});
    auto result =
        plan_input{.cluster = cluster_of(from["cluster"]), .batch = {from["global_batch"].count(1, max_batch)}};
    for (auto const& one : from["submodules"].elements()) {
        result.model.submodules.push_back(submodule_of(one));
    }
    take(from, "interaction", result.model.interaction, interaction_of);
    check_model(from, result.model);
    return result;
}

/// Whole numbers without a point, others with as many digits as anybody measures.
json number_of(double value) {
    constexpr auto exact = 0x1p53;
    if (value == std::floor(value) && std::abs(value) <= exact) {
        return static_cast<std::int64_t>(value);
    }
    return value;
}

/// A time that was computed: the digits that are noise are dropped.
double seconds_of(double value) { return std::stod(fmt::format("{:.11g}", value)); }

json time_of(time_model const& time) {
    if (auto const* const rate = std::get_if<seconds_per_sample>(&time)) {
        auto result = json{{"seconds_per_sample", number_of(rate->seconds)}};
        if (rate->colocated > 0) {
            result["colocated_seconds_per_sample"] = number_of(rate->colocated);
        }
        return result;
    }
    if (auto const* const table = std::get_if<time_table>(&time)) {
        auto rows = json::array();
        for (auto const& row : table->rows) {
            rows.push_back({{"micro_batch", row.micro_batch}, {"tp", row.tp}, {"seconds", number_of(row.seconds)}});
        }
        return {{"time_table", std::move(rows)}};
    }
    auto const& flops = std::get<flops_time>(time);
    auto result = json{{"per_second", number_of(flops.flops_per_second)},
                       {"best_efficiency", number_of(flops.best_efficiency)},
                       {"half_efficiency", number_of(flops.half_efficiency)}};
    if (flops.flops_per_sample > 0) {
        result["per_sample"] = number_of(flops.flops_per_sample);
    }
    return {{"flops", std::move(result)}};
}

json json_of(submodule const& from) {
    auto const standard = submodule{};
    auto result = json{{"name", from.name}, {"layers", from.layers}, {"parameters", number_of(from.parameters)}};
    auto const counts = [&](char const* key, auto const& list) {
        if (!list.empty()) {
            result[key] = list;
        }
    };
    counts("tp", from.tp);
    counts("pp", from.pp);
    counts("replicas", from.replicas);
    counts("micro_batches", from.micro_batches);
    result.update(time_of(from.time));
    if (from.hidden > 0) {
        result["hidden"] = from.hidden;
    }
    if (from.heads > 0) {
        result["heads"] = from.heads;
    }
    // Where something is known of the shapes, all that belongs to them is written, to be edited.
    for (auto const& [key, member] : amounts) {
        if (from.parameters > 0 || from.*member != standard.*member) {
            result[std::string{key}] = number_of(from.*member);
        }
    }
    if (from.parameters > 0 || from.shard_optimizer) {
        result["shard_optimizer"] = from.shard_optimizer;
    }
    counts("layer_weights", from.layer_weights);
    counts("inputs", from.inputs);
    return result;
}

}  // namespace

plan_input parse_plan_input(std::string_view text, std::string_view name) {
    return input_of(json_value::parse(text, name));
}

plan_input read_plan_input(std::filesystem::path const& file) { return input_of(json_value::read(file)); }

std::string to_json(plan_input const& input) {
    auto const& on = input.cluster;
    auto const& meets = input.model.interaction;
    auto cluster = json{{"nodes", on.nodes},
                        {"gpus_per_node", on.gpus_per_node},
                        {"memory_bytes", number_of(on.memory_bytes)},
                        {"intra_bandwidth", number_of(on.intra_bandwidth)},
                        {"inter_bandwidth", number_of(on.inter_bandwidth)},
                        {"intra_latency", number_of(on.intra_latency)},
                        {"inter_latency", number_of(on.inter_latency)}};
    if (on.memory_reserve > 0) {
        cluster["memory_reserve"] = number_of(on.memory_reserve);
    }
    auto submodules = json::array();
    for (auto const& one : input.model.submodules) {
        submodules.push_back(json_of(one));
    }
    auto interaction =
        json{{"kind", kinds[static_cast<std::size_t>(meets.kind)]}, {"features", number_of(meets.features)}};
    interaction["value_bytes"] = number_of(meets.value_bytes);
    interaction["batch"] = meets.batch;
    interaction["flops_per_sample"] = number_of(meets.flops_per_sample);
    interaction["flops_per_second"] = number_of(meets.flops_per_second);
    auto const all = json{{"cluster", std::move(cluster)},
                          {"global_batch", input.batch.samples},
                          {"submodules", std::move(submodules)},
                          {"interaction", std::move(interaction)}};
    return json_text(all);
}

std::string to_json(cluster_plan const& plan, cluster const& cluster) {
    auto modalities = json::array();
    auto placement = std::vector<std::pair<world_rank, json>>{};
    for (auto i = std::size_t{0}; i < plan.modalities.size(); ++i) {
        auto const& one = plan.modalities[i];
        auto const& spent = plan.score.modalities[i];
        auto const& cut = one.deployment.cut;
        auto samples = json::array();
        for (auto replica = std::size_t{0}; replica < one.load.replicas; ++replica) {
            samples.push_back({one.samples(replica).first, one.samples(replica).last});
        }
        modalities.push_back({{"name", one.name},
                              {"tp", cut.tp},
                              {"pp", cut.pp},
                              {"replicas", one.load.replicas},
                              {"replica_batches", one.replica_batches()},
                              {"micro_batch", one.load.micro_batch},
                              {"micro_batches_per_sync", one.load.group},
                              {"samples", std::move(samples)},
                              {"memory_bytes", seconds_of(one.bytes)},
                              {"seconds",
                               {{"computing", seconds_of(spent.computing)},
                                {"tensor", seconds_of(spent.tensor)},
                                {"pipeline", seconds_of(spent.pipeline)},
                                {"gradients", seconds_of(spent.gradients)},
                                {"interaction", seconds_of(spent.interaction)}}}});
        for (auto position = std::size_t{0}; position < plan.placement.gpus[i].size(); ++position) {
            auto const gpu = plan.placement.gpus[i][position];
            placement.emplace_back(gpu, json{{"gpu", to_index(gpu)},
                                             {"node", to_index(cluster.node_of(gpu))},
                                             {"modality", one.name},
                                             {"replica", position / cut.gpus()},
                                             {"stage", position / cut.tp % cut.pp},
                                             {"tp_rank", position % cut.tp}});
        }
    }
    std::sort(placement.begin(), placement.end(), [](auto const& a, auto const& b) { return a.first < b.first; });
    auto gpus = json::array();
    for (auto& [gpu, role] : placement) {
        gpus.push_back(std::move(role));
    }
    auto const makespan_of = [](std::optional<colocated_plan> const& colocated) {
        return colocated ? json(seconds_of(colocated->seconds)) : json(nullptr);
    };
    auto const all = json{{"modalities", std::move(modalities)},
                          {"makespan", seconds_of(plan.seconds())},
                          {"colocated_makespan", makespan_of(plan.colocated)},
                          {"devices_used", plan.gpus().value},
                          {"placement", std::move(gpus)},
                          {"syncs", plan.meeting.syncs},
                          {"batch_per_sync", plan.meeting.per_sync},
                          {"colocation_wins", plan.colocation_wins()},
                          {"recomputing_makespan", makespan_of(plan.recomputing)},
                          {"lower_bound", seconds_of(plan.lower_bound)}};
    return json_text(all);
}

}  // namespace evenkeel::examples
