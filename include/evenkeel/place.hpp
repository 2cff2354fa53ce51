// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <evenkeel/place/options.hpp>
#include <evenkeel/place/relabel.hpp>
#include <evenkeel/place/relabelled.hpp>
#include <evenkeel/place/workspace.hpp>
