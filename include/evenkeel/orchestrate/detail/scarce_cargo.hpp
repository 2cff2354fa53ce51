// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <evenkeel/orchestrate/detail/cargo_hold.hpp>

namespace evenkeel::detail {

/// Levels the LLM between nodes where there is too little text alone to do it: samples move whole, units and all.
///
/// Embeddings are the dearest to move. A sample that moves with its encoders' work costs what was drawn of it, as long
/// as the encoders stay even: it goes where they have room, or in exchange for a sample with as many tokens for them,
/// but fewer for the LLM. A node with too much offers those of its samples that cost least per load they take along to
/// the nodes with most room; partners are found in lists sorted by length, in the window that the encoders' room
/// leaves. Offers wait in a heap, the cheapest per load that is still too much first, and are looked at anew when they
/// come to its top (M. Minoux 1978), so that none is out of date.
class scarce_cargo {
  public:
    /// Moves samples in `hold`, each at most once; `moved` then tells which.
    void operator()(cargo_hold& hold) {
        hold_ = &hold;
        moved_.clear();
        moved_.reserve(hold.members().size());
        offers_.reserve(most_givers * most_receivers);
        over_.clear();
        for (std::uint32_t node = 0; node < hold.nodes(); ++node) {
            if (hold.excess(node) > 0) {
                over_.push_back(node);
            }
        }
        std::sort(over_.begin(), over_.end(), [&](std::uint32_t a, std::uint32_t b) {
            return hold.excess(a) != hold.excess(b) ? hold.excess(a) > hold.excess(b) : a < b;
        });
        is_sorted_.assign(hold.encoders() * hold.nodes(), 0);
        sorted_.resize(hold.encoders() * hold.members().size());
        for (auto const node : over_) {
            for (std::size_t round = 0; round < most_rounds && hold.excess(node) > 0; ++round) {
                if (!relieve(node)) {
                    break;
                }
            }
        }
    }

    /// In the order in which they moved.
    [[nodiscard]] std::span<std::uint32_t const> moved() const noexcept { return moved_; }

  private:
    __extension__ typedef __int128 wide;

    static constexpr std::size_t most_rounds = 6;
    static constexpr std::size_t most_givers = 128;    ///< samples of a node that are offered at a time,
    static constexpr std::size_t most_receivers = 12;  ///< to so many nodes,
    static constexpr std::size_t most_partners = 16;   ///< for the best of so many samples of each
    static constexpr std::uint32_t nobody = cargo_hold::nobody;

    /// A sample to give away, and perhaps one to take for it.
    struct offer {
        std::int64_t cost = 0;
        std::uint64_t gain = 0;  ///< of what the node has too much
        std::uint32_t given = 0;
        std::uint32_t node = 0;
        std::uint32_t taken = nobody;
    };

    [[nodiscard]] static bool is_cheaper(offer const& a, offer const& b) noexcept {
        wide const of_a = static_cast<wide>(a.cost) * static_cast<wide>(b.gain);
        wide const of_b = static_cast<wide>(b.cost) * static_cast<wide>(a.gain);
        if (of_a != of_b) {
            return of_a < of_b;
        }
        if (a.gain != b.gain) {
            return a.gain > b.gain;
        }
        if (a.given != b.given) {
            return a.given < b.given;
        }
        return a.node != b.node ? a.node < b.node : a.taken < b.taken;
    }

    /// Cost and gain as things are now; false if the offer is no longer possible.
    [[nodiscard]] bool judge(std::uint32_t node, offer& one) const {
        std::uint64_t const out = hold_->weight(one.given);
        std::uint64_t const in = one.taken == nobody ? 0 : hold_->weight(one.taken);
        if (out <= in || out - in > hold_->room(one.node) || hold_->excess(node) == 0) {
            return false;
        }
        for (std::size_t encoder = 0; encoder < hold_->encoders(); ++encoder) {
            std::uint64_t const leaves = hold_->length(encoder, one.given);
            std::uint64_t const comes = one.taken == nobody ? 0 : hold_->length(encoder, one.taken);
            if ((leaves > comes && leaves - comes > hold_->room(encoder, one.node)) ||
                (comes > leaves && comes - leaves > hold_->room(encoder, node))) {
                return false;
            }
        }
        one.gain = std::min(out - in, hold_->excess(node));
        one.cost = hold_->cost(one.given, one.node) + (one.taken == nobody ? 0 : hold_->cost(one.taken, node));
        return true;
    }

