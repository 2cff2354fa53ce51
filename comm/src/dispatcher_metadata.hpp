// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <evenkeel/comm/dispatcher_fields.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/orchestrate/samples.hpp>

namespace evenkeel::comm {

/// Refuses samples of one rank that do not belong together.
///
/// @throws std::invalid_argument
void require_drawn(drawn_samples const& samples, std::size_t encoders);

/// What the ranks tell each other about a step before they plan it: their lengths, and what shows that they mean the
/// same step. As 64-bit words; what it takes in memory it keeps.
class step_metadata {
  public:
    struct claim {
        std::uint64_t number = 0;  ///< of the step
        std::uint64_t job = 0;     ///< the fingerprint of phases and options
    };

    void write(drawn_samples const& samples, claim const& mine);
    /// This rank cannot take part, and says so.
    void refuse(claim const& mine);

    [[nodiscard]] std::span<std::uint64_t const> words() const noexcept { return words_; }

    /// The length of what a rank has written, from its beginning.
    [[nodiscard]] static std::uint64_t length_of(std::span<std::uint64_t const> block) noexcept { return block[0]; }
    static constexpr std::size_t header = 4;

    /// The samples of all ranks, from equally long blocks in order of rank.
    ///
    /// @throws comm::error  that a rank has refused, or means another step than most.
    static void read(std::span<std::uint64_t const> blocks, world_rank self, world_size ranks, std::size_t encoders,
                     step_samples& samples);

  private:
    void begin(claim const& mine, std::uint64_t refused);

    std::vector<std::uint64_t> words_;
};

}  // namespace evenkeel::comm
