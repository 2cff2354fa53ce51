# SPDX-License-Identifier: Apache-2.0
# Builds plan_hashes.cpp with one compiler and runs it. What it prints is left in FOLDER/hashes.txt, and is what REFERENCE
# holds, where another build left it.
#
# cmake -D COMPILER=c++ -D "FLAGS=-std=c++20 ..." -D FOLDER=scratch [-D REFERENCE=hashes.txt] -P plans.cmake
cmake_minimum_required(VERSION 3.25)

separate_arguments(FLAGS UNIX_COMMAND "${FLAGS}")
file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}")

execute_process(
    COMMAND "${COMPILER}" ${FLAGS} "${CMAKE_CURRENT_LIST_DIR}/plan_hashes.cpp" -o "${FOLDER}/plan_hashes"
    COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${FOLDER}/plan_hashes" OUTPUT_FILE "${FOLDER}/hashes.txt" COMMAND_ERROR_IS_FATAL ANY)

file(STRINGS "${FOLDER}/hashes.txt" hashes)
if(NOT hashes)
    message(FATAL_ERROR "no hashes were printed")
endif()
if(REFERENCE)
    file(STRINGS "${REFERENCE}" expected)
    foreach(hash IN LISTS hashes)
        if(NOT hash IN_LIST expected)
            message(SEND_ERROR "${hash}: ${REFERENCE} has another hash")
        endif()
    endforeach()
    if(NOT hashes STREQUAL expected)
        message(FATAL_ERROR "${FOLDER}/hashes.txt and ${REFERENCE} differ")
    endif()
endif()
