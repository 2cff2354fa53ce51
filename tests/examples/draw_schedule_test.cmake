# SPDX-License-Identifier: Apache-2.0
# The drawing of a schedule as its users meet it: a process, its exit status, and the files that it leaves.
#
# cmake -D PROGRAM=draw_schedule -D FOLDER=scratch -P draw_schedule_test.cmake
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}")

# must_end(END ARGUMENTS...): the step takes that long. Sets `json`.
function(must_end end)
    execute_process(COMMAND "${PROGRAM}" ${ARGN} --json r.json WORKING_DIRECTORY "${FOLDER}"
        RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err)
    if(NOT status EQUAL 0 OR NOT err STREQUAL "" OR out STREQUAL "")
        message(FATAL_ERROR "${ARGN}: status ${status}\n${out}${err}")
    endif()
    file(READ "${FOLDER}/r.json" json)
    string(JSON found GET "${json}" end)
    if(NOT found EQUAL end)
        message(SEND_ERROR "${ARGN}: ends at ${found}, expected ${end}")
    endif()
    set(json "${json}" PARENT_SCOPE)
endfunction()

must_end(88 --schedule gpipe_sync --stages 4 --micro-batches 8 --group 2 --forward 2 --backward 4 --sync 1)
must_end(66 --schedule one_f_one_b --stages 4 --micro-batches 8 --forward 2 --backward 4 --sync 1)
must_end(45 --stages 2,4 --micro-batches 6,12 --group 2,4 --forward 2,1 --backward 4,2 --sync 0 --plot joint.svg)
must_end(61 --schedule distmm_pipe --stages 4 --micro-batches 16 --group 4 --forward 1 --backward 2 --sync 1
    --plot r.svg --trace r.trace.json --csv r.csv)
string(JSON last_row GET "${json}" rows 3)
string(JSON length LENGTH "${last_row}")
string(JSON sync GET "${last_row}" 4)
string(REGEX REPLACE "[ \n]" "" sync "${sync}")
if(NOT length EQUAL 36 OR NOT sync MATCHES "\\[\"S1\",7(\\.0)?,8(\\.0)?\\]")
    message(SEND_ERROR "the last stage does ${length} things, the fifth of them ${sync}")
endif()
file(STRINGS "${FOLDER}/r.csv" rows)
list(LENGTH rows count)
list(GET rows 3 last)
if(NOT count EQUAL 4 OR NOT last MATCHES "^3F0,3F1,3F2,3F3,3S0,3B0,3F4,")
    message(SEND_ERROR "the CSV has ${count} rows, the last one ${last}")
endif()
file(READ "${FOLDER}/r.trace.json" trace)
string(JSON events LENGTH "${trace}" traceEvents)
file(READ "${FOLDER}/r.svg" picture)
if(NOT events GREATER 132 OR NOT picture MATCHES "^<svg .*</svg>\n$")
    message(SEND_ERROR "the trace has ${events} events; the picture: ${picture}")
endif()

execute_process(COMMAND "${PROGRAM}" --group 5 --json bad.json WORKING_DIRECTORY "${FOLDER}"
    RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err)
if(NOT status EQUAL 2 OR NOT out STREQUAL ""
        OR NOT err STREQUAL "draw_schedule: --group: expected a divisor of the 16 micro-batches, got 5\n"
        OR EXISTS "${FOLDER}/bad.json")
    message(SEND_ERROR "a group of 5: status ${status}\n${out}${err}")
endif()
