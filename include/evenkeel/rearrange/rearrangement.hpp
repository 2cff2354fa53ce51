// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/layout.hpp>

namespace evenkeel {

/// The bijection that takes every item from its place in one layout to its place in another.
///
///     // Rank 0 has drawn items 0 and 1, rank 1 item 2. The plan gives item 0 to rank 0, items 2 and 1 to rank 1.
///     auto const home = evenkeel::home_layout(std::vector<std::size_t>{2, 1});
///     evenkeel::rearrangement const move{home, evenkeel::layout_of(plan)};
///     move.to()[evenkeel::item_id{1}];   // on rank 1, at position 1
///
/// The layouts may belong to groups of different size and members, in one world.
class rearrangement {
  public:
    /// @throws std::invalid_argument  if the layouts do not hold the same number of items in the same world, or an item
    ///                                lies outside it.
    rearrangement(layout from, layout to) : from_{std::move(from)}, to_{std::move(to)} {
        if (from_.size() != to_.size()) {
            throw_invalid("rearrangement", "to.size()", to_.size(),
                          "the " + std::to_string(from_.size()) + " items of `from`");
        }
        if (from_.ranks != to_.ranks) {
            throw_invalid("rearrangement", "to.ranks", to_.ranks.value,
                          "the world of `from`, " + std::to_string(from_.ranks.value) + " ranks");
        }
        require_world("from", from_);
        require_world("to", to_);
    }

    [[nodiscard]] layout const& from() const noexcept { return from_; }
    [[nodiscard]] layout const& to() const noexcept { return to_; }
    [[nodiscard]] std::size_t size() const noexcept { return from_.size(); }
    [[nodiscard]] world_size ranks() const noexcept { return from_.ranks; }

    friend bool operator==(rearrangement const&, rearrangement const&) = default;

  private:
    static void require_world(std::string_view argument, layout const& layout) {
        for (std::size_t item = 0; item < layout.size(); ++item) {
            if (std::size_t const rank = to_index(layout.places[item].rank); rank >= layout.ranks.value) {
                throw_invalid("rearrangement", element(argument, item) + ".rank", rank,
                              "a world rank below " + std::to_string(layout.ranks.value));
            }
        }
    }

    layout from_;
    layout to_;
};

/// The way back: what `move` did, undone.
///
/// Gradients of an encoder's outputs and a caller who wants the original order travel it.
[[nodiscard]] inline rearrangement invert(rearrangement const& move) { return {move.to(), move.from()}; }

/// `first`, then `second`, as one rearrangement, so that one exchange replaces two (the order of function composition).
///
///     evenkeel::rearrangement const to_encoder{home, evenkeel::layout_of(encoder_plan)};
///     evenkeel::rearrangement const to_llm{home, evenkeel::layout_of(llm_plan)};
///     evenkeel::compose(to_llm, evenkeel::invert(to_encoder));   // from encoder to LLM, past the home
///     evenkeel::compose(evenkeel::invert(move), move);           // from home to home: nothing moves
///
/// @throws std::invalid_argument  names the first item that `first` does not leave where `second` takes it up.
/// @complexity O(items)
[[nodiscard]] inline rearrangement compose(rearrangement const& second, rearrangement const& first) {
    if (second.size() != first.size()) {
        throw_invalid("compose", "second.size()", second.size(),
                      "the " + std::to_string(first.size()) + " items of `first`");
    }
    if (second.ranks() != first.ranks()) {
        throw_invalid("compose", "second.ranks()", second.ranks().value,
                      "the world of `first`, " + std::to_string(first.ranks().value) + " ranks");
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
