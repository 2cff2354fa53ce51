// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/infeasible.hpp>
#include <evenkeel/core/not_found.hpp>
#include <evenkeel/solve/detail/bins_bound.hpp>
#include <evenkeel/solve/detail/first_fit.hpp>
#include <evenkeel/solve/detail/micro_batch_arguments.hpp>
#include <evenkeel/solve/detail/slot_bound.hpp>
#include <evenkeel/solve/detail/slot_search.hpp>
#include <evenkeel/solve/detail/solve.hpp>
#include <evenkeel/solve/detail/sorted_items.hpp>
#include <evenkeel/solve/detail/wish_problem.hpp>
#include <evenkeel/solve/detail/write_plan.hpp>
#include <evenkeel/solve/lower_bound.hpp>
#include <evenkeel/solve/micro_batch_options.hpp>
#include <evenkeel/solve/micro_batched.hpp>

namespace evenkeel::detail {

/// `micro_batches` and `count_micro_batches`, for weights and tokens that are known, in memory that is kept.
class micro_batch_solver {
  public:
    std::vector<std::uint64_t> weights;  ///< of the whole batch
    std::vector<std::uint64_t> tokens;
    micro_batched result;

    /// The fewest micro-batches for which a plan is known, or as many as asked for.
    micro_batch_number count(std::size_t ranks, micro_batch_options const& options) {
        micro_batch_number number = pack(ranks, options);
        if (options.count == 0) {
            number.count = fewest_planned(ranks, number.lower_bound, number.count, options);
        }
        return number;
    }

    void plan(std::size_t ranks, micro_batch_options const& options) {
        micro_batch_number const number = count(ranks, options);
        std::size_t const slots = number.count;
        require_counts("micro_batches", 0, {checked_multiply(ranks, slots, "micro_batches: ranks * micro-batches")});
        auto found = attempt(ranks, slots, options, bins_ <= ranks * slots);
        write(ranks, slots, options.step);
        // More than are needed can be slower, too: a heavy sample in each costs more than all of them in one.
        micro_batch_options const free{.cap = options.cap, .tolerance = options.tolerance, .effort = options.effort};
        bool const is_slow = (options.count != 0 || options.at_least > 1 || options.multiple_of > 1) &&
                             found.sum > goal_of(found.bound, options.tolerance);
        if (found.violation > 0 || (is_slow && slots > needed_)) {
            // As when nobody asks for a number: what can be planned with fewer leaves the others empty.
            kept_.assign(bin_of_.begin(), bin_of_.end());
            std::size_t const fewer = fewest_planned(ranks, needed_, std::min(slots, up(bins_, ranks, free)), free);
            if (fewer >= slots && found.violation > 0) {
                throw not_found{"micro_batches: options.cap with options.count", found.violation, result.plan};
            }
            auto const spread_out = fewer < slots ? spread(ranks, fewer, slots, options) : found;
            if (found.violation > 0 || spread_out.sum < found.sum) {
                found = {.violation = 0, .sum = spread_out.sum, .bound = found.bound};
            } else {
                bin_of_.assign(kept_.begin(), kept_.end());
            }
            write(ranks, slots, options.step);
        }
        result.quality = {.number = number,
                          .sum_of_slowest = found.sum * by_weight_.unit,
                          .lower_bound = found.bound * by_weight_.unit,
                          .total_load = problem_.total * by_weight_.unit,
                          .ranks = {ranks}};
    }

  private:
    struct outcome {
        std::uint64_t violation = 0;
        std::uint64_t sum = 0;    ///< of the slowest
        std::uint64_t bound = 0;  ///< of that sum
    };

    /// As many micro-batches as first fit needs, or as asked for.
    micro_batch_number pack(std::size_t ranks, micro_batch_options const& options) {
        require_micro_batches(ranks, options);
        std::uint64_t total = 0;
        std::uint64_t const cap = options.cap.value_or(rank_limits::none);
        for (std::size_t item = 0; item < tokens.size(); ++item) {
            total = checked_add(total, tokens[item], "micro_batches: the sum of the tokens");
            if (tokens[item] > cap) {
                throw infeasible{"micro_batches: options.cap", item, tokens[item] - cap};
            }
        }
        cap_ = std::max<std::uint64_t>(1, std::min(cap, total));
        reserve(tokens.size());
        sort_items("micro_batches", tokens, by_tokens_);
        scaled_ = by_tokens_.weights;
        for (auto& size : scaled_) {
            size *= by_tokens_.unit;
        }
        packed_.resize(scaled_.size());
        std::uint64_t fewest = bins_bound(scaled_, cap_);
        bins_ = fit_(scaled_, cap_, packed_);
        std::size_t const enough = up(bins_, ranks, options);
        if (enough > up(fewest, ranks, options)) {
            fewest = std::max(fewest, pieces_bound(scaled_, cap_));
        }
        needed_ = std::max<std::size_t>(1, ceil_of(fewest, ranks));
        if (options.count != 0 && options.count < needed_) {
            throw infeasible{"micro_batches: options.cap with options.count", std::nullopt, needed_ - options.count};
        }
        return {.count = options.count == 0 ? enough : options.count, .lower_bound = up(fewest, ranks, options)};
    }

    /// The fewest micro-batches from `least` on for which a plan is found, if fewer than `enough`; first `least`, which
    /// mostly decides, then by halves.
    std::size_t fewest_planned(std::size_t ranks, std::size_t least, std::size_t enough,
                               micro_batch_options const& options) {
        std::size_t const step = options.multiple_of;
        for (std::size_t tried = least; least < enough; tried = least + (enough - least) / step / 2 * step) {
            if (attempt(ranks, tried, options, false).violation == 0) {
                enough = tried;
            } else {
                least = tried + step;
            }
        }
        return enough;
    }

