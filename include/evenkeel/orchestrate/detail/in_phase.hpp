// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/orchestrate/phase.hpp>

namespace evenkeel::detail {

/// Names a phase as errors do: "phases[1] (llm)", or "phases[1]" if the caller has not named it.
[[nodiscard]] inline std::string name_in_errors(std::span<phase const> phases, std::size_t number) {
    std::string name = element("phases", number);
    return phases[number].name.empty() ? name : name.append(" (").append(phases[number].name).append(")");
}

/// Does a piece of work of `orchestrate`, and lets its errors begin otherwise.
///
/// @param name  Makes the new beginning, only where it is needed.
template <class Work, class Name>
void renaming(Work& work, Name const& name) {
    auto const renamed = [&](std::string_view message) {
        constexpr std::string_view caller = "orchestrate: ";
        message.remove_prefix(message.starts_with(caller) ? caller.size() : 0);
        return name().append(": ").append(message);
    };
    try {
        work();
    } catch (std::invalid_argument const& error) {
        throw std::invalid_argument{renamed(error.what())};
    } catch (std::overflow_error const& error) {
        throw std::overflow_error{renamed(error.what())};
    }
}

/// Does a piece of work of `orchestrate` that belongs to one phase, and lets its errors say which that is, however deep
/// they come from.
///
///     in_phase(phases, 1, [&] { require_shape("orchestrate", phases[1].members, phases[1].group); });
///     // "orchestrate: phases[1] (llm): members.context = 0, expected at least 1"
///     in_phase(phases, 0, [&] { cost.weigh(lengths, weights); });
///     // "orchestrate: phases[0] (vision): attention_cost: the weight of length 4294967296 exceeds 64 bits"
///
/// Costs nothing where all is well.
///
/// @throws std::invalid_argument, std::overflow_error  what `work` throws of these, with the phase in the message;
///                                                     other errors, such as those of a caller's own cost model, as
///                                                     they are.
template <class Work>
void in_phase(std::span<phase const> phases, std::size_t number, Work&& work) {
    renaming(work, [&] { return "orchestrate: " + name_in_errors(phases, number); });
}

/// Does a piece of work of `orchestrate` for another function, and lets its errors name that one.
///
///     on_behalf_of("bound_of", [&] { require_step(samples, phases, topology, options); });
///     // "bound_of: phases[1] (llm): pad_to = 0, expected at least 1"
template <class Work>
void on_behalf_of(std::string_view function, Work&& work) {
    renaming(work, [&] { return std::string{function}; });
}

}  // namespace evenkeel::detail
