// SPDX-License-Identifier: Apache-2.0
#include <evenkeel/comm/all_to_all.hpp>

#include <algorithm>
#include <chrono>
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

#include <evenkeel/comm/error.hpp>
#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/fingerprint.hpp>
#include <evenkeel/rearrange/exchange.hpp>
#include <evenkeel/rearrange/order.hpp>

#include "agreement.hpp"
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

/// Items that arrive must not overwrite items that have not left.
void require_apart(std::span<moving_field const> fields) {
    std::less<> const before;
    for (std::size_t t = 0; t < fields.size(); ++t) {
        for (std::size_t s = 0; s < fields.size(); ++s) {
            auto const target = fields[t].target;
            auto const source = fields[s].source;
            if (!target.empty() && !source.empty() && before(source.data(), target.data() + target.size()) &&
                before(target.data(), source.data() + source.size())) {
                throw_invalid("all_to_all", element("fields", t) + ".target",
                              "a buffer that overlaps " + element("fields", s) + ".source", "buffers of their own");
            }
        }
    }
}

/// What a rank knows without the others: its messages, packed, and where the arriving items belong.
class local_part {
  public:
    local_part(communicator const& communicator, rearrangement const& move, std::span<moving_field const> fields) {
        if (move.ranks() != communicator.size()) {
            throw_invalid("all_to_all", "move.ranks()", move.ranks().value,
                          "the " + std::to_string(communicator.size().value) + " ranks of the communicator");
        }
        auto const sizes_of = [](moving_field const& one) -> field const& { return one.sizes; };
        auto const sizes = fields | std::views::transform(sizes_of);
        wire_ = exchange_of(move, communicator.rank(), bytes_of_items(sizes, move.size()));

        auto const before = items_on(move.from(), communicator.rank());
        auto const after = items_on(move.to(), communicator.rank());
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

        kept_ = pieces_kept(wire_.kept, leaving, arriving);
        arriving_ = pieces_of(wire_.receives, arriving);
        received_.resize(wire_.receives.bytes());
        sent_.resize(wire_.sends.bytes());
        for (auto const& piece : pieces_of(wire_.sends, leaving)) {
            copy(sources_[piece.field], piece.second, sent_, piece.first, piece.bytes);
        }
    }

    /// Enqueues the messages and copies what stays. The transfer refers to the buffers of this object.
    [[nodiscard]] pending begin(communicator& communicator, stream on) {
        std::vector<outgoing> sends;
        std::vector<incoming> receives;
        for (std::size_t m = 0; m < wire_.sends.size(); ++m) {
            sends.push_back({wire_.sends.peers[m], part(std::span<std::byte const>{sent_}, wire_.sends, m)});
        }
        for (std::size_t m = 0; m < wire_.receives.size(); ++m) {
            receives.push_back({wire_.receives.peers[m], part(std::span{received_}, wire_.receives, m)});
        }
        auto begun = communicator.exchange(sends, receives, on);
        for (auto const& piece : kept_) {
            copy(sources_[piece.field], piece.first, targets_[piece.field], piece.second, piece.bytes);
        }
        return begun;
    }

    void unpack() {
        for (auto const& piece : arriving_) {
            copy(received_, piece.first, targets_[piece.field], piece.second, piece.bytes);
        }
    }

  private:
    static void copy(std::span<std::byte const> source, std::uint64_t from, std::span<std::byte> target,
                     std::uint64_t to, std::uint64_t bytes) {
        std::ranges::copy(source.subspan(from, bytes), target.subspan(to, bytes).begin());
    }

    template <class Byte>
    static std::span<Byte> part(std::span<Byte> buffer, messages const& messages, std::size_t m) {
        return buffer.subspan(messages.byte_offsets[m], messages.byte_offsets[m + 1] - messages.byte_offsets[m]);
    }

    std::vector<std::span<std::byte const>> sources_;  ///< per field
    std::vector<std::span<std::byte>> targets_;        ///< per field
    exchange wire_;
    std::vector<piece> kept_;
    std::vector<piece> arriving_;
    std::vector<std::byte> sent_;
    std::vector<std::byte> received_;
};

/// Agrees, then exchanges, then unpacks; each stage begins when the one before is complete.
class all_to_all_transfer final : public transfer {
  public:
    all_to_all_transfer(communicator& communicator, rearrangement const& move, std::span<moving_field const> fields,
                        stream on)
        : communicator_{communicator}, on_{on} {
        statement mine;
        try {
            local_.emplace(communicator, move, fields);
            mine.value = fingerprint_of(move, fields);
        } catch (...) {
            // The others wait for this rank's statement: they are told before the caller is.
            refusal_ = std::current_exception();
            mine.refused = 1;
        }
        agreement_.emplace(communicator, "all_to_all", mine);
    }

    bool ready() override {
        if (!exchange_) {
            if (!agreement_->ready()) {
                return false;
            }
            begin_exchange(std::chrono::seconds{0});
        }
        if (!unpacked_ && exchange_->ready()) {
            finish();
        }
        return unpacked_;
    }

    void wait(deadline until) override {
        if (!exchange_) {
            begin_exchange(until);
        }
        if (!unpacked_) {
            exchange_->wait(until);
            finish();
        }
    }

  private:
    void begin_exchange(deadline until) {
        if (refusal_ != nullptr) {
            refuse(until);
        }
        agreement_->wait(until);
        exchange_ = local_->begin(communicator_, on_);
    }

    void finish() {
        local_->unpack();
        unpacked_ = true;
    }

    /// Waits until the others have heard of the refusal, then tells the caller why.
    [[noreturn]] void refuse(deadline until) {
        try {
            agreement_->wait(until);
        } catch (comm::error const&) {
            // It names this rank, which knows more.
        }
        std::rethrow_exception(refusal_);
    }

    communicator& communicator_;
    stream on_;
    std::optional<local_part> local_;
    std::exception_ptr refusal_;
    std::optional<agreement> agreement_;
    std::optional<pending> exchange_;  // after the buffers it refers to, so that it is given up before they are freed
    bool unpacked_ = false;
};

}  // namespace

pending all_to_all(communicator& communicator, rearrangement const& move, std::span<moving_field const> fields,
                   stream on) {
    return pending{std::make_unique<all_to_all_transfer>(communicator, move, fields, on)};
}

}  // namespace evenkeel::comm
