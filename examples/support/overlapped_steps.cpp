// SPDX-License-Identifier: Apache-2.0
#include "overlapped_steps.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <evenkeel/comm/dispatcher.hpp>
#include <evenkeel/core/group.hpp>
#include <evenkeel/rearrange/order.hpp>
#include <evenkeel/rearrange/units.hpp>

#include "payload.hpp"

namespace evenkeel::examples {

namespace {

/// A rank that has not come by then will not come: the ranks of this job may be threads that share two processors.
constexpr std::chrono::minutes longest_wait{10};

std::vector<evenkeel::phase> phases_for(std::span<std::string const> names, std::size_t ranks, method how,
                                        payload_scale const& scale) {
    constexpr std::array methods{phase_method::scratch, phase_method::relabel, phase_method::stay};
    std::vector<evenkeel::phase> result;
    auto const add = [&](std::string const& name) {
        auto const bytes = bytes_per_token(name);
        result.push_back({.name = name,
                          .group = flat_group({ranks}),
                          .bytes_in = scale.of(bytes.in),
                          .bytes_out = bytes.out == 0 ? 0 : scale.of(bytes.out),
                          .method = methods.at(static_cast<std::size_t>(how))});
    };
    for (auto const& name : names) {
        add(name);
    }
    if (names.back() != "llm") {
        add("llm");
    }
    return result;
}

/// What a rank has drawn for a step, in the form of the dispatcher, with its payload.
class filled_step {
  public:
    filled_step(drawn_step drawn, std::span<evenkeel::phase const> phases, bool with_llm, std::size_t rank)
        : drawn_{std::move(drawn)}, samples_{drawn_.lengths.front().size()}, units_of_(phases.size() - 1) {
        std::size_t const encoders = phases.size() - 1;
        text_ = with_llm ? drawn_.lengths[encoders] : std::vector<std::uint64_t>(samples_);
        for (std::size_t encoder = 0; encoder < encoders; ++encoder) {
            for (std::size_t sample = 0; with_llm && sample < samples_; ++sample) {
                text_[sample] -= drawn_.lengths[encoder][sample];
            }
            // A sample is one unit of each encoder that it has tokens for.
            auto& [counts, lengths] = units_of_[encoder];
            for (std::uint64_t const tokens : drawn_.lengths[encoder]) {
                counts.push_back(tokens > 0 ? 1 : 0);
            }
            std::ranges::copy_if(drawn_.lengths[encoder], std::back_inserter(lengths),
                                 [](std::uint64_t tokens) { return tokens > 0; });
            units_.push_back({.counts = counts, .lengths = lengths});
        }
        for (std::size_t phase = 0; phase < phases.size(); ++phase) {
            auto& payload = payload_.emplace_back();
            auto const& lengths = phase < encoders ? drawn_.lengths[phase] : text_;
            for (std::size_t sample = 0; sample < samples_; ++sample) {
                std::size_t const at = payload.size();
                payload.resize(at + lengths[sample] * phases[phase].bytes_in);
                fill_payload(std::span{payload}.subspan(at), drawn_.first_sample + rank * samples_ + sample, phase);
            }
        }
        for (std::size_t phase = 0; phase < phases.size(); ++phase) {
            fields_.push_back({.name = phases[phase].name,
                               .phase = phase,
                               .bytes = payload_[phase],
                               .columns = phases[phase].bytes_in});
        }
    }
    filled_step(filled_step const&) = delete;
    filled_step& operator=(filled_step const&) = delete;

    [[nodiscard]] comm::prepared_step prepare(comm::dispatcher& dispatch) const {
        return dispatch.prepare({.text = text_, .units = units_}, fields_);
    }

