# SPDX-License-Identifier: Apache-2.0
# The planner as its users meet it: a process, its exit status, and the files that it leaves.
#
# cmake -D PROGRAM=plan_cluster -D FOLDER=scratch -P plan_cluster_test.cmake
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}")

# must_plan(ARGUMENTS...): sets `json` to the plan and `out` to what was printed.
function(must_plan)
    execute_process(COMMAND "${PROGRAM}" ${ARGN} --json plan.json --plot plan.svg WORKING_DIRECTORY "${FOLDER}"
        RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err)
    if(NOT status EQUAL 0 OR NOT err STREQUAL "" OR out STREQUAL "")
        message(FATAL_ERROR "${ARGN}: status ${status}\n${out}${err}")
    endif()
    file(READ "${FOLDER}/plan.svg" picture)
    if(NOT picture MATCHES "^<svg .*</svg>\n$")
        message(SEND_ERROR "${ARGN}: the picture is ${picture}")
    endif()
    file(READ "${FOLDER}/plan.json" json)
    set(json "${json}" PARENT_SCOPE)
    set(out "${out}" PARENT_SCOPE)
endfunction()

# must_be(EXPECTED PATH...): what the plan says there, without blanks.
function(must_be expected)
    string(JSON found GET "${json}" ${ARGN})
    string(REGEX REPLACE "[ \n]" "" found "${found}")
    if(NOT found STREQUAL expected)
        message(SEND_ERROR "${ARGN}: ${found}, expected ${expected}")
    endif()
endfunction()

# The figures of the paper, as presets, written out, and edited.
must_plan(--preset figure2 --write-input figure2.json)
must_be("[18,18,18,18]" modalities 0 replica_batches)
must_be("[24,24,24]" modalities 1 replica_batches)
must_be(64 devices_used)
set(first "${json}")
must_plan(figure2.json)
if(NOT json STREQUAL first)
    message(SEND_ERROR "figure2 plans otherwise once it is written and read:\n${json}")
endif()
file(READ "${FOLDER}/figure2.json" input)
string(JSON input SET "${input}" global_batch 144)
file(WRITE "${FOLDER}/twice.json" "${input}")
must_plan(twice.json)
must_be("[36,36,36,36]" modalities 0 replica_batches)

must_plan(--preset figure4)
must_be("[12]" modalities 0 replica_batches)
must_be("[4,4,4]" modalities 1 replica_batches)
string(JSON makespan GET "${json}" makespan)
if(NOT makespan MATCHES "^3\\.55555555")
    message(SEND_ERROR "figure4 takes ${makespan}")
endif()

# Every other preset loads and gives a plan, with the paper's figure beside its own.
foreach(preset clip_1.1b coca_1.52b lit_1.1b clip_9.3b coca_13.4b lit_9.4b clip_19.7b coca_26b lit_19.7b)
    must_plan(--preset ${preset})
    if(NOT out MATCHES "Speed-up over colocated [0-9.]+x, measured in the paper [0-9.]+x\\.\n")
        message(SEND_ERROR "${preset}: no speed-up in\n${out}")
    endif()
endforeach()

# must_refuse(MESSAGE ARGUMENTS...): one line, status 2, no file.
function(must_refuse message)
    file(REMOVE "${FOLDER}/bad.out.json")
    execute_process(COMMAND "${PROGRAM}" ${ARGN} --json bad.out.json WORKING_DIRECTORY "${FOLDER}"
        RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err)
    if(NOT status EQUAL 2 OR NOT out STREQUAL "" OR NOT err STREQUAL "plan_cluster: ${message}\n"
            OR EXISTS "${FOLDER}/bad.out.json")
        message(SEND_ERROR "${ARGN}: status ${status}, expected '${message}'\n${out}${err}")
    endif()
endfunction()

must_refuse("'none.json' cannot be read: No such file or directory" none.json)
file(READ "${FOLDER}/figure2.json" input)
string(JSON bad SET "${input}" submodules 1 parameters 1e15)
file(WRITE "${FOLDER}/bad.json" "${bad}")
set(what "bytes of GPU memory for submodule 'image' at tp 4, pp 4")
must_refuse("bad.json: /submodules/1: ${what} cannot be met, 999982820130816 are missing" bad.json)
string(JSON bad SET "${input}" cluster nodes 2)
file(WRITE "${FOLDER}/bad.json" "${bad}")
set(what "GPUs for submodule 'image' besides the others")
must_refuse("bad.json: /submodules/1: ${what} cannot be met, 4 are missing" bad.json)
string(JSON bad SET "${input}" interaction batch 100)
file(WRITE "${FOLDER}/bad.json" "${bad}")
set(what "samples of the global batch for interaction.batch")
must_refuse("bad.json: /interaction/batch: ${what} cannot be met, 28 are missing" bad.json)
string(JSON bad SET "${input}" cluster gpus_per_node 5)
string(JSON bad SET "${bad}" submodules 0 tp "[3]")
string(JSON bad SET "${bad}" submodules 0 replicas "[1]")
string(JSON bad SET "${bad}" submodules 1 replicas "[2]")
file(WRITE "${FOLDER}/bad.json" "${bad}")
set(what "GPUs in a node for the tensor parallelism of submodule 'text' besides the others")
must_refuse("bad.json: /submodules/0: ${what} cannot be met, 2 are missing" bad.json)
string(REPLACE "1.5" "NaN" bad "${input}")
file(WRITE "${FOLDER}/bad.json" "${bad}")
must_refuse("bad.json:14:98: /submodules/1/seconds_per_sample: expected JSON, got 'N'" bad.json)
