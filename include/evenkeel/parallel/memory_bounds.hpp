// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace evenkeel {

/// What a submodule needs and a GPU has, in bytes, for the closed bounds below. Stages are even.
struct memory_figures {
    double gpu = 0;         ///< M: of one GPU
    double fixed = 0;       ///< Ms: weights, gradients and optimiser states of the whole submodule
    double activation = 0;  ///< Ma: of the whole submodule, per sample
};

/// The largest batches that can meet in one sync, by how the submodule is cut (DistMM, section 5.4).
///
///     evenkeel::memory_figures const tower{.gpu = 16e9, .fixed = 12e9, .activation = 1e9};
///     evenkeel::largest_batch_distmm_pipe(tower, 4);   // 26 samples: grows with the stages
///     evenkeel::largest_batch_one_f_one_b(tower, 4);   // 13: does not
///
/// Data parallel over `gpus`.
[[nodiscard]] constexpr double largest_batch_data_parallel(memory_figures const& of, std::size_t gpus) noexcept {
    return static_cast<double>(gpus) * (of.gpu - of.fixed) / of.activation;
}

/// Tensor parallel over `gpus`.
[[nodiscard]] constexpr double largest_batch_tensor_parallel(memory_figures const& of, std::size_t gpus) noexcept {
    return (of.gpu * static_cast<double>(gpus) - of.fixed) / of.activation;
}

/// Schedules that see one micro-batch at a time and hold as many as there are stages: 1F1B and its kin.
[[nodiscard]] constexpr double largest_batch_one_f_one_b(memory_figures const& of, std::size_t stages) noexcept {
    return (of.gpu - of.fixed / static_cast<double>(stages)) / of.activation;
}

/// GPipe with one sync per flush. Inferred: the paper does not give it.
[[nodiscard]] constexpr double largest_batch_gpipe(memory_figures const& of, std::size_t stages) noexcept {
    return (of.gpu * static_cast<double>(stages) - of.fixed) / of.activation;
}

/// DistMM-Pipe as the paper has it: micro-batches of half the size, as many per sync as stages. The expression that the
/// paper prints to the left of this one is four times as large, which is a misprint.
[[nodiscard]] constexpr double largest_batch_distmm_pipe(memory_figures const& of, std::size_t stages) noexcept {
    return largest_batch_gpipe(of, stages) / 2;
}

/// DistMM-Pipe with any number of micro-batches per sync: the first stage holds group + stages - 1 of them. Inferred,
/// and exact; at least the paper's from group = stages - 1 on, up to twice as much with finer micro-batches.
[[nodiscard]] constexpr double largest_batch_distmm_pipe(memory_figures const& of, std::size_t stages,
                                                         std::size_t group) noexcept {
    return largest_batch_gpipe(of, stages) * static_cast<double>(group) / static_cast<double>(group + stages - 1);
}

}  // namespace evenkeel
