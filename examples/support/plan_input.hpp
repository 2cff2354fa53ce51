// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <evenkeel/parallel/cluster.hpp>
#include <evenkeel/parallel/model.hpp>
#include <evenkeel/parallel/plan_cluster.hpp>

namespace evenkeel::examples {

/// What `plan_cluster` plans.
struct plan_input {
    multimodal_model model = {};
    evenkeel::cluster cluster = {};
    global_batch batch = {};

    friend bool operator==(plan_input const&, plan_input const&) = default;
};

}  // namespace evenkeel::examples
