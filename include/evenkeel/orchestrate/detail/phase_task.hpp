// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/quality.hpp>
#include <evenkeel/orchestrate/detail/phase_amounts.hpp>

namespace evenkeel::detail {

/// The items of one phase and micro-batch: what they weigh, where their bytes are, and what moving them costs.
///
/// Where a step has one micro-batch, its items are those of the phase, and nothing is copied.
struct phase_task {
    std::span<std::uint64_t const> weights;
    std::span<std::uint64_t const> padded;  ///< of these, what counts as often as there are items; empty if none
    std::span<std::uint64_t const> bytes;
    std::span<std::uint8_t const> classes;  ///< items of a lower class leave their node first; empty if all are alike
    std::vector<std::uint32_t> home_ranks;  ///< the instance that each item is nearest to
    std::vector<item_id> items;             ///< which they are, ascending; empty if they are all
    bool limit_imports = false;             ///< whether no node is to take on more than others give away
    bool several_units = false;             ///< whether a sample has more than one
    std::vector<std::uint32_t> starts;      ///< then: the first item of each sample that has any
    /// How much of the slack nodes keep back for their ranks. Half: with more, tries with other shares follow, and with
    /// less, failing nodes.
    std::uint64_t slack_tenths = 5;

    // What the spans refer to, where it is not the phase's own.
    std::vector<std::uint64_t> some_weights;
    std::vector<std::uint64_t> some_padded;
    std::vector<std::uint64_t> some_bytes;
    std::vector<std::uint8_t> some_classes;

    void reserve(std::size_t most) {
        home_ranks.reserve(most);
        items.reserve(most);
        starts.reserve(most);
        some_weights.reserve(most);
        some_padded.reserve(most);
        some_bytes.reserve(most);
        some_classes.reserve(most);
    }

    /// @param amounts  Of the phase, of which the task has the `whole` or `items`.
    void take_weights(phase_amounts const& amounts, bool whole) {
        weights = whole ? amounts.weights : copies_of(amounts.weights, some_weights);
        padded = whole ? amounts.padded : copies_of(amounts.padded, some_padded);
    }

    /// What `all` has for each of `items`, if anything.
    std::span<std::uint64_t const> copies_of(std::span<std::uint64_t const> all,
                                             std::vector<std::uint64_t>& copies) const {
        copies.resize(all.empty() ? 0 : items.size());
        for (std::size_t at = 0; at < copies.size(); ++at) {
            copies[at] = all[to_index(items[at])];
        }
        return copies;
    }

    [[nodiscard]] std::size_t size() const noexcept { return weights.size(); }
    [[nodiscard]] std::size_t item(std::size_t position) const noexcept {
        return items.empty() ? position : to_index(items[position]);
    }
};

/// Lists the first item of each sample, whose items are neighbours, without asking which these are, which no processor
/// foresees.
///
/// @param owners  Of all items of the phase.
inline void list_starts(std::span<item_id const> owners, phase_task& task) {
    auto& starts = task.starts;
    starts.resize(task.size());
    std::size_t samples = 0;
    for (std::size_t at = 0; at < task.size(); ++at) {
        starts[samples] = static_cast<std::uint32_t>(at);
        samples += at == 0 || owners[task.item(at)] != owners[task.item(at - 1)] ? 1U : 0U;
    }
    starts.resize(samples);
}

/// Up to 13 items per rank that weigh something, two ranks' items can be split in all ways.
[[nodiscard]] inline bool is_sparse(std::span<std::uint64_t const> weights, std::size_t ranks) noexcept {
    std::size_t const most = 13 * ranks;
    std::size_t present = 0;
    // So many at a time: mostly the first third says that there are more.
    constexpr std::size_t at_once = 1024;
    for (std::size_t first = 0; first < weights.size() && present <= most; first += at_once) {
        for (auto const weight : weights.subspan(first, std::min(at_once, weights.size() - first))) {
            present += weight != 0 ? 1U : 0U;
        }
    }
    return present <= most;
}

/// The rank of each item of a task, and how even that is.
struct phase_answer {
    std::vector<std::uint32_t> rank_of;
    evenkeel::quality quality;
    bool from_scratch = false;
};

}  // namespace evenkeel::detail
