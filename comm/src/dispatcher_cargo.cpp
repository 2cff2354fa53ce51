// SPDX-License-Identifier: Apache-2.0
#include "dispatcher_cargo.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/errors.hpp>

#include "make_room.hpp"

namespace evenkeel::comm {

namespace {

/// Messages begin on a line of the cache, of a processor or of a device, for wide copies.
constexpr std::size_t line = 128;

constexpr std::size_t whole_lines(std::size_t bytes) { return (bytes + line - 1) / line * line; }

}  // namespace

std::uint64_t row_bytes_of(char const* function, std::size_t number, std::uint64_t columns,
                           std::uint64_t element_bytes) {
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(columns, element_bytes, &bytes)) {
        // Only here, for a step that is fine allocates nothing.
        throw std::overflow_error{std::string{function}
                                      .append(": ")
                                      .append(element("fields", number))
                                      .append(".columns = ")
                                      .append(std::to_string(columns))
                                      .append(" of .element_bytes = ")
                                      .append(std::to_string(element_bytes))
                                      .append(" exceed 64 bits")};
    }
    return bytes;
}

void cargo::clear(world_rank self) noexcept {
    self_ = self;
    moves_.clear();
    fields_.clear();
    leaving_.clear();
    arriving_.clear();
    first_rows_.clear();
    outbound_.clear();
    inbound_.clear();
    kept_.clear();
    leave_out();
    leave_device();
}

void cargo::lie_on(std::shared_ptr<copier> device, stream on) noexcept {
    device_ = std::move(device);
    on_ = on;
}

void cargo::leave_device() noexcept {
    device_ = nullptr;
    sent_there_ = nullptr;
    received_there_ = nullptr;
}

void cargo::leave_out() noexcept {
    sends_.clear();
    receives_.clear();
}

void cargo::list_items(layout const& layout, std::optional<micro_batch_id> only, std::vector<local_item>& items) const {
    std::size_t const first = items.size();
    for (std::size_t item = 0; item < layout.size(); ++item) {
        auto const& at = layout.places[item];
        if (at.rank == self_ && (!only || at.micro_batch == *only)) {
            items.push_back({at, to_id<item_id>(item)});
        }
    }
    std::ranges::sort(std::span{items}.subspan(first), {}, &local_item::at);
}

void cargo::add_move(layout const& from, layout const& to, std::optional<micro_batch_id> only) {
    auto const number = static_cast<std::uint32_t>(moves_.size());
    moves_.push_back({&from, &to, leaving_.size(), arriving_.size(), fields_.size(), fields_.size()});
    list_items(from, only, leaving_);
    list_items(to, only, arriving_);
    position_of_.resize(std::max(position_of_.size(), to.size()));
    auto const after = arriving(number);
    for (std::size_t position = 0; position < after.size(); ++position) {
        auto const& [at, item] = after[position];
        position_of_[to_index(item)] = static_cast<std::uint32_t>(position);
        if (from[item].rank != self_) {
            inbound_.push_back({from[item].rank, number, item, static_cast<std::uint32_t>(position)});
        }
    }
    auto const before = leaving(number);
    for (std::size_t position = 0; position < before.size(); ++position) {
        auto const& [at, item] = before[position];
        if (to[item].rank != self_) {
            outbound_.push_back({to[item].rank, number, item, static_cast<std::uint32_t>(position)});
        } else {
            kept_.push_back({number, static_cast<std::uint32_t>(position), position_of_[to_index(item)]});
        }
    }
}

std::span<cargo::local_item const> cargo::leaving(std::size_t move) const noexcept {
    std::size_t const last = move + 1 < moves_.size() ? moves_[move + 1].first_leaving : leaving_.size();
    return std::span{leaving_}.subspan(moves_[move].first_leaving, last - moves_[move].first_leaving);
}

std::span<cargo::local_item const> cargo::arriving(std::size_t move) const noexcept {
    std::size_t const last = move + 1 < moves_.size() ? moves_[move + 1].first_arriving : arriving_.size();
    return std::span{arriving_}.subspan(moves_[move].first_arriving, last - moves_[move].first_arriving);
}

