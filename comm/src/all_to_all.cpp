// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/comm/all_to_all.hpp>
#include <evenkeel/comm/error.hpp>
#include <evenkeel/comm/hierarchy.hpp>
#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/fingerprint.hpp>
#include <evenkeel/rearrange/exchange.hpp>
#include <evenkeel/rearrange/order.hpp>
#include <evenkeel/rearrange/pair_traffic.hpp>

#include "copier.hpp"
#include "pack.hpp"

namespace evenkeel::comm {

namespace {

std::uint64_t fingerprint_of(rearrangement const& move, std::span<moving_field const> fields) {
    fingerprint all;
    all.add(move.from()).add(move.to()).add(std::uint64_t{fields.size()});
    for (auto const& field : fields) {
        all.add(field.sizes.name);
        for (auto const bytes : field.sizes.bytes) {
            all.add(bytes);
        }
    }
    return all.value();
}

/// Refuses a buffer that is not of the size of this rank's items.
void require_size(std::size_t field, std::string_view buffer, std::size_t found, std::uint64_t expected) {
    if (found != expected) {
        throw_invalid("all_to_all", element("fields", field).append(buffer).append(".size()"), found,
                      "the " + std::to_string(expected) + " bytes of this rank's items");
    }
}

bool overlap(std::span<std::byte const> one, std::span<std::byte const> other) {
    std::less<> const before;
    return !one.empty() && !other.empty() && before(one.data(), other.data() + other.size()) &&
           before(other.data(), one.data() + one.size());
}

/// Items that arrive must overwrite neither items that have not left nor each other.
void require_apart(std::span<moving_field const> fields) {
    auto const refuse = [](std::size_t target, std::string const& other) {
        throw_invalid("all_to_all", element("fields", target) + ".target", "a buffer that overlaps " + other,
                      "buffers of their own");
    };
    for (std::size_t t = 0; t < fields.size(); ++t) {
        for (std::size_t s = 0; s < fields.size(); ++s) {
            if (overlap(fields[t].target, fields[s].source)) {
                refuse(t, element("fields", s) + ".source");
            }
            if (s < t && overlap(fields[t].target, fields[s].target)) {
                refuse(t, element("fields", s) + ".target");
            }
        }
    }
}

/// Whether some field lies in memory that only the backend reaches.
bool any_on(copier const& device, std::span<moving_field const> fields) {
    return std::ranges::any_of(fields, [&](moving_field const& one) {
        return (!one.source.empty() && device.reaches(one.source.data())) ||
               (!one.target.empty() && device.reaches(one.target.data()));
    });
}

/// Of each item, over all fields.
std::vector<std::uint64_t> bytes_of(rearrangement const& move, std::span<moving_field const> fields) {
    auto const sizes_of = [](moving_field const& one) -> field const& { return one.sizes; };
    return bytes_of_items(fields | std::views::transform(sizes_of), move.size());
}

/// What a rank knows without the others: its messages, packed, and where the arriving items belong.
class local_part {
  public:
    /// @param device  For fields in memory that only the backend reaches; then `on` is a stream.
    local_part(world_rank self, world_size size, rearrangement const& move, std::span<moving_field const> fields,
               std::shared_ptr<copier> device, stream on)
        : device_{std::move(device)}, on_{on} {
        if (move.ranks() != size) {
            throw_invalid("all_to_all", "move.ranks()", move.ranks().value,
                          "the " + std::to_string(size.value) + " ranks of the communicator");
        }
        auto const wire = exchange_of(move, self, bytes_of(move, fields));

        auto const before = items_on(move.from(), self);
        auto const after = items_on(move.to(), self);
        std::vector<field_on_rank> leaving;
        std::vector<field_on_rank> arriving;
        for (std::size_t f = 0; f < fields.size(); ++f) {
            leaving.emplace_back(fields[f].sizes, before);
            arriving.emplace_back(fields[f].sizes, after);
            require_size(f, ".source", fields[f].source.size(), leaving[f].bytes());
            require_size(f, ".target", fields[f].target.size(), arriving[f].bytes());
            sources_.push_back(fields[f].source);
            targets_.push_back(fields[f].target);
        }
        require_apart(fields);
        require_one_memory(fields);

        auto const send_offsets = offsets_of(wire.sends);
        auto const receive_offsets = offsets_of(wire.receives);
        kept_ = pieces_kept(wire.kept, leaving, arriving);
        arriving_ = pieces_of(wire.receives, receive_offsets, arriving);
        std::span<std::byte> sent;
        if (device_ == nullptr) {
            received_here_.resize(receive_offsets.back());
            sent_here_.resize(send_offsets.back());
            received_ = received_here_;
            sent = sent_here_;
        } else {
            there_ = device_->take(send_offsets.back() + receive_offsets.back(), on_);
            sent = {there_.get(), send_offsets.back()};
            received_ = {there_.get() + send_offsets.back(), receive_offsets.back()};
        }
        auto const source_of = [&](piece const& one) { return sources_[one.field]; };
        auto const target_of = [&](piece const&) { return sent; };
        auto const leaving_pieces = pieces_of(wire.sends, send_offsets, leaving);
        if (device_ == nullptr) {
            copy_pieces(leaving_pieces, source_of, target_of, true);
        } else {
            device_->pack(runs_of(leaving_pieces, source_of), sent.data(), on_);
        }
        for (std::size_t m = 0; m < wire.sends.size(); ++m) {
            sends_.push_back(
                {wire.sends.peers[m], part(std::span<std::byte const>{sent}, wire.sends, send_offsets, m)});
        }
        for (std::size_t m = 0; m < wire.receives.size(); ++m) {
            receives_.push_back({wire.receives.peers[m], part(received_, wire.receives, receive_offsets, m)});
        }
    }