    bool relieve(std::uint32_t node) {
        choose_givers(node);
        choose_receivers(node);
        offers_.clear();
        for (auto const given : givers_) {
            for (auto const receiver : receivers_) {
                offer one{.given = given, .node = receiver};
                if (judge(node, one)) {
                    offers_.push_back(one);
                } else if (offer swap; find_partner(node, one, swap)) {
                    offers_.push_back(swap);
                }
            }
        }
        auto const later = [](offer const& a, offer const& b) { return is_cheaper(b, a); };
        std::make_heap(offers_.begin(), offers_.end(), later);
        std::size_t const before = moved_.size();
        while (!offers_.empty() && hold_->excess(node) > 0) {
            std::pop_heap(offers_.begin(), offers_.end(), later);
            offer now = offers_.back();
            offers_.pop_back();
            if (hold_->has_moved(now.given) || (now.taken != nobody && hold_->has_moved(now.taken)) ||
                !judge(node, now)) {
                continue;
            }
            if (!offers_.empty() && is_cheaper(offers_.front(), now)) {
                offers_.push_back(now);
                std::push_heap(offers_.begin(), offers_.end(), later);
                continue;
            }
            hold_->move(now.given, now.node);
            moved_.push_back(now.given);
            if (now.taken != nobody) {
                hold_->move(now.taken, node);
                moved_.push_back(now.taken);
            }
        }
        return moved_.size() > before;
    }

    /// The samples that cost least per load, were there room for them everywhere.
    void choose_givers(std::uint32_t node) {
        givers_.clear();
        for (auto const sample : hold_->members(node)) {
            if (hold_->weight(sample) > 0 && !hold_->has_moved(sample)) {
                givers_.push_back(sample);
            }
        }
        std::uint32_t const elsewhere = node == 0 ? 1 : 0;
        auto const cheaper = [&](std::uint32_t a, std::uint32_t b) {
            return is_cheaper({.cost = hold_->cost(a, elsewhere), .gain = hold_->weight(a), .given = a},
                              {.cost = hold_->cost(b, elsewhere), .gain = hold_->weight(b), .given = b});
        };
        std::size_t const most = std::min(givers_.size(), most_givers);
        std::partial_sort(givers_.begin(), givers_.begin() + static_cast<std::ptrdiff_t>(most), givers_.end(), cheaper);
        givers_.resize(most);
    }

    void choose_receivers(std::uint32_t node) {
        receivers_.clear();
        for (std::uint32_t other = 0; other < hold_->nodes(); ++other) {
            if (other != node && hold_->room(other) > 0) {
                receivers_.push_back(other);
            }
        }
        std::size_t const most = std::min(receivers_.size(), most_receivers);
        std::partial_sort(receivers_.begin(), receivers_.begin() + static_cast<std::ptrdiff_t>(most), receivers_.end(),
                          [&](std::uint32_t a, std::uint32_t b) {
                              return hold_->room(a) != hold_->room(b) ? hold_->room(a) > hold_->room(b) : a < b;
                          });
        receivers_.resize(most);
    }

    /// A sample of the receiver that makes room for the one given in the encoder that has least of it.
    bool find_partner(std::uint32_t node, offer const& one, offer& best) {
        std::size_t tight = hold_->encoders();
        std::uint64_t lacking = 0;
        for (std::size_t encoder = 0; encoder < hold_->encoders(); ++encoder) {
            std::uint64_t const length = hold_->length(encoder, one.given);
            std::uint64_t const room = hold_->room(encoder, one.node);
            if (length > room && length - room > lacking) {
                lacking = length - room;
                tight = encoder;
            }
        }
        if (tight == hold_->encoders()) {
            return false;  // the LLM has no room
        }
        auto const list = by_length(tight, one.node);
        auto next = std::lower_bound(
            list.begin(), list.end(), lacking,
            [&](std::uint32_t sample, std::uint64_t length) { return hold_->length(tight, sample) < length; });
        std::uint64_t const most = hold_->length(tight, one.given) + hold_->room(tight, node);
        bool found = false;
        for (std::size_t tried = 0; next != list.end() && tried < most_partners; ++next, ++tried) {
            if (hold_->length(tight, *next) > most) {
                break;
            }
            offer swap{.given = one.given, .node = one.node, .taken = *next};
            if (!hold_->has_moved(*next) && judge(node, swap) && (!found || is_cheaper(swap, best))) {
                best = swap;
                found = true;
            }
        }
        return found;
    }

    [[nodiscard]] std::span<std::uint32_t const> by_length(std::size_t encoder, std::uint32_t node) {
        auto const members = hold_->members(node);
        std::size_t const first = static_cast<std::size_t>(members.data() - hold_->members().data());
        auto const list = std::span{sorted_}.subspan(encoder * hold_->members().size() + first, members.size());
        if (auto& is_sorted = is_sorted_[encoder * hold_->nodes() + node]; is_sorted == 0) {
            is_sorted = 1;
            std::copy(members.begin(), members.end(), list.begin());
            std::sort(list.begin(), list.end(), [&](std::uint32_t a, std::uint32_t b) {
                std::uint64_t const of_a = hold_->length(encoder, a);
                std::uint64_t const of_b = hold_->length(encoder, b);
                return of_a != of_b ? of_a < of_b : a < b;
            });
        }
        return list;
    }

    cargo_hold* hold_ = nullptr;
    std::vector<std::uint32_t> over_;
    std::vector<std::uint32_t> moved_;
    std::vector<std::uint32_t> givers_;
    std::vector<std::uint32_t> receivers_;
    std::vector<offer> offers_;
    std::vector<std::uint32_t> sorted_;    ///< per encoder, the members of each node by length,
    std::vector<std::uint8_t> is_sorted_;  ///< if they are already
};

}  // namespace evenkeel::detail
