// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <evenkeel/orchestrate/assembly.hpp>
#include <evenkeel/orchestrate/bound.hpp>
#include <evenkeel/orchestrate/loss.hpp>
#include <evenkeel/orchestrate/options.hpp>
#include <evenkeel/orchestrate/orchestrate.hpp>
#include <evenkeel/orchestrate/packing.hpp>
#include <evenkeel/orchestrate/phase.hpp>
#include <evenkeel/orchestrate/samples.hpp>
#include <evenkeel/orchestrate/step.hpp>
#include <evenkeel/orchestrate/workspace.hpp>
