// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <evenkeel/core/group.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/members.hpp>
#include <evenkeel/core/plan.hpp>
#include <evenkeel/cost/cost_model.hpp>
#include <evenkeel/cost/linear.hpp>
#include <evenkeel/cost/padded_model.hpp>

namespace evenkeel {

namespace detail {

/// In this order: whether `Self` is a cost model is not known before its constructors are.
template <class Model, class Self>
concept other_cost_model = !std::same_as<Model, Self> && cost_model<Model>;
template <class Model, class Self>
concept other_padded_model = !std::same_as<Model, Self> && padded_model<Model>;
template <class Model, class Self>
concept other_mixed_model = !std::same_as<Model, Self> && mixed_model<Model>;

}  // namespace detail

/// Any cost model, so that phases with different ones stand in one list: of packed batches, padded ones or both in
/// turn.
///
///     evenkeel::phase_cost const cost = evenkeel::attention_cost{.linear = 24576, .quadratic = 1};
///     evenkeel::phase_cost const padded = evenkeel::padded_cost{};                // count * longest of each rank
///     evenkeel::phase_cost const both = evenkeel::conv_attention_cost{};          // padded, then packed
class phase_cost {
  public:
    template <detail::other_cost_model<phase_cost> Model>
    phase_cost(Model model)  // NOLINT: a model is a cost
        : counts_tokens_{counts_tokens(model)},
          weigh_{[model](std::span<std::uint64_t const> lengths, std::span<std::uint64_t> weights,
                         std::span<std::uint64_t>) {
              for (std::size_t item = 0; item < lengths.size(); ++item) {
                  weights[item] = model.weight(lengths[item]);
              }
          }} {}

    template <detail::other_padded_model<phase_cost> Model>
    phase_cost(Model model)  // NOLINT: a model is a cost
        : pads_{true},
          weigh_{[model](std::span<std::uint64_t const> lengths, std::span<std::uint64_t> weights,
                         std::span<std::uint64_t> padded) {
              for (std::size_t item = 0; item < lengths.size(); ++item) {
                  weights[item] = model.padded_weight(lengths[item]);
              }
              if (!padded.empty()) {
                  std::ranges::copy(weights, padded.begin());
              }
          }} {}

    template <detail::other_mixed_model<phase_cost> Model>
    phase_cost(Model model)  // NOLINT: a model is a cost
        : pads_{true},
          packs_{true},
          weigh_{[model](std::span<std::uint64_t const> lengths, std::span<std::uint64_t> weights,
                         std::span<std::uint64_t> padded) {
              for (std::size_t item = 0; item < lengths.size(); ++item) {
                  std::uint64_t const length = lengths[item];
                  std::uint64_t const part = model.padded_weight(length);
                  if (__builtin_add_overflow(part, model.packed_weight(length), &weights[item])) {
                      throw_weight_overflow("phase_cost", length);
                  }
                  if (!padded.empty()) {
                      padded[item] = part;
                  }
              }
          }} {}

    /// Whether a rank's items are padded to its longest in some part of the phase, and
    [[nodiscard]] bool pads() const noexcept { return pads_; }
    /// whether they are packed in some part.
    [[nodiscard]] bool packs() const noexcept { return packs_ || !pads_; }

    /// Whether every length weighs as much as it is long, so that nothing need be asked.
    [[nodiscard]] bool counts_tokens() const noexcept { return counts_tokens_; }

    /// What each length weighs, by itself and in all, written to `weights`, and what of it is padded to the longest of
    /// a rank, to `padded`. Both are as long as `lengths`, which may be the same memory as `weights`; `padded` may be
    /// empty.
    ///
    /// @throws std::overflow_error  if a weight does not fit into 64 bits.
    void weigh(std::span<std::uint64_t const> lengths, std::span<std::uint64_t> weights,
               std::span<std::uint64_t> padded = {}) const {
        weigh_(lengths, weights, padded);
    }

