// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <evenkeel/cost/attention.hpp>
#include <evenkeel/cost/conv_attention.hpp>
#include <evenkeel/cost/cost_model.hpp>
#include <evenkeel/cost/fit.hpp>
#include <evenkeel/cost/linear.hpp>
#include <evenkeel/cost/load_of.hpp>
#include <evenkeel/cost/padded.hpp>
#include <evenkeel/cost/padded_model.hpp>
#include <evenkeel/cost/quantise.hpp>
#include <evenkeel/cost/rounded.hpp>
