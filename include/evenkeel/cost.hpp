// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <evenkeel/cost/attention.hpp>
#include <evenkeel/cost/cost_model.hpp>
#include <evenkeel/cost/linear.hpp>