  private:
    template <class Model>
    [[nodiscard]] static bool counts_tokens(Model const& model) noexcept {
        if constexpr (std::same_as<Model, linear_cost>) {
            return model == linear_cost{};
        } else {
            return false;
        }
    }

    bool pads_ = false;
    bool packs_ = false;
    bool counts_tokens_ = false;
    std::function<void(std::span<std::uint64_t const>, std::span<std::uint64_t>, std::span<std::uint64_t>)> weigh_;
};

/// How the plan of a phase is made.
enum class phase_method : std::uint8_t {
    stay,     ///< from where the items are, moving as few bytes between nodes as the tolerance allows (`rebalance`)
    relabel,  ///< without regard to where items are, then given to the ranks that have most of them (`relabel`); what
              ///< weighs nothing stays
    scratch,  ///< without regard to where items are (`balance`)
    given     ///< by the caller, in `phase::given`
};

/// A model part that runs on a batch: an encoder or the LLM, with what its items cost and carry.
///
///     evenkeel::phase const vision{.name = "vision",
///                                  .cost = evenkeel::attention_cost{.linear = 24576, .quadratic = 1},
///                                  .group = evenkeel::group_of({.tensor = 2, .data = 4}),
///                                  .bytes_in = 4704,             // 28 x 28 pixels of three 16-bit values
///                                  .bytes_out = 7168,            // 3584 hidden values of 16 bits
///                                  .tokens_per_output = 4};      // 2 x 2 patches become one
struct phase {
    std::string name = {};
    phase_cost cost = linear_cost{};

    /// Who runs it, and how the members of an instance are arranged. Groups of two phases may be the same world ranks,
    /// overlap or lie apart, with different numbers of instances.
    evenkeel::group group = {};
    member_shape members = {};

    std::uint64_t bytes_in = 0;           ///< of one token before the phase; of the LLM: of one text token
    std::uint64_t bytes_out = 0;          ///< of one token of its output, as the LLM takes it in
    std::uint64_t tokens_per_output = 1;  ///< down-sampling: so many tokens make one of the output, rounded up
    bool trained = true;                  ///< whether the gradient of the output travels back

    /// Sequences are padded up to a multiple of this, such as 2 * context * tensor; costs are those of padded lengths.
    std::uint64_t pad_to = 1;

    /// Of a cost that pads and packs, `stay` is as `relabel`.
    phase_method method = phase_method::stay;
    /// How much busier than the lower bound the busiest rank may be. Empty: 1e-3, or 1e-2 where there are several
    /// micro-batches, which have few items each, or 5e-2 where batches are only padded, which moves far less.
    std::optional<double> tolerance = {};
    /// Steps per item that the search may take. Phases of many items need few; of those of few items, less effort makes
    /// more plans from scratch, which move ten times as many bytes; with next to none, loads may miss the tolerance.
    std::uint64_t effort = 16384;
    std::optional<plan> given = {};  ///< over the instances, of the units of an encoder or the samples of the LLM
};

/// How many tokens an encoder makes of a unit of `tokens`: with `bytes_out`, what its output takes.
///
///     evenkeel::output_tokens({.tokens_per_output = 4}, 10);   // 3
[[nodiscard]] inline std::uint64_t output_tokens(phase const& encoder, std::uint64_t tokens) noexcept {
    // Asked, because dividing takes longer than all else.
    return encoder.tokens_per_output == 1
               ? tokens
               : tokens / encoder.tokens_per_output + (tokens % encoder.tokens_per_output != 0 ? 1 : 0);
}

namespace detail {

[[nodiscard]] inline double tolerance_of(phase const& phase, micro_batch_count micro_batches) noexcept {
    return phase.tolerance.value_or(!phase.cost.packs() ? 5e-2 : micro_batches.value > 1 ? 1e-2 : 1e-3);
}

}  // namespace detail

}  // namespace evenkeel
