// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/rearrange/exchange.hpp>
#include <evenkeel/rearrange/field.hpp>

#include "copy.hpp"

namespace evenkeel::comm {

/// How the items of one rank lie in the buffer of one field.
class field_on_rank {
  public:
    /// @param local  The items of the rank, in the order of its memory (`items_on`).
    field_on_rank(field const& sizes, std::span<item_id const> local) : sizes_{sizes}, offset_of_(sizes.bytes.size()) {
        for (item_id const item : local) {
            offset_of_[to_index(item)] = bytes_;
            bytes_ = checked_add(bytes_, bytes_of(item), "all_to_all: the size of a field");
        }
    }

    /// The size of the buffer.
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::uint64_t bytes_of(item_id item) const noexcept { return sizes_.bytes[to_index(item)]; }
    [[nodiscard]] std::uint64_t offset_of(item_id item) const noexcept { return offset_of_[to_index(item)]; }

  private:
    field const& sizes_;
    std::vector<std::uint64_t> offset_of_;  // by item id, so that a message's items are found without a search
    std::uint64_t bytes_ = 0;
};

/// One field of one item: `bytes` at `first` in one buffer and at `second` in another.
struct piece {
    std::size_t field = 0;
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    std::uint64_t bytes = 0;
};

/// Adds the copy of each piece from its `first` place in `source_of(piece)` to its `second` place in
/// `target_of(piece)`.
template <class Source, class Target>
void add_copies(std::vector<local_copy>& copies, std::span<piece const> pieces, Source source_of, Target target_of) {
    for (auto const& one : pieces) {
        auto const source = source_of(one).subspan(one.first, one.bytes);
        auto const target = target_of(one).subspan(one.second, one.bytes);
        copies.push_back({source.data(), target.data(), source.size()});
    }
}

/// The pieces as they follow each other at their `first` places, each at its `second` one in `buffer_of(piece)`.
///
/// @param pieces  Ascending in `first`, as `pieces_of` gives them.
template <class Buffer>
[[nodiscard]] std::vector<scattered_run> runs_of(std::span<piece const> pieces, Buffer buffer_of) {
    std::vector<scattered_run> runs;
    runs.reserve(pieces.size());
    std::uint64_t at = 0;
    for (auto const& one : pieces) {
        if (one.first > at) {
            runs.push_back({nullptr, one.first - at});
        }
        runs.push_back({buffer_of(one).subspan(one.second, one.bytes).data(), one.bytes});
        at = one.first + one.bytes;
    }
    return runs;
}

/// Copies each piece from its `first` place in `source_of(piece)` to its `second` place in `target_of(piece)`.
///
/// @param backwards  From `second` to `first`.
template <class Source, class Target>
void copy_pieces(std::span<piece const> pieces, Source source_of, Target target_of, bool backwards = false) {
    std::uint64_t total = 0;
    for (auto const& one : pieces) {
        total += one.bytes;
    }
    copy_all(pieces.size(), total, [&](std::size_t number) -> local_copy {
        auto const& one = pieces[number];
        auto const source = source_of(one).subspan(backwards ? one.second : one.first, one.bytes);
        auto const target = target_of(one).subspan(backwards ? one.first : one.second, one.bytes);
        return {source.data(), target.data(), source.size()};
    });
}

/// The pieces of all messages, `first` in the messages' own buffer, `second` in the buffer of the field.
///
/// A message is its first field of all its items, then its second, and so on: both ends cut it in this way.
///
/// @param offsets  Of the messages.
[[nodiscard]] inline std::vector<piece> pieces_of(messages const& messages, std::span<std::uint64_t const> offsets,
                                                  std::span<field_on_rank const> fields) {
    std::vector<piece> pieces;
    pieces.reserve(messages.items.size() * fields.size());
    for (std::size_t m = 0; m < messages.size(); ++m) {
        std::uint64_t at = offsets[m];
        for (std::size_t f = 0; f < fields.size(); ++f) {
            for (item_id const item : messages.items_of(m)) {
                pieces.push_back({f, at, fields[f].offset_of(item), fields[f].bytes_of(item)});
                at += fields[f].bytes_of(item);
            }
        }
    }
    return pieces;
}

/// The pieces of what stays, `first` in the source of the field, `second` in its target.
[[nodiscard]] inline std::vector<piece> pieces_kept(std::span<item_id const> kept,
                                                    std::span<field_on_rank const> sources,
                                                    std::span<field_on_rank const> targets) {
    std::vector<piece> pieces;
    pieces.reserve(kept.size() * sources.size());
    for (item_id const item : kept) {
        for (std::size_t f = 0; f < sources.size(); ++f) {
            pieces.push_back({f, sources[f].offset_of(item), targets[f].offset_of(item), sources[f].bytes_of(item)});
        }
    }
    return pieces;
}

}  // namespace evenkeel::comm
