// SPDX-License-Identifier: Apache-2.0
// What plans.cpp finds, for the programs that do something with a plan: compiling a solver takes longer than the rest.
#pragma once

#include <evenkeel/core.hpp>

inline evenkeel::plan planned() {
    using evenkeel::item_id;
    return {.items = {item_id{0}, item_id{3}, item_id{1}, item_id{2}}, .offsets = {0, 2, 4}};
}
