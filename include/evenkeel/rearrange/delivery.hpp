// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/group.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/core/members.hpp>
#include <evenkeel/rearrange/field.hpp>
#include <evenkeel/rearrange/rearrangement.hpp>
#include <evenkeel/rearrange/units.hpp>

namespace evenkeel {

/// Which members of an instance get a field.
enum class delivery : std::uint8_t {
    leader,     ///< the first member of a pipeline stage; the trainer tells its siblings
    replicate,  ///< every member of a stage gets all of it
    shard       ///< each context-parallel part of a stage gets its share, at its first sibling
};

/// Which pipeline stages need a field.
enum class field_stages : std::uint8_t {
    first,  ///< inputs
    last,   ///< labels and what weighs the loss
    all     ///< where sequences begin and end
};

/// How a field reaches an instance.
///
///     {.to = delivery::shard, .stages = field_stages::last}   // labels, over context-parallel parts
struct field_delivery {
    delivery to = delivery::leader;
    field_stages stages = field_stages::first;

    friend bool operator==(field_delivery const&, field_delivery const&) = default;
};

/// A field on its way to several world ranks: one rearrangement per copy, over the pieces into which its items are cut.
///
/// A field that is not sharded has one piece per item and is moved as often as it has receivers per instance. A sharded
/// one has one copy per stage; of the `2 * context` equal pieces of an item, part p gets those at p and at
/// `2 * context - 1 - p`, so that causal attention is even work for all parts.
///
/// The way back of a gradient is the inverse: of the first copy, if the leader's counts; of all, summed over the
/// copies, if members hold parts of it (`invert` each).
struct delivered_field {
    unit_map pieces;                    ///< of each item
    std::vector<rearrangement> copies;  ///< of the pieces; all start from the same place
};

namespace detail {

/// The instance of each world rank that leads one.
[[nodiscard]] inline std::vector<std::uint32_t> instances_by_leader(group const& group, world_size ranks) {
    std::vector<std::uint32_t> result(ranks.value, std::numeric_limits<std::uint32_t>::max());
    for (std::size_t rank = 0; rank < group.ranks().value; ++rank) {
        result[to_index(group.leader(to_id<rank_id>(rank)))] = static_cast<std::uint32_t>(rank);
    }
    return result;
}

/// The same layout with member `member` of each instance's `stage` in the place of its leader.
[[nodiscard]] inline layout moved_to_member(layout const& at_leaders, group const& group, member_shape const& shape,
                                            std::span<std::uint32_t const> instances, std::size_t stage,
                                            std::size_t member) {
    layout result = at_leaders;
    for (auto& place : result.places) {
        place.rank = members_of(group, shape, to_id<rank_id>(instances[to_index(place.rank)]), stage)[member];
    }
    return result;
}

/// Pieces of items at leaders, each with the part of the stage that it belongs to.
[[nodiscard]] inline layout dealt_to_parts(layout const& pieces_at_leaders, group const& group,
                                           member_shape const& shape, std::span<std::uint32_t const> instances,
                                           std::size_t stage) {
    std::size_t const per_item = 2 * shape.context;
    layout result = pieces_at_leaders;
    for (std::size_t piece = 0; piece < result.size(); ++piece) {
        auto& place = result.places[piece];
        std::size_t const number = piece % per_item;
        std::size_t const part = number < shape.context ? number : per_item - 1 - number;
        auto const members = members_of(group, shape, to_id<rank_id>(instances[to_index(place.rank)]), stage);
        place.rank = members[part * (members.size() / shape.context)];
        // A part holds two of an item's pieces, one after the other.
        place.position = static_cast<std::uint32_t>(place.position / per_item * 2 + (number < shape.context ? 0 : 1));
    }
    return result;
}

}  // namespace detail

/// The copies of a field that bring it from where it is to the members that need it.
///
///     // Two instances of two pipeline stages: world ranks 0 and 2, 1 and 3. Each instance has one item.
///     auto const labels = evenkeel::deliver(home, llm, group, shape, {.stages = evenkeel::field_stages::last});
///     labels.copies[0].to();   // item 0 on world rank 2, item 1 on 3: the leaders of the last stages
///
/// @param from   Where the items are.
/// @param to     Where they belong, at the leaders of `group` (`layout_of`).
/// @param shape  How the members of each instance are arranged. To replicate, all instances must have equally many.
/// @throws std::invalid_argument  if group and shape do not fit, or an item does not lie at a leader.
/// @complexity O(items) per copy, a copy per receiving member of a stage
[[nodiscard]] inline delivered_field deliver(layout const& from, layout const& to, group const& group,
                                             member_shape const& shape, field_delivery const& how) {
    require_group("deliver", group, to.ranks);
    require_shape("deliver", shape, group);
    auto const instances = detail::instances_by_leader(group, to.ranks);
    for (std::size_t item = 0; item < to.size(); ++item) {
        std::size_t const rank = to_index(to.places[item].rank);
        if (rank >= instances.size() || instances[rank] == std::numeric_limits<std::uint32_t>::max()) {
            throw_invalid("deliver", element("to", item) + ".rank", rank, "the leader of an instance");
        }
    }
    // Where there is one part, a share is all.
    bool const cut = how.to == delivery::shard && shape.context > 1;
    std::size_t const members = group.ranks().value == 0 ? 0 : members_of(group, shape, rank_id{0}, 0).size();
    if (how.to == delivery::replicate) {
        for (std::size_t rank = 0; rank < group.ranks().value; ++rank) {
            if (std::size_t const size = members_of(group, shape, to_id<rank_id>(rank), 0).size(); size != members) {
                throw_invalid("deliver", "the members of a stage of instance " + std::to_string(rank), size,
                              "as many as of instance 0, " + std::to_string(members) + ", to replicate");
            }
        }
    }
    delivered_field result{
        .pieces = cut ? units_of(std::vector<std::size_t>(to.size(), 2 * shape.context)) : one_unit_each(to.size()),
        .copies = {}};
    auto const source = cut ? expand(from, result.pieces) : from;
    auto const target = cut ? expand(to, result.pieces) : to;
    std::size_t const begin = how.stages == field_stages::last ? shape.pipeline - 1 : 0;
    std::size_t const end = how.stages == field_stages::first ? 1 : shape.pipeline;
    for (std::size_t stage = begin; stage < end; ++stage) {
        if (cut) {
            result.copies.emplace_back(source, detail::dealt_to_parts(target, group, shape, instances, stage));
            continue;
        }
        for (std::size_t member = 0; member < (how.to == delivery::replicate ? members : 1); ++member) {
            result.copies.emplace_back(source, detail::moved_to_member(target, group, shape, instances, stage, member));
        }
    }
    return result;
}

/// The bytes of the pieces of a field.
///
/// @throws std::invalid_argument  names the first item whose bytes the pieces do not divide: pad lengths to a multiple
///                                of `2 * context` before the field is made.
[[nodiscard]] inline field pieces_of(field const& whole, unit_map const& pieces) {
    require_units("pieces_of", "pieces", pieces, whole.bytes.size());
    field result{.name = whole.name, .bytes = {}};
    result.bytes.reserve(pieces.units());
    for (std::size_t item = 0; item < whole.bytes.size(); ++item) {
        std::size_t const count = pieces.count(to_id<item_id>(item));
        if (count == 0 || whole.bytes[item] % count != 0) {
            throw_invalid("pieces_of", element("whole.bytes", item), whole.bytes[item],
                          "a multiple of its " + std::to_string(count) + " pieces");
        }
        result.bytes.insert(result.bytes.end(), count, whole.bytes[item] / count);
    }
    return result;
}

}  // namespace evenkeel