    [[nodiscard]] std::uint64_t wrong_in(comm::dispatched_step const& step, world_rank self) const {
        std::uint64_t wrong = 0;
        for (std::size_t phase = 0; phase < fields_.size(); ++phase) {
            auto const& inputs = step.samples().inputs;
            bool const encodes = phase < inputs.size();
            auto const& lengths = encodes ? inputs[phase].lengths : step.samples().text;
            auto const samples = encodes ? samples_of_units(inputs[phase].units) : std::vector<item_id>{};
            std::size_t at = 0;
            for (item_id const item : items_on(step.plan().phases[phase].layout, self)) {
                std::size_t const bytes = lengths[to_index(item)] * fields_[phase].columns;
                item_id const sample = encodes ? samples[to_index(item)] : item;
                wrong +=
                    wrong_bytes(step.arrived(phase).subspan(at, bytes), drawn_.first_sample + to_index(sample), phase);
                at += bytes;
            }
        }
        return wrong;
    }

  private:
    drawn_step drawn_;
    std::size_t samples_;
    struct encoder_units {
        std::vector<std::size_t> counts;
        std::vector<std::uint64_t> lengths;
    };
    std::vector<encoder_units> units_of_;
    std::vector<std::uint64_t> text_;
    std::vector<comm::drawn_units> units_;
    std::vector<std::vector<std::byte>> payload_;
    std::vector<comm::step_field> fields_;
};

}  // namespace

waits_report run_overlapped(comm::communicator& world, std::span<std::string const> names,
                            std::function<drawn_step(std::size_t step)> const& draw, overlapped_steps const& what) {
    auto const phases = phases_for(names, world.size().value, what.how, what.scale);
    auto const fill = [&](std::size_t step) {
        return std::make_unique<filled_step>(draw(step), phases, names.back() == "llm", to_index(world.rank()));
    };
    struct {
        double waited_ms = 0;
        std::uint64_t wrong = 0;
    } mine;
    std::vector<double> waited_ms;
    comm::dispatcher dispatch{world, phases, longest_wait, {.overlap = what.overlap}};
    // Drawn a step ahead, as a data loader does, so that steps are prepared as soon as they may be.
    auto here = fill(0);
    auto next = here->prepare(dispatch);
    auto drawn = what.steps > 1 ? fill(1) : nullptr;
    for (std::size_t number = 0; number < what.steps; ++number) {
        auto const step = next.wait(longest_wait);
        waited_ms.push_back(1e3 * step.statistics().seconds_waiting);
        auto const computed = std::chrono::steady_clock::now() + what.computing;
        auto const current = std::exchange(here, std::move(drawn));
        if (here != nullptr) {
            next = here->prepare(dispatch);
        }
        // Looking at the bytes and drawing are part of what a rank computes: else ranks would wait for each other's.
        mine.wrong += current->wrong_in(step, world.rank());
        if (number + 2 < what.steps) {
            drawn = fill(number + 2);
        }
        std::this_thread::sleep_until(computed);
    }
    std::ranges::sort(waited_ms);
    mine.waited_ms = waited_ms[waited_ms.size() / 2];

    std::vector<decltype(mine)> all(world.size().value);
    world.all_gather(std::as_bytes(std::span{&mine, 1}), std::as_writable_bytes(std::span{all})).wait(longest_wait);
    waits_report result{.overlap = what.overlap,
                        .step_ms = std::chrono::duration<double, std::milli>{what.computing}.count(),
                        .waited_ms = {},
                        .wrong = 0};
    for (auto const& rank : all) {
        result.waited_ms.push_back(rank.waited_ms);
        result.wrong += rank.wrong;
    }
    return result;
}

std::string to_text(waits_report const& report) {
    auto text = fmt::format(
        "\nOverlap {}: what each rank waited for its inputs, median of the steps, in ms; a step computes {:g} ms.\n",
        report.overlap ? "on" : "off", report.step_ms);
    constexpr std::size_t per_line = 8;
    for (std::size_t rank = 0; rank < report.waited_ms.size(); ++rank) {
        text += rank % per_line == 0 ? fmt::format("ranks from {:>4}", rank) : "";
        text += fmt::format("  {:8.3f}", report.waited_ms[rank]);
        text += rank % per_line + 1 == per_line || rank + 1 == report.waited_ms.size() ? "\n" : "";
    }
    return text + (report.wrong == 0 ? "Every byte verified.\n" : fmt::format("{} bytes are wrong.\n", report.wrong));
}

}  // namespace evenkeel::examples
