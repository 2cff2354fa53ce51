// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/pipeline/schedule.hpp>
#include <evenkeel/pipeline/transfers.hpp>

namespace evenkeel {

/// What `to_pytorch_csv` writes beside forwards and backwards.
struct csv_options {
    /// Sends and receives: PyTorch's format `compute_comms`; without them `compute_only`, to which PyTorch adds its
    /// own.
    bool transfers = false;
    /// Batch-syncs, which PyTorch does not know and refuses: the cell `3S0` is the batch-sync of group 0 on stage 3.
    bool batch_syncs = true;

    friend bool operator==(csv_options const&, csv_options const&) = default;
};

/// The schedule as PyTorch's pipelining writes and reads it: a row per device, a cell per instruction.
///
///     evenkeel::to_pytorch_csv(evenkeel::distmm_pipe(evenkeel::stage_count{2}, {2}, {2}));
///     // 0F0,0F1,0B0,0B1
///     // 1F0,1F1,1S0,1B0,1B1
///
/// A cell is stage, kind and micro-batch, from 0: F, B (full backward), I (input gradient), W (weight gradient),
/// SEND_F, RECV_F, SEND_B, RECV_B, and as an extension S (see `csv_options`).
[[nodiscard]] inline std::string to_pytorch_csv(schedule const& drawn, csv_options options = {}) {
    std::string text;
    for (std::size_t device = 0; device < drawn.devices(); ++device) {
        bool first = true;
        for (auto const& one : drawn[to_id<device_id>(device)]) {
            if ((is_transfer(one.kind) && !options.transfers) ||
                (one.kind == instruction_kind::batch_sync && !options.batch_syncs)) {
                continue;
            }
            text.append(first ? "" : ",")
                .append(std::to_string(to_index(one.stage)))
                .append(short_name(one.kind))
                .append(std::to_string(one.number));
            first = false;
        }
        text.append("\n");
    }
    return text;
}

}  // namespace evenkeel
