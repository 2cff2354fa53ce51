// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/rearrange/passages.hpp>

#include "copy.hpp"

namespace evenkeel::comm {

/// One rank's part in one hop of an exchange. Peers are ranks of the world.
struct hop {
    std::vector<local_copy> before;  ///< within this rank; likewise `after`
    std::vector<outgoing> sends;
    std::vector<incoming> receives;
    std::vector<local_copy> after;
};

/// One rank's part in a relayed exchange, planned before anything moves: the messages of each hop, and which memory
/// they need. A message whose parts lie one behind the other, where they come from or where they belong, is not copied.
class hops_of_rank {
  public:
    /// @param passages  As `passages_of` gives them.
    /// @param sends     Of `self`; exactly what the passages from it carry. Likewise `receives`.
    hops_of_rank(std::span<passage const> passages, world_rank self, std::span<outgoing const> sends,
                 std::span<incoming const> receives);

    /// How many bytes of memory the rank needs beside the caller's buffers.
    [[nodiscard]] std::size_t memory() const noexcept { return memory_; }

    /// @param relay  `memory()` bytes, which outlive the hops.
    [[nodiscard]] std::array<hop, 3> in(std::byte* relay) const;

  private:
    /// A place in the caller's memory, or else in the relay's.
    struct spot {
        std::byte const* own = nullptr;
        std::size_t offset = 0;
    };
    struct planned_copy {
        spot from;
        spot to;
        std::size_t bytes = 0;
    };
    struct planned_message {
        world_rank peer{};
        spot at;
        std::size_t bytes = 0;
    };
    struct planned_hop {
        std::vector<planned_copy> before;
        std::vector<planned_message> sends;
        std::vector<planned_message> receives;
        std::vector<planned_copy> after;
    };
    /// A passage that touches this rank.
    struct stretch {
        passage way;
        spot source;  ///< where this rank has it, once it has
        spot target;  ///< where it belongs, on its last rank
    };

    void plan_receives(std::size_t hop);
    void plan_sends(std::size_t hop);
    [[nodiscard]] spot take(std::size_t bytes);

    world_rank self_;
    std::vector<stretch> parts_;
    std::array<planned_hop, 3> hops_;
    std::size_t memory_ = 0;
};

}  // namespace evenkeel::comm