    /// The messages, in buffers of this object.
    [[nodiscard]] std::span<outgoing const> sends() const noexcept { return sends_; }
    [[nodiscard]] std::span<incoming const> receives() const noexcept { return receives_; }

    /// Fills the targets: with what stays, and with what has arrived.
    void unpack() {
        auto const source_of = [&](piece const& one) { return sources_[one.field]; };
        auto const target_of = [&](piece const& one) { return targets_[one.field]; };
        auto const received = [&](piece const&) { return std::span<std::byte const>{received_}; };
        if (device_ == nullptr) {
            copy_pieces(kept_, source_of, target_of);
            copy_pieces(arriving_, received, target_of);
            return;
        }
        std::vector<local_copy> copies;
        add_copies(copies, kept_, source_of, target_of);
        device_->copy(copies, on_);
        device_->unpack(runs_of(arriving_, target_of), received_.data(), on_);
    }

  private:
    /// Where the messages lie. On a device each begins where it is copied fast, also by NCCL.
    [[nodiscard]] std::vector<std::uint64_t> offsets_of(messages const& messages) const {
        std::uint64_t const alignment = device_ == nullptr ? 1 : 128;
        std::vector<std::uint64_t> offsets{0};
        for (std::size_t m = 0; m < messages.size(); ++m) {
            auto const bytes = messages.byte_offsets[m + 1] - messages.byte_offsets[m];
            offsets.push_back(checked_add(offsets.back(), (bytes + alignment - 1) / alignment * alignment,
                                          "all_to_all: the size of the messages"));
        }
        return offsets;
    }

    template <class Byte>
    static std::span<Byte> part(std::span<Byte> buffer, messages const& messages,
                                std::span<std::uint64_t const> offsets, std::size_t m) {
        return buffer.subspan(offsets[m], messages.byte_offsets[m + 1] - messages.byte_offsets[m]);
    }

    /// One batch copies all, so all must be within its reach.
    void require_one_memory(std::span<moving_field const> fields) const {
        if (device_ == nullptr) {
            return;
        }
        for (std::size_t f = 0; f < fields.size(); ++f) {
            for (auto const& [name, bytes] : {std::pair{".source", std::span<std::byte const>{fields[f].source}},
                                              std::pair{".target", std::span<std::byte const>{fields[f].target}}}) {
                if (!bytes.empty() && !device_->reaches(bytes.data())) {
                    throw_invalid("all_to_all", element("fields", f) + name, "host memory",
                                  "device memory, as others of these fields have");
                }
            }
        }
    }

