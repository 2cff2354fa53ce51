// SPDX-License-Identifier: Apache-2.0
#include "hops.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace evenkeel::comm {

namespace {

[[nodiscard]] std::array<world_rank, 4> stops(passage const& way) { return {way.from, way.relay, way.landing, way.to}; }

}  // namespace

hops_of_rank::hops_of_rank(std::span<passage const> passages, world_rank self, std::span<outgoing const> sends,
                           std::span<incoming const> receives)
    : self_{self} {
    for (auto const& way : passages) {
        auto const at = stops(way);
        if (std::ranges::find(at, self) == at.end()) {
            continue;
        }
        stretch one{.way = way, .source = {}, .target = {}};
        if (way.from == self) {
            auto const message = std::ranges::lower_bound(sends, way.to, {}, &outgoing::peer);
            one.source.own = message->bytes.data() + way.offset;
        }
        if (way.to == self) {
            auto const message = std::ranges::lower_bound(receives, way.from, {}, &incoming::peer);
            one.target.own = message->bytes.data() + way.offset;
        }
        parts_.push_back(one);
    }
    for (std::size_t hop = 0; hop < hops_.size(); ++hop) {
        plan_sends(hop);
        plan_receives(hop);
    }
}

hops_of_rank::spot hops_of_rank::take(std::size_t bytes) {
    // Whole cache lines, so that every message starts as well aligned as memory does.
    constexpr std::size_t alignment = 128;
    spot const taken{.own = nullptr, .offset = memory_};
    memory_ += (bytes + alignment - 1) / alignment * alignment;
    return taken;
}

namespace {

/// Runs of equal peers: `use(peer, positions)`.
template <class Use>
void for_each_peer(std::vector<std::pair<world_rank, std::size_t>>& legs, Use use) {
    std::ranges::sort(legs);
    std::vector<std::size_t> positions;
    for (std::size_t l = 0; l < legs.size(); ++l) {
        positions.push_back(legs[l].second);
        if (l + 1 == legs.size() || legs[l + 1].first != legs[l].first) {
            use(legs[l].first, std::span{std::as_const(positions)});
            positions.clear();
        }
    }
}

/// Whether `one` ends where `other` begins, in the same memory.
template <class Spot>
bool adjoin(Spot const& one, std::size_t bytes, Spot const& other) {
    return (one.own == nullptr) == (other.own == nullptr) &&
           (one.own == nullptr ? one.offset + bytes == other.offset : one.own + bytes == other.own);
}

}  // namespace

void hops_of_rank::plan_sends(std::size_t hop) {
    std::vector<std::pair<world_rank, std::size_t>> legs;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
        auto const way = stops(parts_[p].way);
        if (way[hop] == self_ && way[hop + 1] != self_) {
            legs.emplace_back(way[hop + 1], p);
        }
    }
    for_each_peer(legs, [&](world_rank peer, std::span<std::size_t const> positions) {
        std::size_t bytes = 0;
        bool in_one_piece = true;
        for (std::size_t p = 0; p < positions.size(); ++p) {
            auto const& part = parts_[positions[p]];
            in_one_piece = in_one_piece && (p == 0 || adjoin(parts_[positions[p - 1]].source,
                                                             parts_[positions[p - 1]].way.bytes, part.source));
            bytes += part.way.bytes;
        }
        auto at = parts_[positions.front()].source;
        if (!in_one_piece) {
            at = take(bytes);
            std::size_t offset = at.offset;
            for (auto const position : positions) {
                auto const& part = parts_[position];
                hops_[hop].before.push_back({part.source, {nullptr, offset}, part.way.bytes});
                offset += part.way.bytes;
            }
        }
        hops_[hop].sends.push_back({peer, at, bytes});
    });
}

void hops_of_rank::plan_receives(std::size_t hop) {
    std::vector<std::pair<world_rank, std::size_t>> legs;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
        auto const way = stops(parts_[p].way);
        if (way[hop + 1] == self_ && way[hop] != self_) {
            legs.emplace_back(way[hop], p);
        }
    }
    for_each_peer(legs, [&](world_rank peer, std::span<std::size_t const> positions) {
        std::size_t bytes = 0;
        bool in_place = true;
        for (std::size_t p = 0; p < positions.size(); ++p) {
            auto const& part = parts_[positions[p]];
            in_place =
                in_place && part.way.to == self_ &&
                (p == 0 || adjoin(parts_[positions[p - 1]].target, parts_[positions[p - 1]].way.bytes, part.target));
            bytes += part.way.bytes;
        }
        auto at = parts_[positions.front()].target;
        if (!in_place) {
            at = take(bytes);
            std::size_t offset = at.offset;
            for (auto const position : positions) {
                auto& part = parts_[position];
                part.source = {nullptr, offset};
                if (part.way.to == self_) {
                    hops_[hop].after.push_back({part.source, part.target, part.way.bytes});
                }
                offset += part.way.bytes;
            }
        }
        hops_[hop].receives.push_back({peer, at, bytes});
    });
}

std::array<hop, 3> hops_of_rank::in(std::byte* relay) const {
    auto const readable = [&](spot const& at) { return at.own != nullptr ? at.own : relay + at.offset; };
    // Targets are the caller's writable memory, seen through a pointer that sources share.
    auto const writable = [&](spot const& at) {
        return at.own != nullptr ? const_cast<std::byte*>(at.own) : relay + at.offset;
    };
    std::array<hop, 3> result;
    for (std::size_t h = 0; h < hops_.size(); ++h) {
        for (auto const& one : hops_[h].before) {
            result[h].before.push_back({readable(one.from), writable(one.to), one.bytes});
        }
        for (auto const& one : hops_[h].sends) {
            result[h].sends.push_back({one.peer, {readable(one.at), one.bytes}});
        }
        for (auto const& one : hops_[h].receives) {
            result[h].receives.push_back({one.peer, {writable(one.at), one.bytes}});
        }
        for (auto const& one : hops_[h].after) {
            result[h].after.push_back({readable(one.from), writable(one.to), one.bytes});
        }
    }
    return result;
}

}  // namespace evenkeel::comm
