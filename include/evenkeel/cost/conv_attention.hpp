// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <evenkeel/cost/cost_model.hpp>
#include <evenkeel/cost/detail/polynomial.hpp>

namespace evenkeel {

/// What a padded front end before a packed transformer costs a rank:
///
///     padded * count * longest + sum of (linear * length + quadratic * length^2)
///
///     evenkeel::conv_attention_cost const model{.padded = 1, .linear = 4};
///     evenkeel::load_of(lengths, model);   // 8700 for lengths 900, 100 and 500: 3 * 900 + 4 * 1500
///
/// The front end is convolutions over a batch of equal lengths, as audio encoders have; the transformer behind it drops
/// the padding again (ConvTransformer in OrchMLLM, arXiv 2503.23830). Coefficients are integers and units the caller's,
/// as in `attention_cost`.
struct conv_attention_cost {
    std::uint64_t padded = 1;
    std::uint64_t linear = 1;
    std::uint64_t quadratic = 0;

    /// What each sample of a batch weighs in the front end if the longest has this length.
    ///
    /// @throws std::overflow_error  if the weight does not fit into 64 bits; names the length.
    [[nodiscard]] constexpr std::uint64_t padded_weight(std::uint64_t longest) const {
        return weight(0, padded, longest);
    }

    /// What a sample of this length weighs in the transformer.
    ///
    /// @throws std::overflow_error  if the weight does not fit into 64 bits; names the length.
    [[nodiscard]] constexpr std::uint64_t packed_weight(std::uint64_t length) const {
        return weight(quadratic, linear, length);
    }

    friend bool operator==(conv_attention_cost const&, conv_attention_cost const&) = default;

  private:
    [[nodiscard]] static constexpr std::uint64_t weight(std::uint64_t square, std::uint64_t line,
                                                        std::uint64_t length) {
        std::uint64_t weight = 0;
        if (!detail::polynomial(line, square, 0, length, weight)) {
            throw_weight_overflow("conv_attention_cost", length);
        }
        return weight;
    }
};

}  // namespace evenkeel
