// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/layout.hpp>

namespace evenkeel {

/// The bijection that takes every item from its place in one layout to its place in another.
///
///     auto const to_encoder = evenkeel::rearrangement{home, layout_of(encoder_plan)};
///     auto const to_llm = evenkeel::rearrangement{home, layout_of(llm_plan)};
///     auto const outputs = evenkeel::compose(to_llm, evenkeel::invert(to_encoder));   // encoder -> llm, one exchange
///
/// The layouts may belong to groups of different size and members, in one world.
class rearrangement {
  public:
    /// @throws std::invalid_argument  if the layouts do not hold the same number of items in the same world.
    rearrangement(layout from, layout to) : from_{std::move(from)}, to_{std::move(to)} {
        if (from_.size() != to_.size()) {
            throw_invalid("rearrangement", "to.size()", to_.size(),
                          "the " + std::to_string(from_.size()) + " items of `from`");
        }
        if (from_.ranks != to_.ranks) {
            throw_invalid("rearrangement", "to.ranks", to_.ranks.value,
                          "the world of `from`, " + std::to_string(from_.ranks.value) + " ranks");
        }
    }

    [[nodiscard]] layout const& from() const noexcept { return from_; }
    [[nodiscard]] layout const& to() const noexcept { return to_; }
    [[nodiscard]] std::size_t size() const noexcept { return from_.size(); }
    [[nodiscard]] world_size ranks() const noexcept { return from_.ranks; }

    friend bool operator==(rearrangement const&, rearrangement const&) = default;

  private:
    layout from_;
    layout to_;
};

/// The way back: what `move` did, undone.
///
/// Gradients of an encoder's outputs and a caller who wants the original order travel it.
[[nodiscard]] inline rearrangement invert(rearrangement const& move) { return {move.to(), move.from()}; }

/// `first`, then `second`, as one rearrangement, so that one exchange replaces two (the order of function composition).
///
///     compose(to_llm, invert(to_encoder));   // from the encoder's layout to the LLM's, past the home
///
/// @throws std::invalid_argument  names the first item that `first` does not leave where `second` takes it up.
/// @complexity O(items)
[[nodiscard]] inline rearrangement compose(rearrangement const& second, rearrangement const& first) {
    if (second.size() != first.size() || second.ranks() != first.ranks()) {
        throw_invalid("compose", "second.size()", second.size(),
                      "the " + std::to_string(first.size()) + " items of `first` in the same world");
    }
    for (std::size_t item = 0; item < first.size(); ++item) {
        if (first.to().places[item] != second.from().places[item]) {
            throw_invalid("compose", element("second.from()", item), "another place than in first.to()",
                          "that `second` begins where `first` ends");
        }
    }
    return {first.from(), second.to()};
}

}  // namespace evenkeel
