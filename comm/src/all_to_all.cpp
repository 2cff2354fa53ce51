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

/// Of each item, over all fields.
std::vector<std::uint64_t> bytes_of(rearrangement const& move, std::span<moving_field const> fields) {
    auto const sizes_of = [](moving_field const& one) -> field const& { return one.sizes; };
    return bytes_of_items(fields | std::views::transform(sizes_of), move.size());
}

/// What a rank knows without the others: its messages, packed, and where the arriving items belong.
class local_part {
  public:
    local_part(world_rank self, world_size size, rearrangement const& move, std::span<moving_field const> fields) {
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

        kept_ = pieces_kept(wire.kept, leaving, arriving);
        arriving_ = pieces_of(wire.receives, arriving);
        received_.resize(wire.receives.bytes());
        sent_.resize(wire.sends.bytes());
        copy_pieces(
            pieces_of(wire.sends, leaving), [&](piece const& one) { return sources_[one.field]; },
            [&](piece const&) { return std::span{sent_}; }, true);
        for (std::size_t m = 0; m < wire.sends.size(); ++m) {
            sends_.push_back({wire.sends.peers[m], part(std::span<std::byte const>{sent_}, wire.sends, m)});
        }
        for (std::size_t m = 0; m < wire.receives.size(); ++m) {
            receives_.push_back({wire.receives.peers[m], part(std::span{received_}, wire.receives, m)});
        }
    }

    /// The messages, in buffers of this object.
    [[nodiscard]] std::span<outgoing const> sends() const noexcept { return sends_; }
    [[nodiscard]] std::span<incoming const> receives() const noexcept { return receives_; }

    /// Fills the targets: with what stays, and with what has arrived.
    void unpack() {
        auto const target_of = [&](piece const& one) { return targets_[one.field]; };
        copy_pieces(
            kept_, [&](piece const& one) { return sources_[one.field]; }, target_of);
        copy_pieces(
            arriving_, [&](piece const&) { return std::span<std::byte const>{received_}; }, target_of);
    }

  private:
    template <class Byte>
    static std::span<Byte> part(std::span<Byte> buffer, messages const& messages, std::size_t m) {
        return buffer.subspan(messages.byte_offsets[m], messages.byte_offsets[m + 1] - messages.byte_offsets[m]);
    }

    std::vector<std::span<std::byte const>> sources_;  ///< per field
    std::vector<std::span<std::byte>> targets_;        ///< per field
    std::vector<piece> kept_;
    std::vector<piece> arriving_;
    std::vector<std::byte> sent_;
    std::vector<std::byte> received_;
    std::vector<outgoing> sends_;
    std::vector<incoming> receives_;
};

/// One exchange, which also compares the statements, then unpacking.
class all_to_all_transfer final : public transfer {
  public:
    /// @param exchange  Begins the exchange: `exchange(sends, receives, statement)`.
    template <class Exchange>
    all_to_all_transfer(world_rank self, world_size size, rearrangement const& move,
                        std::span<moving_field const> fields, Exchange exchange) {
        statement mine{.operation = "all_to_all"};
        try {
            local_.emplace(self, size, move, fields);
            mine.value = fingerprint_of(move, fields);
        } catch (...) {
            // The others wait for this rank's statement: they are told before the caller is.
            refusal_ = std::current_exception();
            local_.reset();
            mine.refused = true;
        }
        exchange_ = local_ ? exchange(local_->sends(), local_->receives(), mine) : exchange({}, {}, mine);
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
        unpacked_ = true;
    }

    /// The error names this rank, which knows more.
    void rethrow_refusal() const {
        if (refusal_ != nullptr) {
            std::rethrow_exception(refusal_);
        }
    }

    std::optional<local_part> local_;
    std::exception_ptr refusal_;
    pending exchange_;  // after the buffers it refers to, so that it is given up before they are freed
    bool unpacked_ = false;
};

}  // namespace

pending all_to_all(communicator& communicator, rearrangement const& move, std::span<moving_field const> fields,
                   stream on) {
    return pending{std::make_unique<all_to_all_transfer>(
        communicator.rank(), communicator.size(), move, fields,
        [&](std::span<outgoing const> sends, std::span<incoming const> receives, statement const& mine) {
            return communicator.exchange(sends, receives, on, mine);
        })};
}

pending all_to_all(hierarchy& ways, rearrangement const& move, std::span<moving_field const> fields,
                   exchange_options const& options, stream on) {
    return pending{std::make_unique<all_to_all_transfer>(
        ways.rank(), ways.size(), move, fields,
        [&](std::span<outgoing const> sends, std::span<incoming const> receives, statement mine) {
            // A rank whose buffers alone do not fit goes the way of the others, and tells them there.
            pair_traffic all{.ranks = ways.size(), .pairs = {}};
            try {
                if (move.ranks() == ways.size()) {
                    all = pair_traffic_of(move, bytes_of(move, fields));
                }
            } catch (std::exception const&) {
                mine.refused = true;
            }
            return ways.exchange(all, sends, receives, options, on, mine);
        })};
}

}  // namespace evenkeel::comm
