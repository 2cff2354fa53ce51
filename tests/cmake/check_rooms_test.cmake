# SPDX-License-Identifier: Apache-2.0
# Plants one fault after the other in a small sound tree; the check must find each, by name, and nothing in the sound
# tree.
#
# cmake -D SCRIPT=check_rooms.cmake -D FOLDER=scratch -P check_rooms_test.cmake
cmake_minimum_required(VERSION 3.25)

set(spdx "// SPDX-License-Identifier: Apache-2.0\n")

# Lays the sound tree: two headers per room and their umbrella.
function(lay_sound_tree)
    file(REMOVE_RECURSE "${FOLDER}")
    file(WRITE "${FOLDER}/include/evenkeel/core/ids.hpp" "${spdx}#pragma once\n#include <cstdint>\n")
    file(WRITE "${FOLDER}/include/evenkeel/core/detail/flat.hpp"
        "${spdx}#pragma once\n#include <evenkeel/core/ids.hpp>\n")
    file(WRITE "${FOLDER}/include/evenkeel/core.hpp"
        "${spdx}// All of it.\n#pragma once\n\n#include <evenkeel/core/ids.hpp>\n")
    file(WRITE "${FOLDER}/include/evenkeel/cost/linear.hpp" "${spdx}#include <evenkeel/core/ids.hpp>\n")
    file(WRITE "${FOLDER}/include/evenkeel/solve/balance.hpp"
        "${spdx}#include <evenkeel/core/ids.hpp>\n# include <evenkeel/cost/linear.hpp>\n#include \"detail/sort.hpp\"\n")
    file(WRITE "${FOLDER}/include/evenkeel/solve/detail/sort.hpp" "${spdx}#include \"../../core.hpp\"\n")
    file(WRITE "${FOLDER}/include/evenkeel/rearrange/exchange.hpp" "${spdx}#include <evenkeel/core.hpp>\n")
    file(WRITE "${FOLDER}/include/evenkeel/view/batches.hpp" "${spdx}#include <range/v3/view/all.hpp>\n")
    file(WRITE "${FOLDER}/comm/include/evenkeel/comm/communicator.hpp" "${spdx}#include <evenkeel/solve/balance.hpp>\n")
    file(WRITE "${FOLDER}/comm/include/evenkeel/comm/mpi.hpp" "${spdx}#include <mpi.h>\n")
    file(WRITE "${FOLDER}/comm/src/nccl/communicator.cpp"
        "${spdx}#include <nccl.h>\n#include <evenkeel/comm/communicator.hpp>\n")
    file(WRITE "${FOLDER}/tests/solve/sort_test.cpp" "${spdx}#include <evenkeel/solve/detail/sort.hpp>\n")
endfunction()

function(run_check)
    execute_process(COMMAND "${CMAKE_COMMAND}" -D "FOLDER=${FOLDER}" -P "${SCRIPT}"
        RESULT_VARIABLE status ERROR_VARIABLE said OUTPUT_QUIET)
    string(REGEX REPLACE "[ \n]+" " " said "${said}")
    set(status "${status}" PARENT_SCOPE)
    set(said "${said}" PARENT_SCOPE)
endfunction()

lay_sound_tree()
run_check()
if(NOT status EQUAL 0)
    message(FATAL_ERROR "a sound tree was refused: ${said}")
endif()

# must_find(FAULT FILE TEXT): with TEXT in FILE, the check fails and says FAULT of FILE.
function(must_find fault file text)
    lay_sound_tree()
    file(WRITE "${FOLDER}/${file}" "${text}")
    run_check()
    string(FIND "${said}" "${file}: ${fault}" found)
    if(status EQUAL 0 OR found EQUAL -1)
        message(SEND_ERROR "expected of ${file}: ${fault}\nstatus ${status}, said:${said}")
    endif()
endfunction()

# Arrows, direct ones and through a relative path; a room that is seen by way of another is legal, as in the sound tree.
must_find("includes evenkeel/solve/balance.hpp, but core may not see solve"
    include/evenkeel/core/plan.hpp "${spdx}#include <evenkeel/solve/balance.hpp>\n")
must_find("includes evenkeel/solve/balance.hpp, but core may not see solve"
    include/evenkeel/core/plan.hpp "${spdx}#include \"../solve/balance.hpp\"\n")
must_find("includes evenkeel/solve/balance.hpp, but core may not see solve"
    include/evenkeel/core/plan.hpp "${spdx}#include \"evenkeel/solve/balance.hpp\"\n")
must_find("includes evenkeel/rearrange.hpp, but solve may not see rearrange"
    include/evenkeel/solve/balance.hpp "${spdx}  #  include  <evenkeel/rearrange.hpp>  // umbrella; of another\n")
