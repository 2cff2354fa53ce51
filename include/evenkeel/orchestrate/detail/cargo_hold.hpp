// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/orchestrate/detail/group_view.hpp>
#include <evenkeel/orchestrate/detail/step_problem.hpp>

namespace evenkeel::detail {

/// What the nodes have of all phases once the encoders are placed, and which samples could move as a whole: their units
/// and their place in the LLM together, so that no output leaves its node.
///
/// Samples are numbered as in the micro-batch. Text alone is left out: it is free cargo, and goes last. Unless it is
/// long: such text needs a node that has much room, as other samples do.
class cargo_hold {
  public:
    static constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();

    /// Whether all phases have instances on the same nodes, and may be planned anew, so that samples can move whole.
    [[nodiscard]] static bool is_possible(step_problem const& problem, std::span<group_view const> views) {
        auto const& llm = views.back();
        for (std::size_t number = 0; number < views.size(); ++number) {
            auto const& phase = problem.phases[number];
            if (phase.given || phase.method != phase_method::stay || phase.cost.pads() ||
                views[number].nodes() != llm.nodes()) {
                return false;
            }
            for (std::uint32_t node = 0; node < llm.nodes(); ++node) {
                if (views[number].node_of(llm.leader(llm.on_node(node).front())) != node) {
                    return false;
                }
            }
        }
        return llm.nodes() > 1 && views.size() > 1;
    }

    /// @param places   The LLM instance that each sample is nearest to: where its outputs are.
    /// @param allowed  What no instance of each phase may exceed.
    void load(step_problem const& problem, std::span<group_view const> views, std::span<item_id const> samples,
              std::span<phase_ranks const> chosen, std::span<std::uint32_t const> places,
              std::span<std::uint64_t const> allowed) {
        nodes_ = views.back().nodes();
        encoders_ = problem.encoders();
        std::size_t const count = samples.size();
        node_of_.resize(count);
        weights_.resize(count);
        bytes_.resize(count);
        homes_.resize(count);
        is_whole_.resize(count);
        lengths_.assign(encoders_ * count, 0);
        loads_.assign((encoders_ + 1) * nodes_, 0);
        auto const& llm = problem.amounts.phases.back();
        std::uint64_t total = 0;
        for (item_id const sample : samples) {
            total += llm.weights[to_index(sample)];
        }
        std::uint64_t const heavy = total / nodes_ / 32;
        for (std::size_t at = 0; at < count; ++at) {
            std::size_t const sample = to_index(samples[at]);
            std::uint32_t const node = views.back().nodes_of_ranks()[places[at]];
            node_of_[at] = node;
            weights_[at] = llm.weights[sample];
            std::uint64_t bytes = std::min(llm.bytes[sample], most_bytes);
            homes_[at] = views.back().node_of(problem.home.places[sample].rank);
            bool const counts = problem.amounts.outputs[sample] > 0 || weights_[at] > heavy;
            is_whole_[at] = counts ? 1 : 0;
            for (std::size_t encoder = 0; encoder < encoders_; ++encoder) {
                auto const& amounts = problem.amounts.phases[encoder];
                auto const& offsets = problem.samples.inputs[encoder].units.offsets;
                for (std::size_t unit = offsets[sample]; unit < offsets[sample + 1]; ++unit) {
                    std::uint32_t const there = views[encoder].nodes_of_ranks()[chosen[encoder].rank_of[unit]];
                    is_whole_[at] = is_whole_[at] != 0 && there == node;
                    lengths_[encoder * count + at] += amounts.weights[unit];
                    loads_[encoder * nodes_ + there] += amounts.weights[unit];
                    bytes = std::min(bytes + std::min(amounts.bytes[unit], most_bytes), most_bytes);
                }
            }
            bytes_[at] = static_cast<std::int64_t>(bytes);
            loads_[encoders_ * nodes_ + node] += counts ? weights_[at] : 0;
        }
        write_caps(problem, views, total, allowed);
        write_members();
    }

    [[nodiscard]] std::size_t nodes() const noexcept { return nodes_; }
    [[nodiscard]] std::size_t encoders() const noexcept { return encoders_; }
    [[nodiscard]] std::uint32_t node_of(std::uint32_t sample) const noexcept { return node_of_[sample]; }
    [[nodiscard]] std::uint64_t weight(std::uint32_t sample) const noexcept { return weights_[sample]; }
    [[nodiscard]] std::uint64_t length(std::size_t encoder, std::uint32_t sample) const noexcept {
        return lengths_[encoder * node_of_.size() + sample];
    }

    /// The samples that a node had at first and that can move whole.
    [[nodiscard]] std::span<std::uint32_t const> members(std::uint32_t node) const noexcept {
        return std::span{members_}.subspan(offsets_[node], offsets_[node + 1] - offsets_[node]);
    }

    /// The same of all nodes, one after the other.
    [[nodiscard]] std::span<std::uint32_t const> members() const noexcept { return members_; }

