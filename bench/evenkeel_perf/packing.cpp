// SPDX-License-Identifier: Apache-2.0
#include "packing.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "pack.hpp"

namespace evenkeel::perf {
namespace {

template <class Work>
double seconds(Work work) {
    auto const begun = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

double median(std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
}

}  // namespace

std::string time_packing(std::uint64_t bytes, std::size_t rounds) {
    constexpr std::size_t total = std::size_t{1} << 28U;
    auto const items = total / bytes;
    std::vector<std::byte> source(total, std::byte{1});
    std::vector<std::byte> target(total, std::byte{2});
    field const sizes{.name = "sample", .bytes = std::vector<std::uint64_t>(items, bytes)};
    std::vector<item_id> order(items);
    for (std::size_t item = 0; item < items; ++item) {
        order[item] = to_id<item_id>(item);
    }
    auto const before = comm::field_on_rank{sizes, order};
    std::uint64_t state = 1;
    for (std::size_t last = items; last > 1; --last) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        std::swap(order[last - 1], order[(state >> 33U) % last]);
    }
    auto const after = comm::field_on_rank{sizes, order};
    std::vector<double> whole;
    std::vector<double> planning;
    std::vector<double> packing;
    for (std::size_t round = 0; round < rounds; ++round) {
        whole.push_back(seconds([&] { std::memcpy(target.data(), source.data(), items * bytes); }));
        std::vector<comm::piece> pieces;
        planning.push_back(seconds([&] {
            pieces = comm::pieces_kept(order, std::span{&before, 1}, std::span{&after, 1});
        }));
        packing.push_back(seconds([&] {
            comm::copy_pieces(
                pieces, [&](comm::piece const&) { return std::span<std::byte const>{source}; },
                [&](comm::piece const&) { return std::span{target}; });
        }));
    }
    return fmt::format("# {} samples of {} bytes: memcpy {:.1f} GB/s, packing at {:.3f} of it, planned in {:.1f} ms\n",
                       items, bytes, static_cast<double>(items * bytes) / median(whole) / 1e9,
                       median(whole) / median(packing), median(planning) * 1e3);
}

}  // namespace evenkeel::perf