must_find("includes evenkeel/cost/linear.hpp, but rearrange may not see cost"
    include/evenkeel/rearrange/detail/sort.hpp "${spdx}#include <evenkeel/cost/linear.hpp>\n")
must_find("includes evenkeel/view/batches.hpp, but comm may not see view"
    comm/src/threads/communicator.cpp "${spdx}#include <evenkeel/view/batches.hpp>\n")
must_find("stands in no room" include/evenkeel/attic/box.hpp "${spdx}")
must_find("stands in no room" include/evenkeel/comm/communicator.hpp "${spdx}")
must_find("stands in no room" comm/include/evenkeel/solve/balance.hpp "${spdx}")

# What is a room's own.
must_find("includes evenkeel/core/detail/flat.hpp, which is core's own"
    include/evenkeel/cost/linear.hpp "${spdx}#include <evenkeel/core/detail/flat.hpp>\n")
must_find("includes evenkeel/core/detail/flat.hpp, which is core's own"
    include/evenkeel/cost/detail/exact.hpp "${spdx}#include \"../../core/detail/flat.hpp\"\n")
must_find("includes evenkeel/solve/detail/sort.hpp, which is solve's own"
    comm/src/dispatcher.cpp "${spdx}#include <evenkeel/solve/detail/sort.hpp>\n")
must_find("includes evenkeel/solve/detail/sort.hpp, which is solve's own"
    tests/core/ids_test.cpp "${spdx}#include <evenkeel/solve/detail/sort.hpp>\n")
must_find("includes evenkeel/solve/detail/sort.hpp, which is solve's own"
    examples/01_balance.cpp "${spdx}#include <evenkeel/solve/detail/sort.hpp>\n")

# What headers must not know.
must_find("includes evenkeel/comm/communicator.hpp, but solve may not see comm"
    include/evenkeel/solve/balance.hpp "${spdx}#include <evenkeel/comm/communicator.hpp>\n")
foreach(header mpi.h cuda.h cuda_runtime.h nccl.h thrust/sort.h cub/cub.cuh)
    must_find("includes ${header}: public headers know no MPI, CUDA or NCCL"
        include/evenkeel/solve/balance.hpp "${spdx}#include <${header}>\n")
endforeach()
must_find("includes cuda_runtime_api.h: public headers know no MPI, CUDA or NCCL"
    comm/include/evenkeel/comm/mpi.hpp "${spdx}#include <cuda_runtime_api.h>\n")
must_find("includes mpi.h: public headers know no MPI, CUDA or NCCL"
    comm/include/evenkeel/comm/nccl.hpp "${spdx}#include <mpi.h>\n")
must_find("includes range/v3/range/concepts.hpp: only view knows range-v3"
    include/evenkeel/solve/balance.hpp "${spdx}#include <range/v3/range/concepts.hpp>\n")
must_find("uses std::views::" include/evenkeel/view/batches.hpp "${spdx}auto x = y | std::views::all;\n")
must_find("uses std::ranges::views::" include/evenkeel/core/ids.hpp "${spdx}auto x = y | std::ranges::views::all;\n")

# Form.
must_find("line 1 is not the SPDX line" include/evenkeel/core/ids.hpp "#pragma once\n${spdx}")
must_find("line 1 is not the SPDX line" comm/src/pack.cpp "#include <vector>\n")
must_find("line 1 is not the SPDX line" tests/core/ids_test.cpp "\n")
string(REPEAT "\n" 249 lines)
must_find("has 251 lines, more than 250" include/evenkeel/core/ids.hpp "${spdx}${lines}\n")
must_find("is an umbrella and does more than include its room"
    include/evenkeel/core.hpp "${spdx}#include <evenkeel/core/ids.hpp>\nusing count = int;\n")
must_find("is an umbrella and does more than include its room"
    include/evenkeel/core.hpp "${spdx}#include <evenkeel/core/ids.hpp>\n#include <vector>\n")
must_find("does not include ids.hpp of its room" include/evenkeel/core.hpp "${spdx}#pragma once\n")

# The most that a header may have.
lay_sound_tree()
file(WRITE "${FOLDER}/include/evenkeel/core/ids.hpp" "${spdx}${lines}")
run_check()
if(NOT status EQUAL 0)
    message(SEND_ERROR "a header of 250 lines was refused: ${said}")
endif()

# A wrong folder is no green tree.
file(REMOVE_RECURSE "${FOLDER}")
run_check()
if(status EQUAL 0)
    message(SEND_ERROR "a folder without headers passed")
endif()
