// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/orchestrate/detail/step_problem.hpp>

namespace evenkeel::detail {

/// Deals samples to micro-batches without moving any: each node splits what it has drawn.
///
/// Loads of different phases are in different units, so each counts as its share of the phase, in 2^-28.
class sample_dealer {
  public:
    void start(step_problem const& problem, std::size_t slots) {
        slots_ = slots;
        std::size_t const count = problem.samples.size();
        std::size_t const phases = problem.phases.size();
        shares_.assign(count * phases, 0);
        largest_.assign(count * phases, 0);
        heavy_.assign(count, false);
        rank_parts_.resize(phases);
        for (std::size_t number = 0; number < phases; ++number) {
            auto const& weights = problem.amounts.phases[number].weights;
            std::uint64_t const total = std::reduce(weights.begin(), weights.end());
            rank_parts_[number] = problem.phases[number].group.ranks().value;
            for (std::size_t sample = 0; sample < count; ++sample) {
                std::size_t item = sample;
                std::size_t last = sample + 1;
                if (number < problem.encoders()) {
                    item = problem.samples.inputs[number].units.offsets[sample];
                    last = problem.samples.inputs[number].units.offsets[sample + 1];
                }
                std::uint64_t sum = 0;
                std::uint64_t most = 0;
                for (; item < last; ++item) {
                    sum += weights[item];
                    most = std::max(most, weights[item]);
                }
                shares_[sample * phases + number] = share(sum, total);
                largest_[sample * phases + number] = share(most, total);
                // More than a rank's part of the phase in a micro-batch: it decides how long its micro-batch takes.
                heavy_[sample] =
                    heavy_[sample] || largest_[sample * phases + number] > one / (slots_ * rank_parts_[number]);
            }
        }
        sort_by_node(problem);
    }

    /// The first samples of each rank in the first micro-batch, and so on.
    void as_drawn(step_problem const& problem, std::vector<micro_batch_id>& slot_of) const {
        slot_of.resize(problem.samples.size());
        std::size_t sample = 0;
        for (std::size_t const drawn : problem.samples.counts) {
            for (std::size_t position = 0; position < drawn; ++position) {
                slot_of[sample++] = to_id<micro_batch_id>(position * slots_ / drawn);
            }
        }
    }

    /// What the largest loads of all micro-batches and phases can at best add up to, in shares.
    [[nodiscard]] std::uint64_t sum_of_bounds(step_problem const& problem, std::span<micro_batch_id const> slot_of) {
        std::size_t const phases = problem.phases.size();
        auto& loads = loads_;
        auto& most = most_;
        loads.assign(slots_ * phases, 0);
        most.assign(slots_ * phases, 0);
        for (std::size_t sample = 0; sample < slot_of.size(); ++sample) {
            for (std::size_t number = 0; number < phases; ++number) {
                std::size_t const at = to_index(slot_of[sample]) * phases + number;
                loads[at] += shares_[sample * phases + number];
                most[at] = std::max(most[at], largest_[sample * phases + number]);
            }
        }
        std::uint64_t sum = 0;
        for (std::size_t at = 0; at < loads.size(); ++at) {
            // In parts of a rank's share of the phase, so that phases with few instances do not outweigh the others.
            std::size_t const ranks = rank_parts_[at % phases];
            sum += std::max(loads[at], most[at] * ranks);
        }
        return sum;
    }

    /// The bytes of what nodes have of each micro-batch beyond their instances' part of it, which have to leave them.
    [[nodiscard]] std::uint64_t bytes_to_leave(step_problem const& problem, std::span<micro_batch_id const> slot_of) {
        std::size_t const phases = problem.phases.size();
        std::size_t const nodes = problem.cluster.nodes();
        instances_.assign(nodes * phases, 0);
        for (std::size_t number = 0; number < phases; ++number) {
            auto const& group = problem.phases[number].group;
            for (std::size_t rank = 0; rank < rank_parts_[number]; ++rank) {
                ++instances_[to_index(problem.cluster.node_of(group.leader(to_id<rank_id>(rank)))) * phases + number];
            }
        }
        loads_.assign(slots_ * phases, 0);
        of_nodes_.assign(slots_ * nodes * phases, 0);
        for (std::size_t sample = 0; sample < slot_of.size(); ++sample) {
            std::size_t const slot = to_index(slot_of[sample]);
            std::size_t const node = to_index(problem.cluster.node_of(problem.home.places[sample].rank));
            for (std::size_t number = 0; number < phases; ++number) {
                loads_[slot * phases + number] += shares_[sample * phases + number];
                of_nodes_[(slot * nodes + node) * phases + number] += shares_[sample * phases + number];
            }
        }
        std::uint64_t bytes = 0;
        for (std::size_t at = 0; at < of_nodes_.size(); ++at) {
            std::size_t const number = at % phases;
            std::uint64_t const load = loads_[at / (nodes * phases) * phases + number];
            std::uint64_t const part = load * instances_[at % (nodes * phases)] / rank_parts_[number];
            auto const& amounts = problem.amounts.phases[number];
            std::uint64_t const more = part_of(amounts.total_bytes + amounts.total_output_bytes,
                                               of_nodes_[at] - std::min(of_nodes_[at], part));
            // Each phase's bytes fit into 64 bits, those of all need not.
            bytes = more > ~bytes ? ~std::uint64_t{0} : bytes + more;
        }
        return bytes;
    }

