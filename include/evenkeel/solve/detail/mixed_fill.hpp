// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/mixed_sizes.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// How batches are filled up to a bound.
enum class mixed_filling {
    largest,  ///< after the longest item, always the largest that fits
    folded,   ///< as many items as suit the longest, large and small ones together
};

/// What filling under a bound came to.
struct mixed_outcome {
    std::uint64_t largest = 0;   ///< load of a batch
    std::uint64_t homeless = 0;  ///< weight of the items that found no batch
    std::uint64_t spare = 0;     ///< load that the batches of idle ranks and the last one would have taken
};

/// Fills one batch after the other up to a bound, each around the longest item that is left.
///
/// A batch of items like its longest, m, wastes what is left when one more of them does not fit; a smaller item may,
/// but is padded to m. With `largest`, that is all: for a model without a packed part, the exact greedy. `folded` does
/// better where many items are alike: whether floor(bound / m) or one item more loses less depends on how much is left,
/// so each number c of items has its range of sizes, around bound / c. Those above could fill a batch only with c - 1
/// of them and a padded item, those below would leave room with c. So a batch takes the largest and the smallest of the
/// range together, just as many of each as meet the bound with c items.
class mixed_fill {
  public:
    void reserve(std::size_t sizes) {
        left_.reserve(sizes);
        next_.reserve(sizes + 1);
    }

    /// @param bound  At least the weight of the heaviest item.
    /// @param place  Called with rank, size and how many items of it that rank takes.
    template <class Place>
    mixed_outcome operator()(mixed_sizes const& sizes, std::size_t ranks, std::uint64_t bound, mixed_filling filling,
                             step_budget& steps, Place place) {
        start(sizes, bound);
        mixed_outcome outcome{.homeless = sizes.total};
        std::uint64_t room = 0;
        std::size_t rank = 0;
        for (; rank < ranks && (head_ = next(head_)) < sizes.size(); ++rank) {
            count_ = 0;
            packed_ = 0;
            auto const take = [&](std::uint32_t size, std::uint64_t count) {
                ++spent_;
                left_[size] -= static_cast<std::uint32_t>(count);
                if (left_[size] == 0) {
                    next_[size] = size + 1;
                }
                count_ += count;
                packed_ += count * sizes.packed[size];
                outcome.homeless -= count * sizes.whole(size);
                place(rank, size, count);
            };
            std::uint64_t const padded = sizes.padded[head_];
            std::uint32_t const longest = head_;
            take(longest, 1);
            if (filling == mixed_filling::folded) {
                fold(longest, take);
            }
            room = bound - count_ * padded - packed_;
            while (room >= padded && room - padded >= sizes.packed.back()) {
                std::uint32_t const size = next(fitting(longest, room - padded));
                if (size == sizes.size()) {
                    break;
                }
                std::uint64_t const each = padded + sizes.packed[size];
                std::uint64_t const count = std::min<std::uint64_t>(left_[size], room / each);
                take(size, count);
                room -= count * each;
            }
            outcome.largest = std::max(outcome.largest, bound - room);
        }
        outcome.spare = (ranks - rank) * (bound / ranks) + room / ranks;
        steps.spend(spent_);
        return outcome;
    }

  private:
    void start(mixed_sizes const& sizes, std::uint64_t bound) {
        sizes_ = &sizes;
        bound_ = bound;
        left_.resize(sizes.size());
        for (std::size_t size = 0; size < sizes.size(); ++size) {
            left_[size] = sizes.count(size);
        }
        next_.resize(sizes.size() + 1);
        std::iota(next_.begin(), next_.end(), 0U);
        head_ = 0;
        range_count_ = 0;
        range_end_ = 0;
        smallest_ = 0;
        spent_ = 2 * sizes.size();
    }