    std::shared_ptr<copier> device_;
    stream on_;
    std::vector<std::span<std::byte const>> sources_;  ///< per field
    std::vector<std::span<std::byte>> targets_;        ///< per field
    std::vector<piece> kept_;
    std::vector<piece> arriving_;
    std::vector<std::byte> sent_here_;
    std::vector<std::byte> received_here_;
    std::shared_ptr<std::byte> there_;  ///< both on the device
    std::span<std::byte> received_;
    std::vector<outgoing> sends_;
    std::vector<incoming> receives_;
};

/// One exchange, which also compares the statements, then unpacking.
class all_to_all_transfer final : public transfer {
  public:
    /// @param device    Of the backend, if it has one.
    /// @param exchange  Begins the exchange: `exchange(sends, receives, stream, statement)`.
    template <class Exchange>
    all_to_all_transfer(world_rank self, world_size size, rearrangement const& move,
                        std::span<moving_field const> fields, std::shared_ptr<copier> device, stream on,
                        Exchange exchange) {
        statement mine{.operation = "all_to_all"};
        try {
            if (device != nullptr && any_on(*device, fields)) {
                if (on == stream{}) {
                    on = device->own_stream();
                    finishes_ = device;
                }
            } else {
                device = nullptr;
            }
            local_.emplace(self, size, move, fields, std::move(device), on);
            mine.value = fingerprint_of(move, fields);
        } catch (...) {
            // The others wait for this rank's statement: they are told before the caller is.
            refusal_ = std::current_exception();
            local_.reset();
            mine.refused = true;
        }
        exchange_ = local_ ? exchange(local_->sends(), local_->receives(), on, mine) : exchange({}, {}, on, mine);
    }

    bool ready() override {
        try {
            if (!unpacked_ && exchange_.ready()) {
                finish();
            }
        } catch (comm::error const&) {
            rethrow_refusal();
            throw;
        }
        return unpacked_;
    }

    void wait(deadline until) override {
        if (unpacked_) {
            return;
        }
        try {
            exchange_.wait(until);
        } catch (comm::error const&) {
            rethrow_refusal();
            throw;
        }
        finish();
    }

  private:
    void finish() {
        local_->unpack();
        if (finishes_ != nullptr) {
            finishes_->finish_own_stream();
        }
        unpacked_ = true;
    }

    /// The error names this rank, which knows more.
    void rethrow_refusal() const {
        if (refusal_ != nullptr) {
            std::rethrow_exception(refusal_);
        }
    }

    std::shared_ptr<copier> finishes_;  ///< whose own stream this is on
    std::optional<local_part> local_;
    std::exception_ptr refusal_;
    pending exchange_;  // after the buffers it refers to, so that it is given up before they are freed
    bool unpacked_ = false;
};

}  // namespace

pending all_to_all(communicator& communicator, rearrangement const& move, std::span<moving_field const> fields,
                   stream on) {
    return pending{std::make_unique<all_to_all_transfer>(
        communicator.rank(), communicator.size(), move, fields, communicator.device_copier(), on,
        [&](std::span<outgoing const> sends, std::span<incoming const> receives, stream over, statement const& mine) {
            return communicator.exchange(sends, receives, over, mine);
        })};
}

pending all_to_all(hierarchy& ways, rearrangement const& move, std::span<moving_field const> fields,
                   exchange_options const& options, stream on) {
    return pending{std::make_unique<all_to_all_transfer>(
        ways.rank(), ways.size(), move, fields, ways.device_copier(), on,
        [&](std::span<outgoing const> sends, std::span<incoming const> receives, stream over, statement mine) {
            // A rank whose buffers alone do not fit goes the way of the others, and tells them there.
            pair_traffic all{.ranks = ways.size(), .pairs = {}};
            try {
                if (move.ranks() == ways.size()) {
                    all = pair_traffic_of(move, bytes_of(move, fields));
                }
            } catch (std::exception const&) {
                mine.refused = true;
            }
            return ways.exchange(all, sends, receives, options, over, mine);
        })};
}

}  // namespace evenkeel::comm