void cargo::add_rows(field_in_move const& field, std::span<local_item const> items) {
    std::uint64_t rows = 0;
    first_rows_.push_back(0);
    for (auto const& one : items) {
        std::uint64_t const more = field.what.rows.empty() ? 1 : field.what.rows[to_index(one.item)];
        rows = checked_add(rows, more, "dispatcher: the rows of a field");
        first_rows_.push_back(rows);
    }
    // What a part of the items takes is less, so it need not be checked again.
    static_cast<void>(checked_multiply(checked_multiply(rows, field.what.row_bytes, "dispatcher: the size of a field"),
                                       field.what.planes, "dispatcher: the size of a field"));
}

void cargo::add_field(cargo_field const& field) {
    std::size_t const number = moves_.size() - 1;
    field_in_move one{.what = field, .move = number};
    one.first_source_row = first_rows_.size();
    add_rows(one, leaving(number));
    one.first_target_row = first_rows_.size();
    add_rows(one, arriving(number));
    fields_.push_back(one);
    moves_.back().last_field = fields_.size();
}

std::uint64_t cargo::source_bytes(std::size_t field) const noexcept {
    auto const& one = fields_[field];
    return first_rows_[one.first_target_row - 1] * one.what.row_bytes * one.what.planes;
}

std::uint64_t cargo::target_bytes(std::size_t field) const noexcept {
    auto const& one = fields_[field];
    return first_rows_[one.first_target_row + arriving(one.move).size()] * one.what.row_bytes * one.what.planes;
}

std::uint64_t cargo::bytes_of(moved_item const& one, bool leaves) const noexcept {
    std::uint64_t bytes = 0;
    for (std::size_t f = moves_[one.move].first_field; f < moves_[one.move].last_field; ++f) {
        auto const& field = fields_[f];
        auto const* rows =
            first_rows_.data() + (leaves ? field.first_source_row : field.first_target_row) + one.position;
        bytes += (rows[1] - rows[0]) * field.what.row_bytes * field.what.planes;
    }
    return bytes;
}

std::span<std::byte> cargo::memory_for(bool leaves, std::size_t bytes) {
    if (device_ == nullptr) {
        return (leaves ? sent_ : received_).take(bytes);
    }
    auto& there = leaves ? sent_there_ : received_there_;
    there = device_->take(bytes, on_);
    return {there.get(), bytes};
}

template <class Message>
void cargo::list_messages(std::span<moved_item const> items, bool leaves, std::vector<Message>& messages) {
    auto const for_each_peer = [&](auto const& visit) {
        for (std::size_t first = 0; first < items.size();) {
            std::size_t last = first;
            std::uint64_t bytes = 0;
            for (; last < items.size() && items[last].peer == items[first].peer; ++last) {
                bytes = checked_add(bytes, bytes_of(items[last], leaves), "dispatcher: the size of a message");
            }
            if (bytes > 0) {
                visit(items[first].peer, bytes);
            }
            first = last;
        }
    };
    std::uint64_t total = 0;
    std::size_t count = 0;
    for_each_peer([&](world_rank, std::uint64_t bytes) {
        ++count;
        total = checked_add(total, whole_lines(bytes), "dispatcher: the size of an exchange");
    });
    auto const room = memory_for(leaves, total);
    std::size_t at = 0;
    messages.clear();
    make_room(messages, count);
    for_each_peer([&](world_rank peer, std::uint64_t bytes) {
        messages.push_back({peer, room.subspan(at, bytes)});
        at += whole_lines(bytes);
    });
}

template <class Use, class Gap>
void cargo::for_each_run(bool leaves, Use use, Gap gap) const {
    auto const& items = leaves ? outbound_ : inbound_;
    std::size_t in_message = 0;
    for (std::size_t number = 0; number < items.size(); ++number) {
        auto const& one = items[number];
        if (number > 0 && one.peer != items[number - 1].peer) {
            gap(whole_lines(in_message) - in_message);
            in_message = 0;
        }
        for (std::size_t f = moves_[one.move].first_field; f < moves_[one.move].last_field; ++f) {
            auto const& field = fields_[f];
            auto const* rows = first_rows_.data() + (leaves ? field.first_source_row : field.first_target_row);
            std::size_t const bytes = (rows[one.position + 1] - rows[one.position]) * field.what.row_bytes;
            std::size_t const in_all = (leaves ? leaving(one.move) : arriving(one.move)).size();
            std::size_t const plane = rows[in_all] * field.what.row_bytes;
            for (std::size_t p = 0; p < field.what.planes && bytes > 0; ++p) {
                use(field.what, p * plane + rows[one.position] * field.what.row_bytes, bytes);
                in_message += bytes;
            }
        }
    }
}

