// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/orchestrate/detail/group_view.hpp>
#include <evenkeel/orchestrate/detail/phase_task.hpp>
#include <evenkeel/orchestrate/detail/step_problem.hpp>

namespace evenkeel::detail {

/// A second try at the encoder that comes first, where what other encoders have of the samples that leave a node makes
/// it the busiest: such samples are then the last to leave, and the better of the two plans is kept.
///
/// The first try leaves that out, as then all bytes are the same multiple of the weights, which is much quicker; and
/// mostly what follows is little beside what leaves, or leaves nodes that are not the busiest.
class laden_exports {
  public:
    void reserve(std::size_t units) {
        before_.rank_of.reserve(units);
        leaving_.reserve(units);
    }

    /// @param plan_again  Plans the encoder anew, units of later classes leaving last. It is given what writes these.
    template <class PlanAgain>
    void operator()(step_problem const& problem, group_view const& view, std::size_t encoder, phase_ranks& chosen,
                    PlanAgain plan_again) {
        auto const& phase = problem.phases[encoder];
        if (problem.encoders() == 1 || phase.given || phase.method != phase_method::stay || chosen.from_scratch) {
            return;
        }
        auto const before = busiest_of(problem, view, encoder, chosen.rank_of);
        if (before.with_followers <= before.alone + before.alone / 32) {
            return;
        }
        before_.rank_of.assign(chosen.rank_of.begin(), chosen.rank_of.end());
        before_.qualities.assign(1, chosen.qualities.back());
        chosen.qualities.pop_back();
        plan_again([&](phase_task& task) { write_classes(problem, encoder, task); });
        bool const is_better =
            !chosen.from_scratch &&
            busiest_of(problem, view, encoder, chosen.rank_of).with_followers < before.with_followers;
        if (!is_better) {
            chosen.rank_of.assign(before_.rank_of.begin(), before_.rank_of.end());
            chosen.qualities.back() = before_.qualities.front();
            chosen.from_scratch = false;
        }
    }

  private:
    /// Bytes that the busiest node sends or receives of the encoder, and with what follows.
    struct busiest {
        std::uint64_t alone = 0;
        std::uint64_t with_followers = 0;
    };

    [[nodiscard]] busiest busiest_of(step_problem const& problem, group_view const& view, std::size_t encoder,
                                     std::span<std::uint32_t const> rank_of) {
        sent_.assign(view.nodes() + 1, 0);  // the last: from nodes without instances, which have to send all
        received_.assign(view.nodes(), 0);
        followers_.assign(view.nodes() + 1, 0);
        // What the ranks of a node have drawn is looked at together, as long as these follow one another.
        std::size_t home = view.nodes();
        std::size_t begin = 0;
        problem.for_each_drawn(encoder, [&](world_rank drawn_on, std::size_t first, std::size_t) {
            if (std::size_t const here = std::min<std::size_t>(view.node_of(drawn_on), view.nodes()); here != home) {
                count_leaving(problem, view, encoder, rank_of, home, begin, first);
                home = here;
                begin = first;
            }
        });
        count_leaving(problem, view, encoder, rank_of, home, begin, rank_of.size());
        busiest result{.alone = *std::ranges::max_element(received_)};
        result.with_followers = result.alone;
        for (std::size_t node = 0; node < view.nodes(); ++node) {
            result.alone = std::max(result.alone, sent_[node]);
            result.with_followers = std::max(result.with_followers, sent_[node] + followers_[node]);
        }
        return result;
    }

    /// Counts what of units `first` to before `last` leaves the node that has drawn them.
    void count_leaving(step_problem const& problem, group_view const& view, std::size_t encoder,
                       std::span<std::uint32_t const> rank_of, std::size_t node, std::size_t first, std::size_t last) {
        auto const& amounts = problem.amounts.phases[encoder];
        auto const nodes = view.nodes_of_ranks();
        // Collected first: which these are no processor foresees.
        leaving_.resize(std::max(leaving_.size(), last - first));
        std::size_t leaving = 0;
        for (std::size_t unit = first; unit < last; ++unit) {
            leaving_[leaving] = unit;
            leaving += nodes[rank_of[unit]] != node ? 1U : 0U;
        }
        for (std::size_t const unit : std::span{leaving_}.first(leaving)) {
            sent_[node] += amounts.bytes[unit];
            received_[nodes[rank_of[unit]]] += amounts.bytes[unit];
            if (amounts.weights[unit] > 0 && is_first_heavy(amounts, unit)) {
                followers_[node] += followers_of(problem, encoder, amounts.owners[unit]);
            }
        }
    }

    /// Whether no unit before that weighs something is of the same sample, which goes where its first goes.
    [[nodiscard]] static bool is_first_heavy(phase_amounts const& amounts, std::size_t unit) noexcept {
        std::size_t before = unit;
        while (before > 0 && amounts.owners[before - 1] == amounts.owners[unit]) {
            if (amounts.weights[--before] > 0) {
                return false;
            }
        }
        return true;
    }

    /// Bytes that other encoders have of a sample.
    [[nodiscard]] static std::uint64_t followers_of(step_problem const& problem, std::size_t encoder, item_id sample) {
        std::uint64_t bytes = 0;
        for (std::size_t other = 0; other < problem.encoders(); ++other) {
            auto const& units = problem.samples.inputs[other].units;
            for (std::size_t at = 0; other != encoder && at < units.count(sample); ++at) {
                bytes += problem.amounts.phases[other].bytes[units.first(sample) + at];
            }
        }
        return bytes;
    }

    static void write_classes(step_problem const& problem, std::size_t encoder, phase_task& task) {
        auto const& owners = problem.amounts.phases[encoder].owners;
        task.some_classes.resize(task.size());
        for (std::size_t at = 0; at < task.size(); ++at) {
            task.some_classes[at] = followers_of(problem, encoder, owners[task.item(at)]) > 0 ? 1 : 0;
        }
        task.classes = task.some_classes;
    }

    std::vector<std::size_t> leaving_;  ///< units
    std::vector<std::uint64_t> sent_;
    std::vector<std::uint64_t> received_;
    std::vector<std::uint64_t> followers_;
    phase_ranks before_;
};

}  // namespace evenkeel::detail
