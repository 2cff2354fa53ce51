# SPDX-License-Identifier: Apache-2.0
# The main job as its users meet it: a process, its exit status, what it prints and the files that it leaves.
#
# cmake -D PROGRAM=balance_a_trace -D FOLDER=scratch [-D TRACES=ON] -P balance_a_trace_test.cmake
#
# With TRACES: what it promises on the mixture of real traces instead, from the folder that EVENKEEL_TRACES names.
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}")

function(run)
    execute_process(COMMAND "${PROGRAM}" ${ARGV} WORKING_DIRECTORY "${FOLDER}"
        RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err)
    set(status "${status}" PARENT_SCOPE)
    set(out "${out}" PARENT_SCOPE)
    set(err "${err}" PARENT_SCOPE)
endfunction()

# must_run(ARGUMENTS...): the job succeeds, and no byte of it is wrong. Sets `json` and `out`.
function(must_run)
    run(${ARGV} --json r.json)
    if(NOT status EQUAL 0 OR NOT err STREQUAL "")
        message(FATAL_ERROR "${ARGV}: status ${status}\n${out}${err}")
    endif()
    file(READ "${FOLDER}/r.json" json)
    string(JSON wrong GET "${json}" exchange wrong)
    string(JSON bytes GET "${json}" exchange bytes)
    if(NOT wrong EQUAL 0 OR NOT bytes GREATER 0)
        message(SEND_ERROR "${ARGV}: ${bytes} bytes moved, ${wrong} of them wrong")
    endif()
    set(json "${json}" PARENT_SCOPE)
    set(out "${out}" PARENT_SCOPE)
endfunction()

if(TRACES)
    if(NOT DEFINED ENV{EVENKEEL_TRACES})
        message("[  SKIPPED ] EVENKEEL_TRACES names no folder with real traces")
        return()
    endif()
    must_run(--lengths "$ENV{EVENKEEL_TRACES}/mix_omni.csv" --ranks 64 --ranks-per-node 8 --samples-per-rank 40)

    # Video has four items per rank, so its plan may be a little further from the bound.
    set(gap_of_image 1e-3)
    set(gap_of_audio 1e-3)
    set(gap_of_video 5e-3)
    set(gap_of_llm 1e-3)
    string(JSON last LENGTH "${json}" phases)
    if(NOT last EQUAL 4)
        message(SEND_ERROR "expected four phases: ${json}")
    endif()
    math(EXPR last "${last} - 1")
    foreach(phase RANGE ${last})
        string(JSON name GET "${json}" phases ${phase} name)
        string(JSON gap GET "${json}" phases ${phase} gap)
        string(JSON before GET "${json}" phases ${phase} imbalance_before)
        if(NOT gap LESS_EQUAL gap_of_${name} OR NOT before GREATER 1.85)
            message(SEND_ERROR
                "${name}: imbalance ${before} before, gap ${gap} after, expected at most ${gap_of_${name}}")
        endif()
    endforeach()
    return()
endif()

must_run(--ranks 16 --ranks-per-node 4 --samples-per-rank 8 --plot loads.svg)
if(NOT EXISTS "${FOLDER}/loads.svg" OR NOT out MATCHES "llm")
    message(SEND_ERROR "no picture or no table:\n${out}")
endif()

# A file with what a spreadsheet or a person may leave in it; rows repeat from the start.
file(WRITE "${FOLDER}/good.csv" "# lengths\ntext,image\n12,256+256+88\n7,0\n0,64\n")
must_run(--lengths good.csv --ranks 4 --ranks-per-node 2 --samples-per-rank 2 --steps 2)

# must_refuse(ARGUMENTS...): one line on stderr, nothing on stdout, status 2, and no output file.
function(must_refuse)
    file(REMOVE "${FOLDER}/r.json" "${FOLDER}/r.svg")
    run(${ARGV} --json r.json --plot r.svg)
    if(NOT status EQUAL 2 OR NOT out STREQUAL "" OR NOT err MATCHES "^[^\n]+\n$")
        message(SEND_ERROR "${ARGV}: expected one line on stderr and status 2, got status ${status}\n${out}${err}")
    endif()
    file(GLOB left "${FOLDER}/r.*")
    if(left)
        message(SEND_ERROR "${ARGV}: left ${left}")
    endif()
    set(err "${err}" PARENT_SCOPE)
endfunction()

# must_refuse_file(NAME TEXT): the line also says where in the file.
function(must_refuse_file name text)
    file(WRITE "${FOLDER}/${name}.csv" "${text}")
    must_refuse(--lengths ${name}.csv)
    if(NOT err MATCHES "${name}\\.csv")
        message(SEND_ERROR "${name}: does not name the file: ${err}")
    endif()
endfunction()

must_refuse_file(empty "")
must_refuse_file(no_rows "text,image\n")
must_refuse_file(same_column_twice "text,text\n1,2\n")
must_refuse_file(too_few_cells "text,image\n1\n")
must_refuse_file(too_many_cells "text,image\n1,2,3\n")
must_refuse_file(empty_cell "text,image\n1,\n")
must_refuse_file(negative_cell "text\n-1\n")
must_refuse_file(fractional_cell "text\n1.5\n")
must_refuse_file(word_in_a_cell "text\nlong\n")
must_refuse_file(overflowing_cell "text\n18446744073709551616\n")
must_refuse_file(open_sum "text\n4+\n")
must_refuse_file(column_without_name "text,\n1,2\n")
must_refuse_file(stray_quote "text\n\"1\n")
must_refuse(--lengths missing.csv)
must_refuse(--lengths "${PROGRAM}")
must_refuse(--lengths .)
must_refuse(--ranks 0)
must_refuse(--ranks -8)
must_refuse(--ranks many)
must_refuse(--ranks 64 --ranks-per-node 7)
must_refuse(--samples-per-rank 4.5)
must_refuse(--steps)
must_refuse(--backend pigeons)
must_refuse(--quickly)
must_refuse(leftover)

# Outputs that cannot be written: the one that could be is not left behind.
foreach(arguments "--json;missing/r.json;--plot;r.svg" "--plot;missing/r.svg;--json;r.json")
    file(REMOVE "${FOLDER}/r.json" "${FOLDER}/r.svg")
    run(${arguments} --ranks 4 --ranks-per-node 2 --samples-per-rank 2)
    file(GLOB left "${FOLDER}/r.*")
    if(NOT status EQUAL 2 OR NOT err MATCHES "^[^\n]+\n$" OR left)
        message(SEND_ERROR
            "${arguments}: expected one line on stderr and status 2, got status ${status}\n${out}${err}${left}")
    endif()
endforeach()
