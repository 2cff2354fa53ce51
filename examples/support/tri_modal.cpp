// SPDX-License-Identifier: Apache-2.0
#include "tri_modal.hpp"

#include <algorithm>
#include <cmath>

#include "random.hpp"

namespace evenkeel::examples {
namespace {

std::uint64_t tokens(double amount, double least, double most) {
    return static_cast<std::uint64_t>(std::clamp(std::round(amount), least, most));
}

std::uint64_t image_count(random_source& random) {
    auto const kind = random.uniform();
    return kind < 0.75 ? 1 : kind < 0.95 ? random.between(2, 3) : random.between(4, 7);
}

std::uint64_t image_tokens(random_source& random) {
    auto const pixels = random.lognormal(640.0 * 480.0, 0.8);
    auto const aspect = random.lognormal(1, 0.35);
    auto const patches = std::floor(std::sqrt(pixels * aspect) / 28) * std::floor(std::sqrt(pixels / aspect) / 28);
    return tokens(patches, 4, 1280);
}

double audio_seconds(random_source& random) {
    auto const kind = random.uniform();
    if (kind < 0.50) {
        return random.uniform() < 0.7 ? std::max(1.0, 14.5 + 1.6 * random.normal()) : 1.4 + 14.6 * random.uniform();
    }
    if (kind < 0.93) {
        return std::clamp(random.lognormal(4.8, 0.35), 1.0, 30.0);
    }
    return std::clamp(random.lognormal(60, 0.8), 10.0, 600.0);
}

struct sample {
    std::uint64_t text = 0;
    std::uint64_t image = 0;
    std::uint64_t audio = 0;
};

void add_images(sample& sample, random_source& random) {
    sample.text += tokens(random.lognormal(160, 0.9), 1, 32768);
    for (auto left = image_count(random); left > 0; --left) {
        sample.image += image_tokens(random);
    }
}

void add_audio(sample& sample, random_source& random) {
    auto const seconds = audio_seconds(random);
    sample.audio += static_cast<std::uint64_t>(std::ceil(25 * seconds));
    sample.text += tokens(random.uniform() < 0.6 ? 3.2 * seconds : random.lognormal(60, 0.8), 1, 32768);
}

sample draw(random_source& random) {
    auto result = sample{};
    auto const kind = random.uniform();
    if (kind < 0.30) {
        result.text = tokens(random.lognormal(350, 1.1), 1, 32768);
    }
    if (kind >= 0.30 && kind < 0.72) {
        add_images(result, random);
    }
    if (kind >= 0.62) {
        add_audio(result, random);
    }
    return result;
}

}  // namespace

trace tri_modal(std::size_t rows, std::uint64_t seed) {
    auto result = trace{.columns = {"text", "image", "audio"}};
    result.lengths.reserve(3 * rows);
    auto random = random_source{seed};
    for (auto row = std::size_t{0}; row < rows; ++row) {
        auto const [text, image, audio] = draw(random);
        result.lengths.insert(result.lengths.end(), {text, image, audio});
    }
    return result;
}

}  // namespace evenkeel::examples
