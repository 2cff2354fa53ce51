// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/parallel/collectives.hpp>
#include <evenkeel/parallel/deployment.hpp>

namespace evenkeel::detail {

/// A placement as far as time depends on it: on which node each GPU of each modality is, or each block, the
/// tensor-parallel GPUs of one stage, where none is torn apart.
class node_map {
  public:
    enum class places : std::uint8_t { gpus, blocks };

    node_map(std::span<deployment const> modalities, places kind) : modalities_{modalities} {
        for (auto const& one : modalities) {
            lanes_.push_back(kind == places::gpus ? one.cut.tp : 1);
            nodes_.emplace_back(one.replicas * one.cut.pp * lanes_.back());
        }
    }

    /// Places of a stage: one, or one for each of its GPUs.
    [[nodiscard]] std::size_t lanes(std::size_t modality) const noexcept { return lanes_[modality]; }
    /// GPUs of a place.
    [[nodiscard]] double width(std::size_t modality) const noexcept {
        return static_cast<double>(modalities_[modality].cut.tp) / static_cast<double>(lanes_[modality]);
    }

    [[nodiscard]] std::uint32_t& at(std::size_t modality, std::size_t replica, std::size_t stage,
                                    std::size_t lane = 0) {
        return nodes_[modality][(replica * modalities_[modality].cut.pp + stage) * lanes_[modality] + lane];
    }
    [[nodiscard]] std::uint32_t at(std::size_t modality, std::size_t replica, std::size_t stage,
                                   std::size_t lane = 0) const {
        return nodes_[modality][(replica * modalities_[modality].cut.pp + stage) * lanes_[modality] + lane];
    }

    /// All places of a modality.
    [[nodiscard]] std::vector<std::uint32_t>& of(std::size_t modality) noexcept { return nodes_[modality]; }

  private:
    std::span<deployment const> modalities_;
    std::vector<std::size_t> lanes_;
    std::vector<std::vector<std::uint32_t>> nodes_;
};

/// Counts members of a group by node; what it used is zero again after each call.
class node_counter {
  public:
    explicit node_counter(std::size_t nodes) : counts_(nodes) {}

    /// @param node_of  The node of each member from 0 on.
    template <class NodeOf>
    [[nodiscard]] spread spread_of(std::size_t members, NodeOf node_of) {
        spread result{.nodes = 0, .on_one_node = 0};
        for (std::size_t member = 0; member < members; ++member) {
            auto& count = counts_[node_of(member)];
            result.nodes += count == 0 ? 1 : 0;
            result.on_one_node = std::max(result.on_one_node, ++count);
        }
        clear(members, node_of);
        return result;
    }

    /// Calls `visit` with each node once, in the order of its first member.
    template <class NodeOf, class Visit>
    void each_node(std::size_t members, NodeOf node_of, Visit visit) {
        for (std::size_t member = 0; member < members; ++member) {
            if (counts_[node_of(member)]++ == 0) {
                visit(node_of(member));
            }
        }
        clear(members, node_of);
    }

  private:
    template <class NodeOf>
    void clear(std::size_t members, NodeOf node_of) {
        for (std::size_t member = 0; member < members; ++member) {
            counts_[node_of(member)] = 0;
        }
    }

    std::vector<std::size_t> counts_;
};

}  // namespace evenkeel::detail