    /// What a node has too much of, were all text alone gone.
    [[nodiscard]] std::uint64_t excess(std::uint32_t node) const noexcept {
        std::uint64_t const load = loads_[encoders_ * nodes_ + node];
        return load - std::min(load, low_[node]);
    }
    /// What it could take on.
    [[nodiscard]] std::uint64_t room(std::uint32_t node) const noexcept {
        std::uint64_t const load = loads_[encoders_ * nodes_ + node];
        return caps_[encoders_ * nodes_ + node] - std::min(load, caps_[encoders_ * nodes_ + node]);
    }
    [[nodiscard]] std::uint64_t room(std::size_t encoder, std::uint32_t node) const noexcept {
        std::size_t const at = encoder * nodes_ + node;
        return caps_[at] - std::min(loads_[at], caps_[at]);
    }

    /// How many more bytes travel between nodes if a sample goes to `node`; fewer, if it comes home.
    [[nodiscard]] std::int64_t cost(std::uint32_t sample, std::uint32_t node) const noexcept {
        return (node != homes_[sample] ? bytes_[sample] : 0) -
               (node_of_[sample] != homes_[sample] ? bytes_[sample] : 0);
    }

    [[nodiscard]] bool has_moved(std::uint32_t sample) const noexcept { return is_whole_[sample] == 2; }

    void move(std::uint32_t sample, std::uint32_t node) noexcept {
        is_whole_[sample] = 2;
        for (std::size_t phase = 0; phase <= encoders_; ++phase) {
            std::uint64_t const load = phase == encoders_ ? weights_[sample] : length(phase, sample);
            loads_[phase * nodes_ + node_of_[sample]] -= load;
            loads_[phase * nodes_ + node] += load;
        }
        node_of_[sample] = node;
    }

  private:
    static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 61U;

    /// Nodes take on less than their instances may have, and keep even less once they give away: what is left over
    /// evens out the instances of a node.
    void write_caps(step_problem const& problem, std::span<group_view const> views, std::uint64_t of_llm,
                    std::span<std::uint64_t const> allowed) {
        caps_.resize(loads_.size());
        low_.resize(nodes_);
        for (std::size_t phase = 0; phase <= encoders_; ++phase) {
            auto const loads = std::span{loads_}.subspan(phase * nodes_, nodes_);
            std::uint64_t const total =
                phase == encoders_ ? of_llm : std::accumulate(loads.begin(), loads.end(), std::uint64_t{0});
            std::uint64_t const ranks = problem.phases[phase].group.ranks().value;
            std::uint64_t const mean = std::min(total / ranks + (total % ranks != 0 ? 1 : 0), allowed[phase]);
            std::uint64_t const slack = allowed[phase] - mean;
            for (std::size_t node = 0; node < nodes_; ++node) {
                std::uint64_t const size = views[phase].on_node(node).size();
                caps_[phase * nodes_ + node] = saturated(mean + slack / 10 * 6, size);
                if (phase == encoders_) {
                    low_[node] = saturated(mean + slack / 10 * 2, size);
                }
            }
        }
    }

    [[nodiscard]] static std::uint64_t saturated(std::uint64_t load, std::uint64_t times) noexcept {
        std::uint64_t product = 0;
        return __builtin_mul_overflow(load, times, &product) ? std::numeric_limits<std::uint64_t>::max() : product;
    }

    void write_members() {
        offsets_.assign(nodes_ + 1, 0);
        for (std::size_t at = 0; at < node_of_.size(); ++at) {
            offsets_[node_of_[at] + 1] += is_whole_[at];
        }
        for (std::size_t node = 0; node < nodes_; ++node) {
            offsets_[node + 1] += offsets_[node];
        }
        next_.assign(offsets_.begin(), offsets_.end());
        members_.reserve(node_of_.size());
        members_.resize(offsets_.back());
        for (std::uint32_t at = 0; at < node_of_.size(); ++at) {
            if (is_whole_[at] != 0) {
                members_[next_[node_of_[at]]++] = at;
            }
        }
    }

    std::size_t nodes_ = 0;
    std::size_t encoders_ = 0;
    std::vector<std::uint32_t> node_of_;  ///< of each sample, and so on
    std::vector<std::uint64_t> weights_;
    std::vector<std::int64_t> bytes_;     ///< of all that is drawn with it
    std::vector<std::uint32_t> homes_;    ///< nodes
    std::vector<std::uint8_t> is_whole_;  ///< has outputs, all on its node
    std::vector<std::uint64_t> lengths_;  ///< per encoder
    std::vector<std::uint64_t> loads_;    ///< per phase, of each node; of the LLM: without text alone
    std::vector<std::uint64_t> caps_;     ///< what it may come to by taking on
    std::vector<std::uint64_t> low_;      ///< what it keeps, of the LLM
    std::vector<std::size_t> offsets_;
    std::vector<std::size_t> next_;
    std::vector<std::uint32_t> members_;
};

}  // namespace evenkeel::detail
