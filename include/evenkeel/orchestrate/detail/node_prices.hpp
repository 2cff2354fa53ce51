// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/orchestrate/detail/step_problem.hpp>

namespace evenkeel::detail {

/// What a node must at least send away of what it has drawn, from prices on the load that has to leave.
///
/// Every feasible step takes at least `surplus[m]` of the load of phase m out of the node. With a price per load on
/// each, what is paid for the surplus, plus what the cheapest decision for every sample costs net of prices, is a lower
/// bound on the bytes (Lagrangian duality), whatever the prices. They are searched one after the other, each where the
/// bound, which is concave in it, is largest. Prices are integers in 2^-20 bytes per load, so that the bound is exact.
class node_prices {
  public:
    explicit node_prices(step_problem const& problem) : problem_{problem} {}

    /// @param samples  Those of the node, in one micro-batch.
    /// @param surplus  Of each phase: load beyond what the node's instances may have.
    [[nodiscard]] std::uint64_t operator()(std::span<item_id const> samples, std::span<std::uint64_t const> surplus) {
        samples_ = samples;
        surplus_ = surplus;
        if (std::ranges::all_of(surplus, [](std::uint64_t load) { return load == 0; })) {
            return 0;
        }
        prices_.assign(surplus.size(), 0);
        highest_.assign(surplus.size(), 0);
        start();
        wide best = value();
        for (int round = 0; round < 2; ++round) {
            for (std::size_t number = 0; number < prices_.size(); ++number) {
                if (surplus[number] > 0) {
                    best = std::max(best, raise(number, best));
                }
            }
        }
        return best <= 0 ? 0 : static_cast<std::uint64_t>(best >> fraction);
    }

  private:
    __extension__ typedef __int128 wide;
    static constexpr unsigned fraction = 20;

    /// Prices at which the typical unit is worth moving, and above which all are.
    void start() {
        for (std::size_t number = 0; number < prices_.size(); ++number) {
            if (surplus_[number] == 0) {
                continue;
            }
            auto const& amounts = problem_.amounts.phases[number];
            bool const encoder = number < problem_.encoders();
            std::uint64_t cheapest = ~std::uint64_t{0};
            for (item_id const sample : samples_) {
                std::size_t item = to_index(sample);
                std::size_t last = item + 1;
                if (encoder) {
                    last = problem_.samples.inputs[number].units.offsets[item + 1];
                    item = problem_.samples.inputs[number].units.offsets[item];
                }
                for (; item < last; ++item) {
                    if (amounts.weights[item] == 0) {
                        continue;
                    }
                    std::uint64_t const stays =
                        encoder ? problem_.ways(number) * amounts.output_bytes[item] : outputs_of(sample);
                    cheapest = std::min(cheapest, per_load(amounts.bytes[item], amounts.weights[item]));
                    highest_[number] =
                        std::max(highest_[number], per_load(amounts.bytes[item] + stays, amounts.weights[item]) + 1);
                }
            }
            // Text is so cheap that the LLM's price is best searched from nothing.
            prices_[number] = encoder ? std::min(cheapest, highest_[number]) : 0;
        }
    }

    [[nodiscard]] static std::uint64_t per_load(std::uint64_t bytes, std::uint64_t load) noexcept {
        wide const price = (static_cast<wide>(bytes) << fraction) / static_cast<wide>(load);
        constexpr wide most = wide{1} << 62U;
        return static_cast<std::uint64_t>(std::min(price, most));
    }

    [[nodiscard]] std::uint64_t outputs_of(item_id sample) const noexcept {
        std::uint64_t sum = 0;
        for (std::size_t encoder = 0; encoder < problem_.encoders(); ++encoder) {
            auto const& units = problem_.samples.inputs[encoder].units;
            for (std::size_t unit = units.first(sample); unit < units.first(sample) + units.count(sample); ++unit) {
                sum += problem_.ways(encoder) * problem_.amounts.phases[encoder].output_bytes[unit];
            }
        }
        return sum;
    }

    /// The best value over the price of one phase, to some percent of the range. Keeps the price that gives it.
    [[nodiscard]] wide raise(std::size_t number, wide best) {
        std::uint64_t kept = prices_[number];
        std::uint64_t low = 0;
        std::uint64_t high = highest_[number];
        auto const at = [&](std::uint64_t price) {
            prices_[number] = price;
            wide const found = value();
            if (found > best) {
                best = found;
                kept = price;
            }
            return found;
        };
        for (int step = 0; step < 14 && high - low > 2; ++step) {
            std::uint64_t const third = (high - low) / 3;
            if (at(low + third) < at(high - third)) {
                low += third;
            } else {
                high -= third;
            }
        }
        prices_[number] = kept;
        return best;
    }

    /// The bound at the present prices, in 2^-20 bytes.
    [[nodiscard]] wide value() const noexcept {
        wide sum = 0;
        for (std::size_t number = 0; number < prices_.size(); ++number) {
            sum += static_cast<wide>(prices_[number]) * static_cast<wide>(surplus_[number]);
        }
        auto const& llm = problem_.amounts.phases.back();
        for (item_id const sample : samples_) {
            wide stays = 0;
            wide leaves = (static_cast<wide>(llm.bytes[to_index(sample)]) << fraction) -
                          static_cast<wide>(prices_.back()) * static_cast<wide>(llm.weights[to_index(sample)]);
            for (std::size_t encoder = 0; encoder < problem_.encoders(); ++encoder) {
                auto const& units = problem_.samples.inputs[encoder].units;
                auto const& amounts = problem_.amounts.phases[encoder];
                for (std::size_t unit = units.first(sample); unit < units.first(sample) + units.count(sample); ++unit) {
                    wide const raw = (static_cast<wide>(amounts.bytes[unit]) << fraction) -
                                     static_cast<wide>(prices_[encoder]) * static_cast<wide>(amounts.weights[unit]);
                    wide const outputs = static_cast<wide>(problem_.ways(encoder) * amounts.output_bytes[unit])
                                         << fraction;
                    stays += std::min(wide{0}, raw + outputs);
                    leaves += std::min(outputs, raw);
                }
            }
            sum += std::min(stays, leaves);
        }
        return sum;
    }

    step_problem const& problem_;
    std::span<item_id const> samples_;
    std::span<std::uint64_t const> surplus_;
    std::vector<std::uint64_t> prices_;
    std::vector<std::uint64_t> highest_;
};

}  // namespace evenkeel::detail
