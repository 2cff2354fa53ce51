// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <evenkeel/cost/cost_model.hpp>
#include <evenkeel/cost/detail/polynomial.hpp>

namespace evenkeel {

/// What a rank pays whose samples are all padded to the longest:
///
///     count * (linear * longest + quadratic * longest^2 + fixed)
///
///     evenkeel::padded_cost{}.padded_weight(900);            // 900: what each sample weighs if the longest has 900
///     evenkeel::load_of(lengths, evenkeel::padded_cost{});   // 2700 for lengths 900, 100 and 500
///
/// The usual cost of audio encoders with convolutions and of kernels without variable lengths; the quadratic part is
/// attention over the padded sequence (OrchMLLM, arXiv 2503.23830, gives both). Coefficients are integers and units the
/// caller's, as in `attention_cost`.
struct padded_cost {
    std::uint64_t linear = 1;
    std::uint64_t quadratic = 0;
    std::uint64_t fixed = 0;

    /// What each sample of a batch weighs whose longest sample has this length.
    ///
    /// @throws std::overflow_error  if the weight does not fit into 64 bits; names the length.
    [[nodiscard]] constexpr std::uint64_t padded_weight(std::uint64_t longest) const {
        std::uint64_t weight = 0;
        if (longest != 0 && !detail::polynomial(linear, quadratic, fixed, longest, weight)) {
            throw_weight_overflow("padded_cost", longest);
        }
        return weight;
    }

    friend bool operator==(padded_cost const&, padded_cost const&) = default;
};

}  // namespace evenkeel
