// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

namespace evenkeel::test {
/// How often the program has allocated so far.
inline std::size_t allocations = 0;
}  // namespace evenkeel::test

// Every allocation of the program is counted: for one source file of a test program. Out of line: where only one of the
// pair is inlined, GCC sees a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
    ++evenkeel::test::allocations;
    if (void* const memory = std::malloc(size)) {
        return memory;
    }
    throw std::bad_alloc{};
}
[[gnu::noinline]] void* operator new(std::size_t size, std::nothrow_t const&) noexcept {
    ++evenkeel::test::allocations;
    return std::malloc(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
