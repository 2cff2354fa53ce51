// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace evenkeel::detail {

/// The items that are still to be placed, by size: class 0 has the heaviest ones, the last class the lightest ones.
///
/// Finds the heaviest item of at most some weight in a few steps: a table by the upper bits of the weight leads to the
/// neighbourhood, and classes that are used up are skipped in one go.
class remaining_items {
  public:
    void reserve(std::size_t items) {
        classes_.reserve(items + 1);
        table_.reserve(std::size_t{1} << most_table_bits);
    }

    /// @param weights  In falling order; there is at least one.
    void reset(std::span<std::uint64_t const> weights) {
        classes_.clear();
        for (std::uint32_t item = 0; item < weights.size(); ++item) {
            if (classes_.empty() || classes_.back().weight != weights[item]) {
                classes_.push_back({.weight = weights[item], .item = item, .left = 0, .next = size()});
            }
            ++classes_.back().left;
        }
        end_ = size();
        classes_.push_back({.weight = 0, .item = 0, .left = 0, .next = end_});
        lightest_ = end_ - 1;
        left_ = weights.size();

        auto const width = static_cast<unsigned>(std::bit_width(weights.front()));
        // Small batches have no use for a large table.
        unsigned const bits = std::min(static_cast<unsigned>(std::bit_width(end_)) + 1, most_table_bits);
        shift_ = width - std::min(width, bits);
        table_.resize(std::size_t{1} << bits);
        std::uint32_t first = end_;
        for (std::size_t upper = 0; upper < table_.size(); ++upper) {
            while (first > 0 && classes_[first - 1].weight >> shift_ <= upper) {
                --first;
            }
            table_[upper] = first;
        }
    }

    [[nodiscard]] bool empty() const noexcept { return left_ == 0; }

    /// One past the last class: the answer when nothing is found.
    [[nodiscard]] std::uint32_t end() const noexcept { return end_; }

    [[nodiscard]] std::uint64_t weight(std::uint32_t number) const noexcept { return classes_[number].weight; }
    [[nodiscard]] std::uint64_t lightest_weight() const noexcept { return classes_[lightest_].weight; }

    /// The first class that has items left, `from` on.
    [[nodiscard]] std::uint32_t first_from(std::uint32_t from) noexcept {
        std::uint32_t number = skip_used_up(from);
        while (number != end_ && classes_[number].left == 0) {
            number = skip_used_up(number + 1);
        }
        return number;
    }

    /// The first class, `from` on, whose items weigh no more than `weight`.
    [[nodiscard]] std::uint32_t heaviest_at_most(std::uint64_t weight, std::uint32_t from) noexcept {
        std::size_t const upper = std::min<std::uint64_t>(weight >> shift_, table_.size() - 1);
        std::uint32_t number = std::max(table_[upper], from);
        while (classes_[number].weight > weight) {
            ++number;
        }
        return first_from(number);
    }

    /// Puts one item of a class aside while a search tries it, and back.
    void hold(std::uint32_t number) noexcept { --classes_[number].left; }
    void release(std::uint32_t number) noexcept { ++classes_[number].left; }

    /// Takes one item of a class for good.
    [[nodiscard]] std::uint32_t take(std::uint32_t number) noexcept {
        auto& from = classes_[number];
        --left_;
        if (--from.left == 0) {
            from.next = number + 1;
            while (lightest_ > 0 && classes_[lightest_].left == 0) {
                --lightest_;
            }
        }
        return from.item++;
    }

  private:
    static constexpr unsigned most_table_bits = 12;

    struct size_class {
        std::uint64_t weight;
        std::uint32_t item;  ///< the first that is left
        std::uint32_t left;  ///< how many are
        std::uint32_t next;  ///< the class itself, or one behind it, before which all are used up
    };

    [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(classes_.size()); }

    /// Shortens the way for those who come after.
    std::uint32_t skip_used_up(std::uint32_t number) noexcept {
        while (classes_[number].next != number) {
            classes_[number].next = classes_[classes_[number].next].next;
            number = classes_[number].next;
        }
        return number;
    }

    std::vector<size_class> classes_;  ///< and one at the end that weighs nothing
    std::vector<std::uint32_t> table_;
    std::uint32_t end_ = 0;
    std::uint32_t lightest_ = 0;
    std::size_t left_ = 0;
    unsigned shift_ = 0;
};

}  // namespace evenkeel::detail
