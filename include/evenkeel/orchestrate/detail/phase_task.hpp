// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/quality.hpp>

namespace evenkeel::detail {

/// The items of one phase and micro-batch: what they weigh, where their bytes are, and what moving them costs.
struct phase_task {
    std::vector<std::uint64_t> weights;
    std::vector<std::uint64_t> bytes;
    std::vector<world_rank> anchors;
    std::vector<std::uint8_t> classes;   ///< items of a lower class leave their node first
    std::vector<std::uint32_t> samples;  ///< whose items they are: ascending; those of one sample follow each other
    bool several_units = false;          ///< whether a sample has more than one

    void clear() {
        weights.clear();
        bytes.clear();
        anchors.clear();
        classes.clear();
        samples.clear();
        several_units = false;
    }

    [[nodiscard]] std::size_t size() const noexcept { return weights.size(); }

    void push(std::uint64_t weight, std::uint64_t size, world_rank anchor, std::uint8_t item_class,
              std::uint32_t sample) {
        several_units = several_units || (!samples.empty() && samples.back() == sample);
        weights.push_back(weight);
        bytes.push_back(size);
        anchors.push_back(anchor);
        classes.push_back(item_class);
        samples.push_back(sample);
    }
};

/// The rank of each item of a task, and how even that is.
struct phase_answer {
    std::vector<std::uint32_t> rank_of;
    evenkeel::quality quality;
    bool from_scratch = false;
};

}  // namespace evenkeel::detail
