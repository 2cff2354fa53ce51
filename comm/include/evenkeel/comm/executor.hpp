// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/comm/deadline.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/pipeline/schedule.hpp>
#include <evenkeel/pipeline/simulation.hpp>

namespace evenkeel::comm {

/// The caller's part of one stage, on the rank that runs it. The executor calls it in the order of the schedule, one
/// call at a time, from the thread that called `run`. What a stage keeps from forward to backward is its own business.
class pipeline_stage {
  public:
    pipeline_stage() = default;
    pipeline_stage(pipeline_stage const&) = delete;
    pipeline_stage& operator=(pipeline_stage const&) = delete;
    virtual ~pipeline_stage() = default;

    /// @param input   From the stage before; empty on the first, which has its samples from elsewhere.
    /// @param output  To fill, for the next stage; on the last one, the features of this micro-batch.
    virtual void forward(std::uint32_t micro_batch, std::span<std::byte const> input, std::span<std::byte> output) = 0;

    /// @param input            As in the forward of this micro-batch, unchanged.
    /// @param output_gradient  Of what `forward` put out. Empty on the last stage of a schedule without batch-syncs:
    /// there
    ///                         each micro-batch has a loss of its own, which is the stage's business.
    /// @param input_gradient   To fill, for the stage before; empty on the first.
    virtual void backward(std::uint32_t micro_batch, std::span<std::byte const> input,
                          std::span<std::byte const> output_gradient, std::span<std::byte> input_gradient) = 0;

    /// The interaction of one group, forward and backward; called on the last stage of every pipeline.
    ///
    /// @param features  Per pipeline, the features of this group's micro-batches, one after the other.
    /// @param gradient  To fill: of the loss by this pipeline's own features, in the same order.
    virtual void interact(std::uint32_t group, std::span<std::span<std::byte const> const> features,
                          std::span<std::byte> gradient) = 0;
};

/// A pipeline and where it runs.
struct placed_pipeline {
    evenkeel::schedule schedule = {};
    /// The world rank of each device; no rank runs two.
    std::vector<world_rank> ranks = {};
    /// What each stage but the last hands to the next, per micro-batch; at most 2^40.
    std::vector<std::size_t> boundary_bytes = {};
    /// What the last stage adds to the contrastive batch, per micro-batch; 0 without batch-syncs. The groups of all
    /// pipelines together have at most 2^40.
    std::size_t feature_bytes = 0;
};

/// Runs schedules for real: 1F1B, GPipe, GPipe with batch-syncs, DistMM-Pipe, and any other valid order of one stage
/// per device with whole backwards.
///
///     evenkeel::comm::pipeline_executor executor{world, pipelines, 30s};   // once
///     executor.run(stage, 30s);                                            // every step
///
/// A batch-sync gathers the group's features of all pipelines, calls `interact` and hands each micro-batch its part of
/// the gradient. Features are put out where they are gathered from, and gradients are handed on where they were
/// written: nothing is copied on the way. Transfers proceed while a stage computes, on a thread of the executor's own,
/// which alone uses the communicator; a receive is posted one ahead. Buffers are taken as the schedule needs them and
/// kept for the next step.
///
/// Uses host memory.
class pipeline_executor {
  public:
    /// Collective: every rank of the communicator must call it, also one that runs no device.
    ///
    /// @param world      Outlives the executor. Between runs the caller may use it, during a run only the executor
    ///                   does.
    /// @param pipelines  One for every replica of every modality; the same on every rank.
    /// @throws std::invalid_argument  on every rank, if the schedules do not run together or are not of that kind, or a
    ///                                rank or size is missing, too large or there twice.
    /// @throws comm::error            if the ranks do not hold the same pipelines, or a peer failed, did not come in
    ///                                time or has no memory for its buffers.
    pipeline_executor(communicator& world, std::span<placed_pipeline const> pipelines, deadline until);
    ~pipeline_executor();
    pipeline_executor(pipeline_executor&&) noexcept;
    pipeline_executor& operator=(pipeline_executor&&) noexcept;

    /// Runs this rank's part of a step; returns when it is complete. A rank without a device returns at once.
    ///
    /// @throws comm::error  if a peer failed or did not come in time: on every rank that runs a device, in the numbers
    ///                      of `world`. Who waits too long names its neighbour in the pipeline, or the last stages that
    ///                      did not come to a batch-sync; whom these wait for, it does not know.
    /// @throws what `stage` throws, after telling the other ranks. The communicator cannot be used any more.
    void run(pipeline_stage& stage, deadline until);

    /// The pipeline and device that this rank runs.
    struct part {
        std::size_t pipeline = 0;
        device_id device{};
    };
    [[nodiscard]] std::optional<part> own() const noexcept;

    /// When each instruction of this rank's device started and ended in the last run, in seconds since `run` was
    /// called.
    [[nodiscard]] std::span<interval const> last_run() const noexcept;

  private:
    class state;
    std::unique_ptr<state> state_;
};

}  // namespace evenkeel::comm