    /// Takes large and small items after the longest, so many that the batch is full.
    template <class Take>
    void fold(std::uint32_t longest, Take take) {
        auto const& packed = sizes_->packed;
        std::uint64_t const count = suited(longest);
        std::uint64_t padded = 0;
        if (count < 2 || __builtin_mul_overflow(count, sizes_->padded[longest], &padded) || padded >= bound_ ||
            bound_ - padded <= packed_) {
            return;
        }
        find_range(longest, count);
        std::uint64_t missing = count - 1;
        std::uint64_t room = bound_ - padded - packed_;
        std::uint64_t const least = packed[smallest_];
        if (room / missing < least) {
            return;
        }
        // From the top, as long as what is missing then is no smaller than the smallest.
        for (std::uint32_t size = next(longest); missing > 0 && size <= smallest_; size = next(size)) {
            std::uint64_t const more = packed[size] - least;
            std::uint64_t const most = more > 0 ? std::min(missing, (room - missing * least) / more) : missing;
            std::uint64_t const taken = std::min<std::uint64_t>(most, left_[size]);
            if (taken == 0) {
                break;
            }
            take(size, taken);
            room -= taken * packed[size];
            missing -= taken;
            if (left_[size] > 0) {
                break;
            }
        }
        // Then close to the mean of what is missing: half, half of the rest, and so on, as each is a little too small.
        while (missing > 0) {
            std::uint32_t size = next(fitting(longest, room / missing));
            if (size == sizes_->size()) {
                break;
            }
            for (std::uint64_t batch = (missing + 1) / 2; batch > 0 && size < sizes_->size(); size = next(size)) {
                std::uint64_t const taken = std::min<std::uint64_t>(batch, left_[size]);
                take(size, taken);
                room -= taken * packed[size];
                missing -= taken;
                batch -= taken;
            }
        }
    }

    /// How many items a batch is to have whose longest is of this size.
    ///
    /// With s = padded / whole, one item more than fit is better if more than 1 - packed / (whole + packed) of it fits:
    /// then the range of sizes around bound / c has its large and its small items in the proportion in which they fold.
    [[nodiscard]] std::uint64_t suited(std::size_t size) const noexcept {
        std::uint64_t const whole = sizes_->whole(size);
        auto const width = static_cast<unsigned>(std::bit_width(whole));
        unsigned const shift = width > 31 ? width - 31 : 0;
        std::uint64_t const a = whole >> shift;
        std::uint64_t const b = sizes_->packed[size] >> shift;
        std::uint64_t const allowance = (a * b / (a + b)) << shift;
        return bound_ / whole + (bound_ % whole >= whole - allowance ? 1 : 0);
    }

    /// Keeps `smallest_` at the smallest size that is left in the range of `count`.
    void find_range(std::uint32_t longest, std::uint64_t count) {
        if (count != range_count_) {
            range_count_ = count;
            auto first = std::max(range_end_, longest + 1);
            for (auto end = static_cast<std::uint32_t>(sizes_->size()); first < end;) {
                std::uint32_t const middle = first + (end - first) / 2;
                if (suited(middle) <= count) {
                    first = middle + 1;
                } else {
                    end = middle;
                }
                ++spent_;
            }
            range_end_ = first;
            smallest_ = first - 1;
        }
        while (smallest_ > longest && left_[smallest_] == 0) {
            --smallest_;
            ++spent_;
        }
    }

    /// The first size, from `from` on, that packs into `room`; the number of sizes if none does.
    [[nodiscard]] std::uint32_t fitting(std::uint32_t from, std::uint64_t room) {
        std::uint64_t const* const packed = sizes_->packed.data();
        auto length = static_cast<std::uint32_t>(sizes_->size()) - from;
        spent_ += static_cast<std::uint64_t>(std::bit_width(length));
        while (length > 0) {
            std::uint32_t const half = length / 2;
            bool const larger = packed[from + half] > room;
            from = larger ? from + half + 1 : from;
            length = larger ? length - half - 1 : half;
        }
        return from;
    }

    /// The first size from `size` on of which something is left.
    [[nodiscard]] std::uint32_t next(std::uint32_t size) noexcept {
        while (next_[size] != size) {
            next_[size] = next_[next_[size]];
            size = next_[size];
        }
        return size;
    }

    mixed_sizes const* sizes_ = nullptr;
    std::uint64_t bound_ = 0;
    std::vector<std::uint32_t> left_;  ///< items of each size
    std::vector<std::uint32_t> next_;  ///< leads from a used-up size towards one that is not
    std::uint32_t head_ = 0;           ///< the largest size that is left
    std::uint64_t count_ = 0;          ///< of items in the batch at hand
    std::uint64_t packed_ = 0;         ///< what they weigh
    std::uint64_t range_count_ = 0;
    std::uint32_t range_end_ = 0;
    std::uint32_t smallest_ = 0;
    std::uint64_t spent_ = 0;
};

}  // namespace evenkeel::detail