    /// Levels every phase over the micro-batches, largest share first, where the sum of squares grows least.
    ///
    /// @param together  Whether all heavy samples go to the first micro-batch before.
    void deal(step_problem const& problem, bool together, std::vector<micro_batch_id>& slot_of) {
        std::size_t const phases = problem.phases.size();
        slot_of.resize(order_.size());
        auto const put = [&](std::uint32_t sample, std::size_t slot) {
            slot_of[sample] = to_id<micro_batch_id>(slot);
            for (std::size_t number = 0; number < phases; ++number) {
                loads_[slot * phases + number] += shares_[sample * phases + number];
            }
        };
        for (auto first = order_.begin(); first != order_.end();) {
            node_id const node = problem.cluster.node_of(problem.home.places[*first].rank);
            auto const last = std::find_if(first, order_.end(), [&](std::uint32_t sample) {
                return problem.cluster.node_of(problem.home.places[sample].rank) != node;
            });
            loads_.assign(slots_ * phases, 0);
            for (auto at = first; together && at != last; ++at) {
                if (heavy_[*at]) {
                    put(*at, 0);
                }
            }
            for (; first != last; ++first) {
                if (!together || !heavy_[*first]) {
                    put(*first, slot_for(*first, phases));
                }
            }
        }
    }

    /// Memory for a second dealing.
    [[nodiscard]] std::vector<micro_batch_id>& other() noexcept { return other_; }

  private:
    static constexpr std::uint64_t one = std::uint64_t{1} << 28U;

    [[nodiscard]] static std::uint64_t share(std::uint64_t weight, std::uint64_t total) noexcept {
        __extension__ typedef unsigned __int128 wide;
        return total == 0 ? 0 : static_cast<std::uint64_t>(static_cast<wide>(weight) * one / total);
    }

    /// So much of a total as a share is of one.
    [[nodiscard]] static std::uint64_t part_of(std::uint64_t total, std::uint64_t share) noexcept {
        __extension__ typedef unsigned __int128 wide;
        return static_cast<std::uint64_t>(static_cast<wide>(total) * share / one);
    }

    [[nodiscard]] std::uint64_t largest_share(std::uint32_t sample, std::size_t phases) const noexcept {
        auto const first = shares_.begin() + static_cast<std::ptrdiff_t>(sample * phases);
        return *std::max_element(first, first + static_cast<std::ptrdiff_t>(phases));
    }

    void sort_by_node(step_problem const& problem) {
        std::size_t const phases = problem.phases.size();
        order_.resize(problem.samples.size());
        std::iota(order_.begin(), order_.end(), 0U);
        keys_.resize(order_.size());
        for (std::uint32_t sample = 0; sample < keys_.size(); ++sample) {
            keys_[sample] = largest_share(sample, phases);
        }
        auto const node = [&](std::uint32_t sample) {
            return to_index(problem.cluster.node_of(problem.home.places[sample].rank));
        };
        std::ranges::sort(order_, [&](std::uint32_t a, std::uint32_t b) {
            if (node(a) != node(b)) {
                return node(a) < node(b);
            }
            return keys_[a] != keys_[b] ? keys_[a] > keys_[b] : a < b;
        });
    }

    /// The sum of squares grows by twice the product of what is there and what comes, and by what is the same
    /// everywhere.
    [[nodiscard]] std::size_t slot_for(std::uint32_t sample, std::size_t phases) const noexcept {
        auto const& loads = loads_;
        std::size_t best = 0;
        std::uint64_t least = 0;
        for (std::size_t slot = 0; slot < slots_; ++slot) {
            std::uint64_t growth = 0;
            for (std::size_t number = 0; number < phases; ++number) {
                growth += loads[slot * phases + number] * shares_[sample * phases + number];
            }
            if (slot == 0 || growth < least) {
                best = slot;
                least = growth;
            }
        }
        return best;
    }

    std::size_t slots_ = 1;
    std::vector<std::uint64_t> shares_;   ///< of each sample in each phase
    std::vector<std::uint64_t> largest_;  ///< of its largest item
    std::vector<bool> heavy_;
    std::vector<std::size_t> rank_parts_;  ///< ranks of each phase
    std::vector<std::uint32_t> order_;     ///< samples by node, then by falling share
    std::vector<std::uint64_t> keys_;      ///< of each sample: its largest share
    std::vector<std::uint64_t> loads_;     ///< of each micro-batch and phase
    std::vector<std::uint64_t> most_;
    std::vector<std::uint64_t> instances_;  ///< of each node and phase
    std::vector<std::uint64_t> of_nodes_;   ///< loads of each micro-batch, node and phase
    std::vector<micro_batch_id> other_;
};

}  // namespace evenkeel::detail
