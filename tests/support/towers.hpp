// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/comm/executor.hpp>

#include "batches.hpp"

// A model small enough to train in a test, in plain arithmetic: one tower of layers per modality, and a contrastive
// loss over what the towers make of a batch.
namespace evenkeel::test {

using tensor = std::vector<double>;

inline tensor some_numbers(std::uint64_t seed, std::size_t count) {
    seeded random{seed};
    tensor result(count);
    for (auto& value : result) {
        value = static_cast<double>(random.up_to(2000)) / 1000 - 1;
    }
    return result;
}

/// y = tanh(W x), for every sample of a batch.
struct layer {
    std::size_t width = 0;
    tensor weights;   ///< width x width
    tensor gradient;  ///< of the loss, summed over all backwards

    layer(std::size_t width_of_all, std::uint64_t seed)
        : width{width_of_all}, weights{some_numbers(seed, width * width)}, gradient(width * width) {}

    [[nodiscard]] tensor forward(std::span<double const> input) const {
        tensor output(input.size());
        for (std::size_t first = 0; first < input.size(); first += width) {
            for (std::size_t to = 0; to < width; ++to) {
                double sum = 0;
                for (std::size_t from = 0; from < width; ++from) {
                    sum += weights[to * width + from] * input[first + from];
                }
                output[first + to] = std::tanh(sum);
            }
        }
        return output;
    }

    tensor backward(std::span<double const> input, std::span<double const> output_gradient) {
        auto const output = forward(input);
        tensor input_gradient(input.size());
        for (std::size_t first = 0; first < input.size(); first += width) {
            for (std::size_t to = 0; to < width; ++to) {
                double const value = output[first + to];
                double const inner = output_gradient[first + to] * (1 - value * value);
                for (std::size_t from = 0; from < width; ++from) {
                    gradient[to * width + from] += inner * input[first + from];
                    input_gradient[first + from] += inner * weights[to * width + from];
                }
            }
        }
        return input_gradient;
    }
};

/// The loss of a contrastive batch and its gradients: every sample is to be found among all by its features in each of
/// the other modalities, in both directions. With one modality, half the sum of squares.
struct contrast {
    double loss = 0;
    std::vector<tensor> gradients;  ///< per modality

    contrast(std::span<std::span<double const> const> features, std::size_t width) {
        for (auto const& own : features) {
            gradients.emplace_back(own.size());
        }
        if (features.size() == 1) {
            for (std::size_t at = 0; at < features[0].size(); ++at) {
                loss += features[0][at] * features[0][at] / 2;
                gradients[0][at] = features[0][at];
            }
        }
        for (std::size_t a = 0; a < features.size(); ++a) {
            for (std::size_t b = 0; b < features.size(); ++b) {
                if (a != b) {
                    add(features, width, a, b);
                }
            }
        }
    }

  private:
    /// Cross-entropy of finding b's sample i from a's.
    void add(std::span<std::span<double const> const> features, std::size_t width, std::size_t a, std::size_t b) {
        std::size_t const samples = features[a].size() / width;
        for (std::size_t i = 0; i < samples; ++i) {
            tensor logits(samples);
            double sum = 0;
            for (std::size_t j = 0; j < samples; ++j) {
                for (std::size_t k = 0; k < width; ++k) {
                    logits[j] += features[a][i * width + k] * features[b][j * width + k];
                }
                sum += std::exp(logits[j]);
            }
            loss += (std::log(sum) - logits[i]) / static_cast<double>(samples);
            for (std::size_t j = 0; j < samples; ++j) {
                double const slope = (std::exp(logits[j]) / sum - (i == j ? 1 : 0)) / static_cast<double>(samples);
                for (std::size_t k = 0; k < width; ++k) {
                    gradients[a][i * width + k] += slope * features[b][j * width + k];
                    gradients[b][j * width + k] += slope * features[a][i * width + k];
                }
            }
        }
    }
};

/// One modality: its layers and the samples of a step.
struct tower {
    std::size_t width = 3;
    std::vector<layer> layers;
    tensor samples;

