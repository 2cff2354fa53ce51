// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/fingerprint.hpp>
#include <evenkeel/core/grid.hpp>
#include <evenkeel/core/group.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/infeasible.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/core/length.hpp>
#include <evenkeel/core/members.hpp>
#include <evenkeel/core/not_found.hpp>
#include <evenkeel/core/partition.hpp>
#include <evenkeel/core/plan.hpp>
#include <evenkeel/core/quality.hpp>
#include <evenkeel/core/topology.hpp>
