// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <evenkeel/pipeline/chrome_trace.hpp>
#include <evenkeel/pipeline/distmm_pipe.hpp>
#include <evenkeel/pipeline/fault.hpp>
#include <evenkeel/pipeline/gpipe.hpp>
#include <evenkeel/pipeline/interleaved.hpp>
#include <evenkeel/pipeline/memory.hpp>
#include <evenkeel/pipeline/modelled_times.hpp>
#include <evenkeel/pipeline/one_f_one_b.hpp>
#include <evenkeel/pipeline/pytorch_csv.hpp>
#include <evenkeel/pipeline/schedule.hpp>
#include <evenkeel/pipeline/search.hpp>
#include <evenkeel/pipeline/simulate.hpp>
#include <evenkeel/pipeline/simulation.hpp>
#include <evenkeel/pipeline/times.hpp>
#include <evenkeel/pipeline/transfers.hpp>
#include <evenkeel/pipeline/validate.hpp>
#include <evenkeel/pipeline/zero_bubble.hpp>