    tower(std::size_t stages, std::size_t samples_per_step, std::uint64_t seed)
        : samples{some_numbers(seed, samples_per_step * width)} {
        for (std::size_t stage = 0; stage < stages; ++stage) {
            layers.emplace_back(width, seed + 1 + stage);
        }
    }
};

/// Trains all towers in this process, batch by batch: leaves the gradients in the layers. @return the loss
inline double train_alone(std::vector<tower>& towers, std::size_t samples_per_batch) {
    double loss = 0;
    std::size_t const width = towers.front().width;
    for (std::size_t first = 0; first < towers.front().samples.size(); first += samples_per_batch * width) {
        std::vector<std::vector<tensor>> outputs;  // per tower, the input of each layer and the features
        std::vector<std::span<double const>> features;
        for (auto& own : towers) {
            auto& through = outputs.emplace_back();
            through.emplace_back(own.samples.begin() + static_cast<std::ptrdiff_t>(first),
                                 own.samples.begin() + static_cast<std::ptrdiff_t>(first + samples_per_batch * width));
            for (auto const& layer : own.layers) {
                through.push_back(layer.forward(through.back()));
            }
        }
        for (auto const& through : outputs) {
            features.emplace_back(through.back());
        }
        contrast const seen{features, width};
        loss += seen.loss;
        for (std::size_t own = 0; own < towers.size(); ++own) {
            auto gradient = seen.gradients[own];
            for (std::size_t stage = towers[own].layers.size(); stage-- > 0;) {
                gradient = towers[own].layers[stage].backward(outputs[own][stage], gradient);
            }
        }
    }
    return loss;
}

inline std::span<double const> doubles(std::span<std::byte const> bytes) {
    return {reinterpret_cast<double const*>(bytes.data()), bytes.size() / sizeof(double)};
}

inline void put(tensor const& values, std::span<std::byte> bytes) {
    if (bytes.size() != values.size() * sizeof(double)) {
        throw std::logic_error{"a buffer of " + std::to_string(bytes.size()) + " bytes for " +
                               std::to_string(values.size()) + " numbers"};
    }
    std::memcpy(bytes.data(), values.data(), bytes.size());
}

/// One layer of a tower as a stage of a pipeline; notes what it is asked to do, as a schedule is drawn.
class tower_stage final : public comm::pipeline_stage {
  public:
    tower_stage(tower const& whole, std::size_t stage, std::size_t pipeline, std::size_t samples_per_micro_batch)
        : own{whole.layers[stage]},
          samples_{stage == 0 ? std::span{whole.samples} : std::span<double const>{}},
          pipeline_{pipeline},
          values_{samples_per_micro_batch * whole.width} {}

    void forward(std::uint32_t micro_batch, std::span<std::byte const> input, std::span<std::byte> output) override {
        note("F", micro_batch);
        auto const values = own.forward(input_of(micro_batch, input));
        if (!output.empty()) {
            put(values, output);
        }
    }

    void backward(std::uint32_t micro_batch, std::span<std::byte const> input,
                  std::span<std::byte const> output_gradient, std::span<std::byte> input_gradient) override {
        note("B", micro_batch);
        auto const values = input_of(micro_batch, input);
        tensor gradient{doubles(output_gradient).begin(), doubles(output_gradient).end()};
        if (output_gradient.empty()) {
            auto const output = own.forward(values);
            auto const features = std::span<double const>{output};
            contrast const alone{std::span{&features, 1}, own.width};
            loss += alone.loss;
            gradient = alone.gradients[0];
        }
        auto const result = own.backward(values, gradient);
        if (!input_gradient.empty()) {
            put(result, input_gradient);
        }
    }

    void interact(std::uint32_t group, std::span<std::span<std::byte const> const> features,
                  std::span<std::byte> gradient) override {
        note("S", group);
        std::vector<std::span<double const>> all;
        for (auto const& one : features) {
            all.push_back(doubles(one));
        }
        contrast const seen{all, own.width};
        loss += seen.loss;
        put(seen.gradients[pipeline_], gradient);
    }

    layer own;
    double loss = 0;
    std::string log;

  private:
    void note(char const* what, std::uint32_t number) {
        log.append(log.empty() ? "" : " ").append(what).append(std::to_string(number + 1));
    }

    [[nodiscard]] std::span<double const> input_of(std::uint32_t micro_batch, std::span<std::byte const> input) const {
        return samples_.empty() ? doubles(input) : samples_.subspan(micro_batch * values_, values_);
    }

    std::span<double const> samples_;
    std::size_t pipeline_;
    std::size_t values_;
};

}  // namespace evenkeel::test
