// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/errors.hpp>

namespace evenkeel {

namespace detail {

template <class Type, class... Types>
concept one_of = (std::same_as<Type, Types> || ...);

template <class Type>
concept whole_number = std::integral<Type> && sizeof(Type) <= sizeof(std::uint64_t) &&
                       !one_of<Type, bool, char, wchar_t, char8_t, char16_t, char32_t>;

template <class Type>
concept real_number = one_of<Type, float, double, long double>;

}  // namespace detail

/// What a sample's length may be: a whole number of up to 64 bits or a floating one; not `bool`, not a character.
template <class Length>
concept sample_length =
    detail::whole_number<std::remove_cvref_t<Length>> || detail::real_number<std::remove_cvref_t<Length>>;

/// What turns each element of `Samples` into a `sample_length`: a function, a function object, a pointer to a member.
template <class Projection, class Samples>
concept length_of =
    std::ranges::input_range<Samples> && std::invocable<Projection&, std::ranges::range_reference_t<Samples>> &&
    sample_length<std::invoke_result_t<Projection&, std::ranges::range_reference_t<Samples>>>;

/// A length of any type as the 64-bit integer that cost models take: `round(length * resolution)`.
///
///     evenkeel::whole_length(std::int16_t{9}, 1, "balance", 0);   // 9
///     evenkeel::whole_length(2.54, 100, "balance", 0);            // 254: seconds, counted in hundredths
///
/// One multiplication and one rounding (half away from zero), so every compiler and processor agrees to the bit; a
/// `long double`, whose width they do not agree on, is first taken as the nearest `double`.
///
/// @param resolution  How many parts of a unit count; the same for whole and for floating lengths.
/// @param function    Who asks,
/// @param position    for which item,
/// @param argument    of which argument: all three are named in an error.
/// @throws std::invalid_argument  if `length` is negative or not a number.
/// @throws std::overflow_error    if the result does not fit into 64 bits.
template <sample_length Length>
[[nodiscard]] constexpr std::uint64_t whole_length(Length length, std::uint64_t resolution, std::string_view function,
                                                   std::size_t position, std::string_view argument = "samples") {
    auto const refuse = [&] { throw_invalid(function, element(argument, position), length, "a length of at least 0"); };
    auto const overflow = [&] {
        throw std::overflow_error{std::string{function} + ": " + element(argument, position) +
                                  ": the length exceeds 64 bits"};
    };
    if constexpr (std::floating_point<Length>) {
        if (!(length >= Length{0})) {
            refuse();
        }
        double const scaled = std::round(static_cast<double>(length) * static_cast<double>(resolution));
        // 2^64 is a double; asked this way round, infinity and infinity * 0, which is no number, are caught too.
        if (!(scaled < 18446744073709551616.0)) {
            overflow();
        }
        return static_cast<std::uint64_t>(scaled);
    } else {
        if constexpr (std::signed_integral<Length>) {
            if (length < 0) {
                refuse();
            }
        }
        std::uint64_t scaled = 0;
        if (__builtin_mul_overflow(static_cast<std::uint64_t>(length), resolution, &scaled)) {
            overflow();
        }
        return scaled;
    }
}

}  // namespace evenkeel
