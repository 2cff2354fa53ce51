// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace.hpp"

namespace evenkeel::examples {

/// Makes up a training mixture of text, images and audio; columns `text,image,audio`, in tokens.
///
///     tri_modal(2560, 1);   // 64 ranks with 40 samples each
///
/// 30 % of the samples are text alone, 32 % text with images, 28 % text with audio, 10 % all three. Images become one
/// token per 28 x 28 pixels, 4 to 1280 of them; audio becomes 25 tokens per second, with clips as in read books, in
/// short prompts and, now and then, of minutes. A row's mean is about 318 text, 298 image and 136 audio tokens; 58 %
/// have no image, 62 % no audio.
///
/// The same seed gives the same rows, and fewer rows are the beginning of more.
[[nodiscard]] trace tri_modal(std::size_t rows, std::uint64_t seed);

}  // namespace evenkeel::examples
