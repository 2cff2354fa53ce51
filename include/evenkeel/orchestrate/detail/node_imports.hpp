// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/orchestrate/detail/step_problem.hpp>

namespace evenkeel::detail {

/// What must at least arrive at each node of the inputs of encoders.
///
/// What all other nodes together have no room for and a node has not drawn itself comes from elsewhere: at best the
/// cheapest per load of what others have drawn, the last unit cut to measure.
class node_imports {
  public:
    explicit node_imports(step_problem const& problem) : problem_{problem} {}

    /// Adds the bytes to those of each node.
    ///
    /// @param drawn  The samples of each node, in one micro-batch.
    /// @param loads  What these come to, of each node and phase,
    /// @param rooms  and what the node's instances may have.
    void add(std::span<std::vector<item_id> const> drawn, std::span<std::uint64_t const> loads,
             std::span<std::uint64_t const> rooms, std::span<std::uint64_t> of_node) {
        std::size_t const phases = problem_.phases.size();
        for (std::size_t encoder = 0; encoder < problem_.encoders(); ++encoder) {
            wide scarce = 0;  // what all nodes together lack, if less than nothing
            for (std::size_t at = encoder; at < loads.size(); at += phases) {
                scarce += static_cast<wide>(loads[at]) - static_cast<wide>(rooms[at]);
            }
            units_.clear();
            for (std::size_t node = 0; node < drawn.size(); ++node) {
                std::size_t const at = node * phases + encoder;
                wide const arrives = scarce + static_cast<wide>(rooms[at]) - static_cast<wide>(loads[at]);
                if (arrives <= 0) {
                    continue;
                }
                if (units_.empty()) {
                    list(encoder, drawn);
                }
                of_node[node] += least_bytes(node, arrives);
            }
        }
    }

  private:
    __extension__ typedef __int128 wide;
    __extension__ typedef unsigned __int128 area;

    /// Without a sign, as it may need all 128 bits.
    [[nodiscard]] static area product(std::uint64_t a, std::uint64_t b) noexcept { return static_cast<area>(a) * b; }

    struct drawn_unit {
        std::uint64_t bytes;
        std::uint64_t weight;
        std::size_t node;
    };

    /// The cheapest per load first.
    void list(std::size_t encoder, std::span<std::vector<item_id> const> drawn) {
        auto const& amounts = problem_.amounts.phases[encoder];
        auto const& units = problem_.samples.inputs[encoder].units;
        for (std::size_t node = 0; node < drawn.size(); ++node) {
            for (item_id const sample : drawn[node]) {
                for (std::size_t unit = units.first(sample); unit < units.first(sample) + units.count(sample); ++unit) {
                    if (amounts.weights[unit] > 0) {
                        units_.push_back({amounts.bytes[unit], amounts.weights[unit], node});
                    }
                }
            }
        }
        std::sort(units_.begin(), units_.end(), [](drawn_unit const& a, drawn_unit const& b) {
            return product(a.bytes, b.weight) < product(b.bytes, a.weight);
        });
    }

    [[nodiscard]] std::uint64_t least_bytes(std::size_t node, wide load) const noexcept {
        std::uint64_t bytes = 0;
        for (auto const& unit : units_) {
            if (unit.node == node) {
                continue;
            }
            if (static_cast<wide>(unit.weight) >= load) {
                return bytes +
                       static_cast<std::uint64_t>(product(unit.bytes, static_cast<std::uint64_t>(load)) / unit.weight);
            }
            bytes += unit.bytes;
            load -= static_cast<wide>(unit.weight);
        }
        return bytes;
    }

    step_problem const& problem_;
    std::vector<drawn_unit> units_;  ///< of one encoder
};

}  // namespace evenkeel::detail
