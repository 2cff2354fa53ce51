// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <benchmark/benchmark.h>

#include <evenkeel/core/quality.hpp>

namespace evenkeel::bench {

/// How far `load` is above `bound`.
inline double excess(std::uint64_t load, std::uint64_t bound) {
    return quality{.max_load = load, .total_load = 0, .lower_bound = bound, .ranks = {1}}.gap();
}

/// The quality of a row over its seeds: the worst gap, and the share of seeds with none among those whose bound is not
/// the heaviest sample.
class verdict {
  public:
    void add(std::uint64_t busiest, std::uint64_t bound, std::uint64_t heaviest) {
        gap_ = std::max(gap_, excess(busiest, bound));
        if (bound > heaviest) {
            ++undecided_;
            exact_ += busiest == bound ? 1 : 0;
        }
    }

    void show(benchmark::State& state) const {
        state.counters["gap"] = gap_;
        if (undecided_ > 0) {
            state.counters["exact_share"] = exact_ / undecided_;
        }
    }

  private:
    double gap_ = 0;
    double undecided_ = 0;
    double exact_ = 0;
};

}  // namespace evenkeel::bench
