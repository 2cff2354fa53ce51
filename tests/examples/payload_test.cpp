// SPDX-License-Identifier: Apache-2.0
#include "examples/support/payload.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace evenkeel::examples::payload_test {
namespace {

std::vector<std::byte> payload(std::size_t size, std::uint64_t sample, std::uint64_t phase) {
    std::vector<std::byte> bytes(size);
    fill_payload(bytes, sample, phase);
    return bytes;
}

TEST(payload, is_known_from_sample_phase_and_offset) {
    for (std::size_t const size : {0U, 1U, 7U, 8U, 9U, 1000U}) {
        EXPECT_EQ(wrong_bytes(payload(size, 3, 1), 3, 1), 0U) << size;
    }
}

TEST(payload, of_a_short_item_is_the_beginning_of_a_long_ones) {
    auto const whole = payload(100, 7, 2);
    for (std::size_t size = 0; size <= 100; ++size) {
        EXPECT_EQ(payload(size, 7, 2), std::vector(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    }
}

TEST(payload, of_another_sample_or_phase_is_wrong_in_nearly_every_byte) {
    auto const bytes = payload(4096, 5, 1);
    EXPECT_GT(wrong_bytes(bytes, 6, 1), 4000U);
    EXPECT_GT(wrong_bytes(bytes, 5, 2), 4000U);
    EXPECT_GT(wrong_bytes(std::span{bytes}.subspan(8), 5, 1), 4000U);
}

TEST(payload, counts_each_changed_byte) {
    auto bytes = payload(33, 1, 0);
    bytes[0] ^= std::byte{1};
    bytes[17] ^= std::byte{128};
    bytes[32] ^= std::byte{255};
    EXPECT_EQ(wrong_bytes(bytes, 1, 0), 3U);
}

}  // namespace
}  // namespace evenkeel::examples::payload_test
