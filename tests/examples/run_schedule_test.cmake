# SPDX-License-Identifier: Apache-2.0
# The running of a schedule as its users meet it: that it runs and what it leaves, not how fast.
#
# cmake -D PROGRAM=run_schedule -D FOLDER=scratch -P run_schedule_test.cmake
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}")

# must_run(ARGUMENTS...): sets `out`, and `json` where that is among them.
function(must_run)
    execute_process(COMMAND "${PROGRAM}" ${ARGN} --unit-ms 1 --json r.json WORKING_DIRECTORY "${FOLDER}"
        RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err)
    if(NOT status EQUAL 0 OR NOT err STREQUAL "")
        message(FATAL_ERROR "${ARGN}: status ${status}\n${out}${err}")
    endif()
    file(READ "${FOLDER}/r.json" json)
    set(out "${out}" PARENT_SCOPE)
    set(json "${json}" PARENT_SCOPE)
endfunction()

must_run(--stages 2,1 --micro-batches 4 --group 2)
if(NOT out MATCHES "\nsimulated  17 units of 1 ms\nmeasured   [0-9.]+ \\([-+][0-9.]+ %\\)\n")
    message(SEND_ERROR "two pipelines: ${out}")
endif()

must_run(--stages 2 --micro-batches 4 --group 2 --trace r.trace.json --csv r.csv)
file(READ "${FOLDER}/r.trace.json" trace)
string(JSON events LENGTH "${trace}" traceEvents)
string(JSON measured GET "${json}" measured)
set(ends 0)
math(EXPR last "${events} - 1")
foreach(event RANGE ${last})
    string(JSON name GET "${trace}" traceEvents ${event} name)
    if(name STREQUAL "B4")
        # The step takes a unit of a millisecond or more: the trace is in real time.
        string(JSON start GET "${trace}" traceEvents ${event} ts)
        if(NOT start GREATER 10000)
            message(SEND_ERROR "B4 starts at ${start} microseconds, the step took ${measured} units")
        endif()
        math(EXPR ends "${ends} + 1")
    endif()
endforeach()
file(READ "${FOLDER}/r.csv" rows)
if(NOT ends EQUAL 2 OR NOT rows STREQUAL "0F0,0F1,0F2,0B0,0F3,0B1,0B2,0B3\n1F0,1F1,1S0,1B0,1F2,1B1,1F3,1S1,1B2,1B3\n")
    message(SEND_ERROR "${ends} times B4; the schedule: ${rows}")
endif()

# Nothing to do: nothing to deviate from.
must_run(--stages 2 --micro-batches 0)
string(JSON type TYPE "${json}" deviation)
if(NOT out MATCHES "\nsimulated  0 units of 1 ms\nmeasured   [0-9.]+\n" OR NOT type STREQUAL "NULL")
    message(SEND_ERROR "no micro-batches: ${type}\n${out}")
endif()

foreach(option --latency --chunks --weight-gradient)
    execute_process(COMMAND "${PROGRAM}" ${option} 1 RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err)
    if(NOT status EQUAL 2 OR NOT out STREQUAL ""
            OR NOT err STREQUAL "run_schedule: '${option}': unknown option, --help lists all options\n")
        message(SEND_ERROR "${option}: status ${status}\n${out}${err}")
    endif()
endforeach()
execute_process(COMMAND "${PROGRAM}" --schedule interleaved
    RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err)
if(NOT status EQUAL 2 OR NOT err STREQUAL "run_schedule: --schedule: expected one that is executed: gpipe, gpipe_sync, \
one_f_one_b, distmm_pipe, got interleaved\n")
    message(SEND_ERROR "interleaved: status ${status}\n${out}${err}")
endif()
