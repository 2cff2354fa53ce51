// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace evenkeel::comm {

/// Bytes to be copied within one memory. Ranges do not overlap.
struct local_copy {
    std::byte const* from = nullptr;
    std::byte* to = nullptr;
    std::size_t bytes = 0;
};

/// Bytes that lie anywhere, one run of several that follow each other in a message; without an address, a gap in it.
struct scattered_run {
    std::byte const* at = nullptr;  ///< what runs are written to is the caller's writable memory, seen likewise
    std::size_t bytes = 0;
};

/// So much that none of it is still in a cache when it is needed next.
inline constexpr std::uint64_t beyond_caches = std::uint64_t{32} << 20U;
/// Shorter copies have too few whole lines for a detour.
inline constexpr std::uint64_t least_past_caches = 2048;

#ifdef __SSE2__

/// Copies of samples that lie far from each other, as fast as one `memcpy` of all their bytes. Alone, each would read
/// the memory that it overwrites, and wait for the first lines of every page: so they are written past the caches, four
/// at a time, and read ahead.
///
/// @param copy_at  The copies, `copy_at(0)` to `copy_at(count - 1)`.
template <class CopyAt>
void copy_past_caches(std::size_t count, CopyAt copy_at) {
    constexpr std::size_t line = 64;
    constexpr std::size_t ways = 4;
    constexpr std::size_t ahead = 1024;
    auto const copy_line = [](std::byte const* from, std::byte* to) {
        auto const* const source = reinterpret_cast<__m128i const*>(from);
        auto* const target = reinterpret_cast<__m128i*>(to);
        __m128i const a = _mm_loadu_si128(source);
        __m128i const b = _mm_loadu_si128(source + 1);
        __m128i const c = _mm_loadu_si128(source + 2);
        __m128i const d = _mm_loadu_si128(source + 3);
        _mm_stream_si128(target, a);
        _mm_stream_si128(target + 1, b);
        _mm_stream_si128(target + 2, c);
        _mm_stream_si128(target + 3, d);
    };
    std::array<local_copy, ways> now;
    std::array<local_copy, ways> next;
    for (std::size_t first = 0; first < count; first += ways) {
        std::size_t lines = SIZE_MAX;
        for (std::size_t way = 0; way < ways; ++way) {
            now[way] = first + way < count ? copy_at(first + way) : local_copy{};
            next[way] = first + ways + way < count ? copy_at(first + ways + way) : local_copy{};
            // Whole lines of the target; what is before and behind them goes the ordinary way.
            auto& one = now[way];
            auto const misplaced = reinterpret_cast<std::uintptr_t>(one.to) % line;
            auto const head = std::min<std::size_t>((line - misplaced) % line, one.bytes);
            if (head > 0) {
                std::memcpy(one.to, one.from, head);
                one = {one.from + head, one.to + head, one.bytes - head};
            }
            lines = std::min(lines, one.bytes / line);
        }
        for (std::size_t at = 0; at < lines * line; at += line) {
            for (std::size_t way = 0; way < ways; ++way) {
                auto const& one = now[way];
                if (at + ahead < one.bytes) {
                    _mm_prefetch(reinterpret_cast<char const*>(one.from + at + ahead), _MM_HINT_T0);
                } else if (auto const beyond = at + ahead - one.bytes; beyond < next[way].bytes) {
                    _mm_prefetch(reinterpret_cast<char const*>(next[way].from + beyond), _MM_HINT_T0);
                }
                copy_line(one.from + at, one.to + at);
            }
        }
        for (auto const& one : now) {
            std::size_t at = lines * line;
            for (; at + line <= one.bytes; at += line) {
                copy_line(one.from + at, one.to + at);
            }
            if (at < one.bytes) {
                std::memcpy(one.to + at, one.from + at, one.bytes - at);
            }
        }
    }
    // In order for other threads and devices.
    _mm_sfence();
}

#else

template <class CopyAt>
void copy_past_caches(std::size_t count, CopyAt copy_at) {
    for (std::size_t number = 0; number < count; ++number) {
        if (auto const one = copy_at(number); one.bytes > 0) {
            std::memcpy(one.to, one.from, one.bytes);
        }
    }
}

#endif

/// All copies, each for itself or past the caches, whatever is faster for so many bytes.
///
/// @param bytes  Of all of them.
template <class CopyAt>
void copy_all(std::size_t count, std::uint64_t bytes, CopyAt copy_at) {
    if (bytes >= beyond_caches && bytes / count >= least_past_caches) {
        copy_past_caches(count, copy_at);
        return;
    }
    for (std::size_t number = 0; number < count; ++number) {
        if (auto const one = copy_at(number); one.bytes > 0) {
            std::memcpy(one.to, one.from, one.bytes);
        }
    }
}

}  // namespace evenkeel::comm
