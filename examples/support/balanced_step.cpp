// SPDX-License-Identifier: Apache-2.0
#include "balanced_step.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <numeric>
#include <utility>

#include <evenkeel/comm/all_to_all.hpp>
#include <evenkeel/comm/lengths.hpp>
#include <evenkeel/cost.hpp>
#include <evenkeel/place.hpp>
#include <evenkeel/rearrange.hpp>
#include <evenkeel/solve.hpp>

#include "payload.hpp"

namespace evenkeel::examples {

namespace {

/// A rank that has not come by then will not come: the ranks of this job may be threads that share two processors.
constexpr std::chrono::minutes patience{10};

/// Wall time would count the other ranks, which may be threads of the same processors.
double processor_ms() {
    std::timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

/// The sample after sample, phase after phase form that is gathered.
std::vector<std::uint64_t> by_sample(drawn_step const& drawn) {
    std::vector<std::uint64_t> values;
    std::size_t const samples = drawn.lengths.front().size();
    values.reserve(samples * drawn.lengths.size());
    for (std::size_t sample = 0; sample < samples; ++sample) {
        for (auto const& phase : drawn.lengths) {
            values.push_back(phase[sample]);
        }
    }
    return values;
}

/// A plan for one phase, in which an item has as many bytes as its length.
balanced plan_phase(method how, std::span<std::uint64_t const> lengths, layout const& home, topology const& topology) {
    if (how == method::stay) {
        auto kept = rebalance(lengths, home, topology, linear_cost{});
        return {std::move(kept.plan), kept.quality};
    }
    auto even = balance(lengths, rank_count{topology.size().value}, linear_cost{});
    if (how == method::relabel) {
        even.plan = relabel(even.plan, home, topology, lengths).plan;
    }
    return even;
}

std::vector<std::uint64_t> loads_of(layout const& layout, std::span<std::uint64_t const> lengths) {
    std::vector<std::uint64_t> loads(layout.ranks.value);
    for (std::size_t item = 0; item < lengths.size(); ++item) {
        loads[to_index(layout.places[item].rank)] += lengths[item];
    }
    return loads;
}

phase_outcome outcome_of(rearrangement const& move, topology const& topology, std::span<std::uint64_t const> lengths,
                         quality const& after) {
    phase_outcome result;
    result.loads_before = loads_of(move.from(), lengths);
    result.loads_after = loads_of(move.to(), lengths);
    result.after = after;
    result.before = after;
    result.before.max_load = std::ranges::max(result.loads_before);
    result.moves = traffic_of(move, topology, lengths);
    return result;
}

/// Calls `visit(bytes, item)` for the part of each local item in a buffer of one field.
template <class Byte, class Visit>
void for_each_item(std::span<Byte> buffer, layout const& layout, world_rank rank, field const& sizes, Visit visit) {
    std::size_t offset = 0;
    for (item_id const item : items_on(layout, rank)) {
        std::size_t const bytes = sizes.bytes[to_index(item)];
        visit(buffer.subspan(offset, bytes), to_index(item));
        offset += bytes;
    }
}

/// Moves the payload of one phase and checks what has arrived.
void move_payload(comm::communicator& communicator, rearrangement const& move, field const& payload,
                  std::uint64_t first_sample, std::uint64_t phase, exchange_report& checked) {
    auto const self = communicator.rank();
    std::vector<std::byte> drawn(bytes_on(move.from(), self, payload));
    std::vector<std::byte> arrived(bytes_on(move.to(), self, payload));
    for_each_item(std::span{drawn}, move.from(), self, payload,
                  [&](auto bytes, auto item) { fill_payload(bytes, first_sample + item, phase); });

    auto const field = comm::moving_field{payload, drawn, arrived};
    comm::all_to_all(communicator, move, std::array{field}).wait(patience);

    for_each_item(std::span<std::byte const>{arrived}, move.to(), self, payload,
                  [&](auto bytes, auto item) { checked.wrong += wrong_bytes(bytes, first_sample + item, phase); });
    auto const sends = exchange_of(move, self, payload.bytes).sends;
    auto const& topology = communicator.topology();
    for (std::size_t m = 0; m < sends.size(); ++m) {
        std::uint64_t const bytes = sends.byte_offsets[m + 1] - sends.byte_offsets[m];
        bool const leaves_node = topology.node_of(sends.peers[m]) != topology.node_of(self);
        checked.bytes += bytes;
        checked.inter_node_bytes += leaves_node ? bytes : 0;
    }
}

}  // namespace

std::vector<phase_outcome> balance_step(comm::communicator& communicator, drawn_step const& drawn, method how,
                                        std::uint64_t bytes_per_token, exchange_report& checked) {
    std::size_t const phases = drawn.lengths.size();
    auto const lengths = comm::all_gather_lengths(communicator, by_sample(drawn), phases, patience);
    auto const home = home_layout(lengths.counts);
    std::vector<phase_outcome> outcomes;
    for (std::size_t phase = 0; phase < phases; ++phase) {
        double const begun = processor_ms();
        auto const even = plan_phase(how, lengths[phase], home, communicator.topology());
        double const plan_ms = processor_ms() - begun;

        auto const move = rearrangement{home, layout_of(even.plan)};
        outcomes.push_back(outcome_of(move, communicator.topology(), lengths[phase], even.quality));
        outcomes.back().plan_ms = plan_ms;
        auto const payload = field_per_token("payload", lengths[phase], bytes_per_token);
        move_payload(communicator, move, payload, drawn.first_sample, phase, checked);
    }
    return outcomes;
}

}  // namespace evenkeel::examples