    /// A plan of `slots` micro-batches, all but `fewer` of them empty.
    outcome spread(std::size_t ranks, std::size_t fewer, std::size_t slots, micro_batch_options const& options) {
        auto const found = attempt(ranks, fewer, options, bins_ <= ranks * fewer);
        for (auto& bin : bin_of_) {
            bin = static_cast<std::uint32_t>(bin / fewer * slots + bin % fewer);
        }
        return found;
    }

    /// Searches for a plan of `slots` micro-batches.
    ///
    /// @param fits  Whether what is packed by first fit may be the start.
    outcome attempt(std::size_t ranks, std::size_t slots, micro_batch_options const& options, bool fits) {
        read(ranks * slots);
        bin_of_.resize(problem_.size());
        if (fits) {
            start_packed();
        }
        return search(ranks, slots, options, fits);
    }

    /// @param fits  Whether `bin_of_` meets the cap.
    outcome search(std::size_t ranks, std::size_t slots, micro_batch_options const& options, bool fits) {
        std::uint64_t const bound = bound_(problem_, ranks, slots, lower_bound(by_weight_, ranks));
        search_.reserve(weights.size(), ranks * slots);
        auto const [violation, sum] = search_(problem_, slots, goal_of(bound, options.tolerance), options.tolerance,
                                              fits, bin_of_, steps_for(problem_.size(), {.effort = options.effort}));
        return {violation, sum, bound};
    }

    void reserve(std::size_t items) {
        by_tokens_.reserve(items);
        by_weight_.reserve(items);
        fit_.reserve(items);
        bound_.reserve(items);
        for (auto* const numbers : {&packed_, &items_, &bin_of_, &kept_, &bin_of_item_, &rank_of_item_}) {
            numbers->reserve(items);
        }
        scaled_.reserve(items);
    }

    [[nodiscard]] static std::size_t ceil_of(std::uint64_t dividend, std::uint64_t divisor) noexcept {
        return static_cast<std::size_t>(dividend / divisor + (dividend % divisor != 0 ? 1 : 0));
    }

    /// The number of micro-batches for so many bins.
    [[nodiscard]] static std::size_t up(std::uint64_t bins, std::size_t ranks, micro_batch_options const& options) {
        std::size_t const least = std::max({ceil_of(bins, ranks), options.at_least, std::size_t{1}});
        return ceil_of(least, options.multiple_of) * options.multiple_of;
    }

    void read(std::size_t bins) {
        sort_items("micro_batches", weights, by_weight_);
        problem_.reserve(weights.size(), bins);
        problem_.clear(bins);
        problem_.items = weights.size();
        problem_.limits.quantity = cap_;
        problem_.total = by_weight_.total;
        problem_.weights.assign(by_weight_.weights.begin(), by_weight_.weights.end());
        items_.assign(by_weight_.positions.begin(), by_weight_.positions.end());
        for (std::size_t item = 0; item < weights.size(); ++item) {
            if (weights[item] == 0 && tokens[item] > 0) {
                items_.push_back(static_cast<std::uint32_t>(item));
                problem_.weights.push_back(0);
            }
        }
        problem_.counts.assign(items_.size(), 1);
        problem_.quantities.clear();
        for (auto const item : items_) {
            problem_.quantities.push_back(tokens[item]);
            problem_.total_quantity += tokens[item];
        }
    }

    void start_packed() {
        bin_of_item_.assign(weights.size(), 0);
        for (std::size_t place = 0; place < packed_.size(); ++place) {
            bin_of_item_[by_tokens_.positions[place]] = packed_[place];
        }
        for (std::size_t place = 0; place < problem_.size(); ++place) {
            bin_of_[place] = bin_of_item_[items_[place]];
        }
    }

    void write(std::size_t ranks, std::size_t slots, std::uint64_t step) {
        rank_of_item_.resize(weights.size());
        deal_in_turn(rank_of_item_, ranks);
        for (auto& bin : rank_of_item_) {
            bin = static_cast<std::uint32_t>(bin * slots);
        }
        for (std::size_t place = 0; place < problem_.size(); ++place) {
            // Bin `rank * slots + slot` is turned over the ranks and stays in its micro-batch.
            std::size_t const bin = bin_of_[place] + static_cast<std::size_t>(step % ranks) * slots;
            rank_of_item_[items_[place]] = static_cast<std::uint32_t>(bin % (ranks * slots));
        }
        write_plan(rank_of_item_, ranks * slots, result.plan);
        result.plan.micro_batches = slots;
    }

    std::uint64_t cap_ = 1;
    std::size_t bins_ = 0;
    std::size_t needed_ = 1;  ///< micro-batches, were there no wishes for their number
    sorted_items by_tokens_;
    sorted_items by_weight_;
    std::vector<std::uint64_t> scaled_;
    std::vector<std::uint32_t> packed_;  ///< the bin of each item by tokens
    first_fit fit_;
    wish_problem problem_;
    slot_bound bound_;
    slot_search search_;
    std::vector<std::uint32_t> items_;  ///< the item of each of the problem
    std::vector<std::uint32_t> bin_of_;
    std::vector<std::uint32_t> kept_;  ///< the bins of the first plan
    std::vector<std::uint32_t> bin_of_item_;
    std::vector<std::uint32_t> rank_of_item_;
};

}  // namespace evenkeel::detail
