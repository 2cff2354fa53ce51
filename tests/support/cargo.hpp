// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/comm/all_to_all.hpp>
#include <evenkeel/rearrange/field.hpp>
#include <evenkeel/rearrange/order.hpp>
#include <evenkeel/rearrange/rearrange.hpp>
#include <evenkeel/rearrange/rearrangement.hpp>

#include "tests/support/payloads.hpp"

namespace evenkeel::test {

/// All fields of the items of one rank, before and after a move. Every byte is known from field, item and position.
class cargo {
  public:
    cargo(rearrangement const& move, world_rank self, std::vector<field> fields) : fields_{std::move(fields)} {
        for (std::size_t f = 0; f < fields_.size(); ++f) {
            std::vector<std::vector<std::byte>> values;
            for (item_id const item : items_in_order(move.from())) {
                values.push_back(payload((f << 32U) + to_index(item) + 1, fields_[f].bytes[to_index(item)]));
            }
            sources_.push_back(joined(part_of(move.from(), self, values)));
            // What the whole move does in one memory is the oracle for what the ranks do together.
            expected_.push_back(joined(part_of(move.to(), self, rearrange(values, move))));
            targets_.push_back(untouched_bytes(bytes_on(move.to(), self, fields_[f])));
        }
    }

    [[nodiscard]] std::vector<comm::moving_field> moving() {
        std::vector<comm::moving_field> result;
        for (std::size_t f = 0; f < fields_.size(); ++f) {
            result.push_back({fields_[f], sources_[f], targets_[f]});
        }
        return result;
    }

    void expect_arrived() const {
        for (std::size_t f = 0; f < fields_.size(); ++f) {
            EXPECT_TRUE(targets_[f] == expected_[f]) << "field " << fields_[f].name;
        }
    }

    void expect_untouched() const {
        for (std::size_t f = 0; f < fields_.size(); ++f) {
            EXPECT_TRUE(targets_[f] == untouched_bytes(targets_[f].size())) << "field " << fields_[f].name;
        }
    }

    [[nodiscard]] std::vector<field>& fields() noexcept { return fields_; }
    [[nodiscard]] std::vector<std::vector<std::byte>>& sources() noexcept { return sources_; }
    [[nodiscard]] std::vector<std::vector<std::byte>>& targets() noexcept { return targets_; }

  private:
    using pieces = std::vector<std::vector<std::byte>>;

    /// Those of `self` among values in the order of `layout`, rank after rank.
    static pieces part_of(layout const& layout, world_rank self, pieces const& values) {
        std::ptrdiff_t first = 0;
        for (std::size_t rank = 0; rank < to_index(self); ++rank) {
            first += std::ssize(items_on(layout, to_id<world_rank>(rank)));
        }
        auto const begin = values.begin() + first;
        return {begin, begin + std::ssize(items_on(layout, self))};
    }

    static std::vector<std::byte> joined(pieces const& parts) {
        std::vector<std::byte> result;
        for (auto const& part : parts) {
            result.insert(result.end(), part.begin(), part.end());
        }
        return result;
    }

    std::vector<field> fields_;
    std::vector<std::vector<std::byte>> sources_;   ///< per field
    std::vector<std::vector<std::byte>> targets_;   ///< per field
    std::vector<std::vector<std::byte>> expected_;  ///< per field
};

}  // namespace evenkeel::test
