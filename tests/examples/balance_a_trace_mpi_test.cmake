# SPDX-License-Identifier: Apache-2.0
# The main job on processes of mpirun: the same figures as on threads, and one process that speaks for all.
#
# cmake -D MPIRUN=tests/mpirun.sh -D PROGRAM=balance_a_trace -D FOLDER=scratch -P balance_a_trace_mpi_test.cmake
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}")

function(run)
    execute_process(COMMAND ${ARGV} WORKING_DIRECTORY "${FOLDER}"
        RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err)
    set(status "${status}" PARENT_SCOPE)
    set(out "${out}" PARENT_SCOPE)
    set(err "${err}" PARENT_SCOPE)
endfunction()

# figures_of(FILE): all but the time, which no two runs share.
function(figures_of file)
    file(READ "${FOLDER}/${file}" json)
    string(REGEX REPLACE "\"plan_ms\": [^,\n]*" "\"plan_ms\": 0" json "${json}")
    set(figures "${json}" PARENT_SCOPE)
endfunction()

# must_agree(RANKS PROCESSES...)
function(must_agree ranks)
    set(job "${PROGRAM}" --ranks ${ranks} --samples-per-rank 40 --steps 2)
    run(${job} --json threads.json)
    figures_of(threads.json)
    set(expected "${figures}")
    string(JSON wrong GET "${expected}" exchange wrong)
    string(JSON bytes GET "${expected}" exchange bytes)
    if(NOT wrong EQUAL 0 OR NOT bytes GREATER 0)
        message(SEND_ERROR "threads: ${expected}")
    endif()
    foreach(processes IN LISTS ARGN)
        run("${MPIRUN}" -n ${processes} ${job} --backend mpi --json mpi.json)
        if(NOT status EQUAL 0)
            message(SEND_ERROR "${processes} processes: status ${status}\n${out}${err}")
            continue()
        endif()
        string(REGEX MATCHALL "backend mpi," tables "${out}")
        if(NOT tables STREQUAL "backend mpi,")
            message(SEND_ERROR "${processes} processes: expected one table\n${out}")
        endif()
        figures_of(mpi.json)
        if(NOT figures STREQUAL expected)
            message(SEND_ERROR "${ranks} ranks on ${processes} processes: ${figures}expected ${expected}")
        endif()
        file(REMOVE "${FOLDER}/mpi.json")
    endforeach()
endfunction()

must_agree(64 1 2 4 8)
must_agree(24 3)

# With a dispatcher, one process says what each rank waited, on one process per rank and on two for all.
set(waits " +[0-9]+\\.[0-9]+ +[0-9]+\\.[0-9]+ +[0-9]+\\.[0-9]+ +[0-9]+\\.[0-9]+")
foreach(processes 4 2)
    foreach(overlap on off)
        run("${MPIRUN}" -n ${processes} "${PROGRAM}" --backend mpi --ranks 4 --samples-per-rank 10 --steps 5
            --overlap ${overlap})
        string(REGEX MATCHALL "Overlap (on|off):" reports "${out}")
        list(LENGTH reports count)
        if(NOT status EQUAL 0 OR NOT count EQUAL 1
           OR NOT out MATCHES "Overlap ${overlap}:[^\n]*\nranks from +0${waits}\nEvery byte verified.\n$")
            message(SEND_ERROR "overlap ${overlap} on ${processes} processes: status ${status}\n${out}${err}")
        endif()
    endforeach()
endforeach()

# must_refuse(LINE ARGUMENTS...): one process says so, all end with status 2, and there is no output.
function(must_refuse line)
    run("${MPIRUN}" -n 4 "${PROGRAM}" ${ARGN})
    string(REGEX MATCHALL "balance_a_trace: [^\n]*" lines "${err}")
    file(GLOB left "${FOLDER}/r.*")
    if(NOT status EQUAL 2 OR NOT out STREQUAL "" OR NOT lines STREQUAL "balance_a_trace: ${line}" OR left)
        message(SEND_ERROR "${ARGN}: expected status 2 and one line, got status ${status} and ${left}\n${out}${err}")
    endif()
endfunction()

must_refuse("--ranks: expected a multiple of the 4 processes, got 6" --backend mpi --ranks 6 --json r.json)
must_refuse("--ranks: expected a whole number from 1 to 16384, got 0" --backend mpi --ranks 0 --json r.json)
must_refuse("--steps: expected a value, got none" --backend=mpi --steps)
must_refuse("missing.csv: No such file or directory, expected a readable file of lengths"
    --backend mpi --lengths missing.csv --plot r.svg)

# Only two of the processes lack the file: none of them hangs.
set(half -n 2 "${PROGRAM}" --backend mpi --ranks 4)
run("${MPIRUN}" ${half} : ${half} --lengths missing.csv)
if(NOT status EQUAL 2 OR NOT out STREQUAL "" OR NOT err MATCHES "balance_a_trace: missing.csv: No such file")
    message(SEND_ERROR "expected the process without a file to speak, got status ${status}\n${out}${err}")
endif()

run("${MPIRUN}" -n 4 "${PROGRAM}" --backend mpi --help)
string(REGEX MATCHALL "Usage:" texts "${out}")
if(NOT status EQUAL 0 OR NOT texts STREQUAL "Usage:")
    message(SEND_ERROR "--help: expected it once, got status ${status}\n${out}${err}")
endif()
