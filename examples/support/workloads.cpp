// SPDX-License-Identifier: Apache-2.0
#include "workloads.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "random.hpp"
#include "tri_modal.hpp"

namespace evenkeel::examples {
namespace {

using generator = std::vector<std::uint64_t> (*)(std::size_t, std::uint64_t);

template <class Draw>
std::vector<std::uint64_t> generate(std::size_t count, std::uint64_t seed, Draw draw) {
    auto random = random_source{seed};
    auto lengths = std::vector<std::uint64_t>(count);
    std::generate(lengths.begin(), lengths.end(), [&] { return draw(random); });
    return lengths;
}

/// The spread is given in tenths, for a double is no template argument everywhere.
template <int Tenths>
std::vector<std::uint64_t> lognormal(std::size_t count, std::uint64_t seed) {
    return generate(count, seed, [](random_source& random) {
        return static_cast<std::uint64_t>(std::clamp(std::round(random.lognormal(400, Tenths / 10.0)), 1.0, 32768.0));
    });
}

std::vector<std::uint64_t> uniform(std::size_t count, std::uint64_t seed) {
    return generate(count, seed, [](random_source& random) { return random.between(1, 2000); });
}

std::vector<std::uint64_t> tiles(std::size_t count, std::uint64_t seed) {
    return generate(count, seed, [](random_source& random) {
        return random.uniform() < 0.3 ? std::uint64_t{0} : 576 * random.between(1, 5);
    });
}

template <std::size_t Column>
std::vector<std::uint64_t> tri_modal_column(std::size_t count, std::uint64_t seed) {
    auto const rows = tri_modal(count, seed);
    auto lengths = std::vector<std::uint64_t>(count);
    for (auto row = std::size_t{0}; row < count; ++row) {
        lengths[row] = rows[row][Column];
    }
    return lengths;
}

std::vector<std::uint64_t> tri_modal_sum(std::size_t count, std::uint64_t seed) {
    auto const rows = tri_modal(count, seed);
    auto lengths = std::vector<std::uint64_t>(count);
    for (auto row = std::size_t{0}; row < count; ++row) {
        lengths[row] = std::accumulate(rows[row].begin(), rows[row].end(), std::uint64_t{0});
    }
    return lengths;
}

constexpr auto names = std::array<std::string_view, 8>{"lognormal_0.5", "lognormal_1.0", "lognormal_1.5", "uniform",
                                                       "tiles",         "vision",        "audio",         "llm"};
constexpr auto generators =
    std::array<generator, names.size()>{lognormal<5>, lognormal<10>,       lognormal<15>,       uniform,
                                        tiles,        tri_modal_column<1>, tri_modal_column<2>, tri_modal_sum};

}  // namespace

std::span<std::string_view const> workload_names() noexcept { return names; }

std::vector<std::uint64_t> workload(std::string_view name, std::size_t count, std::uint64_t seed) {
    auto const found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
        throw std::invalid_argument{
            fmt::format("workload: name: no '{}', expected one of {}", name, fmt::join(names, ", "))};
    }
    return generators[static_cast<std::size_t>(found - names.begin())](count, seed);
}

}  // namespace evenkeel::examples