template <class Use>
void cargo::for_each_kept(Use use) const {
    for (auto const& one : kept_) {
        for (std::size_t f = moves_[one.move].first_field; f < moves_[one.move].last_field; ++f) {
            auto const& field = fields_[f];
            auto const* before = first_rows_.data() + field.first_source_row;
            auto const* after = first_rows_.data() + field.first_target_row;
            std::size_t const bytes = (before[one.before + 1] - before[one.before]) * field.what.row_bytes;
            std::size_t const source_plane = before[leaving(one.move).size()] * field.what.row_bytes;
            std::size_t const target_plane = after[arriving(one.move).size()] * field.what.row_bytes;
            for (std::size_t p = 0; p < field.what.planes && bytes > 0; ++p) {
                use(field.what, p * source_plane + before[one.before] * field.what.row_bytes,
                    p * target_plane + after[one.after] * field.what.row_bytes, bytes);
            }
        }
    }
}

void cargo::list_runs(bool leaves) {
    runs_.clear();
    for_each_run(
        leaves,
        [&](cargo_field const& field, std::size_t offset, std::size_t bytes) {
            runs_.push_back({(leaves ? field.source.data() : field.target.data()) + offset, bytes});
        },
        [&](std::size_t bytes) {
            runs_.push_back({nullptr, bytes});
        });
}

void cargo::pack() {
    std::ranges::sort(outbound_);
    std::ranges::sort(inbound_);
    list_messages(std::span<moved_item const>{inbound_}, false, receives_);
    list_messages(std::span<moved_item const>{outbound_}, true, sends_);
    if (device_ != nullptr) {
        list_runs(true);
        device_->pack(runs_, sent_there_.get(), on_);
        return;
    }
    // The memory was taken just now, and is as long.
    auto* target = sent_.take(0).data();
    for_each_run(
        true,
        [&](cargo_field const& field, std::size_t offset, std::size_t bytes) {
            std::memcpy(target, field.source.data() + offset, bytes);
            target += bytes;
        },
        [&](std::size_t bytes) { target += bytes; });
}

void cargo::unpack() {
    if (device_ != nullptr) {
        list_runs(false);
        device_->unpack(runs_, received_there_.get(), on_);
        copies_.clear();
        for_each_kept([&](cargo_field const& field, std::size_t before, std::size_t after, std::size_t bytes) {
            copies_.push_back({field.source.data() + before, field.target.data() + after, bytes});
        });
        device_->copy(copies_, on_);
        return;
    }
    auto const* source = received_.take(0).data();
    for_each_run(
        false,
        [&](cargo_field const& field, std::size_t offset, std::size_t bytes) {
            std::memcpy(field.target.data() + offset, source, bytes);
            source += bytes;
        },
        [&](std::size_t bytes) { source += bytes; });
    for_each_kept([](cargo_field const& field, std::size_t before, std::size_t after, std::size_t bytes) {
        std::memcpy(field.target.data() + after, field.source.data() + before, bytes);
    });
}

std::uint64_t cargo::bytes_sent() const noexcept {
    std::uint64_t bytes = 0;
    for (auto const& message : sends_) {
        bytes += message.bytes.size();
    }
    return bytes;
}

std::uint64_t cargo::bytes_sent_between(topology const& nodes) const noexcept {
    std::uint64_t bytes = 0;
    for (auto const& message : sends_) {
        bytes += nodes.node_of(message.peer) != nodes.node_of(self_) ? message.bytes.size() : 0;
    }
    return bytes;
}

std::uint64_t cargo::bytes_received() const noexcept {
    std::uint64_t bytes = 0;
    for (auto const& message : receives_) {
        bytes += message.bytes.size();
    }
    return bytes;
}

std::uint64_t cargo::bytes_kept() const noexcept {
    std::uint64_t bytes = 0;
    for (std::size_t field = 0; field < fields_.size(); ++field) {
        bytes += source_bytes(field);
    }
    return bytes - bytes_sent();
}

}  // namespace evenkeel::comm
