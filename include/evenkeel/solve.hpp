// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <evenkeel/solve/balance.hpp>
#include <evenkeel/solve/balance_mixed.hpp>
#include <evenkeel/solve/balance_padded.hpp>
#include <evenkeel/solve/flows.hpp>
#include <evenkeel/solve/lower_bound.hpp>
#include <evenkeel/solve/micro_batch_options.hpp>
#include <evenkeel/solve/micro_batched.hpp>
#include <evenkeel/solve/micro_batches.hpp>
#include <evenkeel/solve/node_flows.hpp>
#include <evenkeel/solve/options.hpp>
#include <evenkeel/solve/rebalance.hpp>
#include <evenkeel/solve/rebalance_padded.hpp>
#include <evenkeel/solve/rebalanced.hpp>
#include <evenkeel/solve/settle.hpp>
#include <evenkeel/solve/wishes.hpp>
#include <evenkeel/solve/workspace.hpp>
