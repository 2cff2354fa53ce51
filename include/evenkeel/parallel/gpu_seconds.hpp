// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace evenkeel {

/// What a GPU spends a step on, in seconds.
struct gpu_seconds {
    double computing = 0;
    double tensor = 0;       ///< adding up activations, as far as a measured time does not have it
    double pipeline = 0;     ///< handing on activations and their gradients
    double gradients = 0;    ///< adding up gradients
    double interaction = 0;  ///< taking in features of other submodules and handing back their gradients

    [[nodiscard]] double communication() const noexcept { return tensor + pipeline + gradients + interaction; }
    [[nodiscard]] double total() const noexcept { return computing + communication(); }

    friend bool operator==(gpu_seconds const&, gpu_seconds const&) = default;
};

}  // namespace evenkeel
