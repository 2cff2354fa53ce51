// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/core/topology.hpp>

#include "copier.hpp"

namespace evenkeel::comm {

/// Bytes without a value, of which there are only ever more: some more than asked for, as the next step may need a few.
class growing_bytes {
  public:
    [[nodiscard]] std::span<std::byte> take(std::size_t bytes) {
        if (bytes > capacity_) {
            // The old memory goes first, for both together may be too much.
            memory_.reset();
            capacity_ = 0;
            std::size_t const room = bytes + bytes / 8;
            memory_ = std::make_unique_for_overwrite<std::byte[]>(room);
            capacity_ = room;
        }
        return {memory_.get(), bytes};
    }

  private:
    std::unique_ptr<std::byte[]> memory_;
    std::size_t capacity_ = 0;
};

/// The bytes of a row of `fields[number]`, an argument of `function`.
///
/// @throws std::overflow_error  if they do not fit into 64 bits.
[[nodiscard]] std::uint64_t row_bytes_of(char const* function, std::size_t number, std::uint64_t columns,
                                         std::uint64_t element_bytes);

/// One field in a cargo: how its rows lie on this rank, before and after.
struct cargo_field {
    std::span<std::uint64_t const> rows = {};  ///< of each item of the move; empty: one each
    std::uint64_t row_bytes = 0;
    std::uint64_t planes = 1;
    std::span<std::byte const> source = {};
    std::span<std::byte> target = {};
};

/// All that this rank sends and receives for several moves at once: one message per peer, for the items of all moves
/// with all their fields. What it takes in memory it keeps.
///
/// A message is move after move, within it item after item by id, then field after field and plane after plane: both
/// ends cut it in this way.
class cargo {
  public:
    void clear(world_rank self) noexcept;
    /// What is packed lies on `device`, and so do sources and targets; the copies are put on `on`. Until `clear`.
    void lie_on(std::shared_ptr<copier> device, stream on) noexcept;
    /// The fields added from here on travel from one layout to the other, which outlive the cargo's use.
    ///
    /// @param only  Of this micro-batch alone, which is the same in both.
    void add_move(layout const& from, layout const& to, std::optional<micro_batch_id> only = {});
    /// @throws std::overflow_error  if a rank's bytes do not fit into 64 bits.
    void add_field(cargo_field const& field);

    [[nodiscard]] std::size_t size() const noexcept { return fields_.size(); }
    [[nodiscard]] std::uint64_t source_bytes(std::size_t field) const noexcept;
    [[nodiscard]] std::uint64_t target_bytes(std::size_t field) const noexcept;
    [[nodiscard]] cargo_field& operator[](std::size_t field) noexcept { return fields_[field].what; }

    /// Writes the messages. Sources and targets are of the sizes above.
    void pack();
    /// Sends and receives nothing.
    void leave_out() noexcept;
    /// Its memory on a device may serve others, once the stream is through with it.
    void leave_device() noexcept;
    [[nodiscard]] std::span<outgoing const> sends() const noexcept { return sends_; }
    [[nodiscard]] std::span<incoming const> receives() const noexcept { return receives_; }
    /// Fills the targets, with what has arrived and what stays.
    void unpack();

    [[nodiscard]] std::uint64_t bytes_sent() const noexcept;
    [[nodiscard]] std::uint64_t bytes_sent_between(topology const& nodes) const noexcept;
    [[nodiscard]] std::uint64_t bytes_received() const noexcept;
    [[nodiscard]] std::uint64_t bytes_kept() const noexcept;

  private:
    struct local_item {
        place at{};
        item_id item{};
    };
    struct movement {
        layout const* from = nullptr;
        layout const* to = nullptr;
        std::size_t first_leaving = 0;
        std::size_t first_arriving = 0;
        std::size_t first_field = 0;
        std::size_t last_field = 0;
    };
    struct field_in_move {
        cargo_field what;
        std::size_t move = 0;
        std::size_t first_source_row = 0;  ///< in `first_rows_`: one for each item that leaves, and the end
        std::size_t first_target_row = 0;
    };
    struct moved_item {
        world_rank peer{};
        std::uint32_t move = 0;
        item_id item{};
        std::uint32_t position = 0;  ///< among the items of this rank

        friend auto operator<=>(moved_item const&, moved_item const&) = default;
        friend bool operator==(moved_item const&, moved_item const&) = default;
    };
    struct kept_item {
        std::uint32_t move = 0;
        std::uint32_t before = 0;
        std::uint32_t after = 0;
    };

    void list_items(layout const& layout, std::optional<micro_batch_id> only, std::vector<local_item>& items) const;
    void add_rows(field_in_move const& field, std::span<local_item const> items);
    [[nodiscard]] std::span<local_item const> leaving(std::size_t move) const noexcept;
    [[nodiscard]] std::span<local_item const> arriving(std::size_t move) const noexcept;
    [[nodiscard]] std::uint64_t bytes_of(moved_item const& one, bool leaves) const noexcept;
    template <class Message>
    void list_messages(std::span<moved_item const> items, bool leaves, std::vector<Message>& messages);
    [[nodiscard]] std::span<std::byte> memory_for(bool leaves, std::size_t bytes);
    /// Calls `use(field, offset, bytes)` for each plane of each field of each item, as they follow each other in the
    /// messages: where it lies in the buffer of the field. And `gap(bytes)` for what is between two messages.
    template <class Use, class Gap>
    void for_each_run(bool leaves, Use use, Gap gap) const;
    /// Calls `use(field, before, after, bytes)` likewise for what stays: where it lies in either buffer.
    template <class Use>
    void for_each_kept(Use use) const;
    /// Of the runs in the messages.
    void list_runs(bool leaves);

    world_rank self_{};
    std::vector<movement> moves_;
    std::vector<field_in_move> fields_;
    std::vector<local_item> leaving_;
    std::vector<local_item> arriving_;
    std::vector<std::uint64_t> first_rows_;
    std::vector<std::uint32_t> position_of_;  ///< of an item that arrives, among those
    std::vector<moved_item> outbound_;
    std::vector<moved_item> inbound_;
    std::vector<kept_item> kept_;
    growing_bytes sent_;
    growing_bytes received_;
    std::shared_ptr<copier> device_;  ///< null: all is on the host
    stream on_;
    std::shared_ptr<std::byte> sent_there_;
    std::shared_ptr<std::byte> received_there_;
    std::vector<scattered_run> runs_;
    std::vector<local_copy> copies_;
    std::vector<outgoing> sends_;
    std::vector<incoming> receives_;
};

}  // namespace evenkeel::comm
