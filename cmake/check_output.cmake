# SPDX-License-Identifier: Apache-2.0
# Runs an example and compares its output with what the example's own comment promises, so that the comment stays true:
#
#     // Prints:
#     //     rank 0: samples 0 and 1
#     //     rank 1: samples 2 and 3
#
# cmake -D PROGRAM=program -D SOURCE=example.cpp -P check_output.cmake
cmake_minimum_required(VERSION 3.25)

file(READ "${SOURCE}" text)
if(NOT text MATCHES "\n// Prints:\n((//     [^\n]*\n|//\n)+)")
    message(FATAL_ERROR "${SOURCE} does not say what it prints: no comment \"// Prints:\"")
endif()
string(REGEX REPLACE "(^|\n)//(    )? ?" "\\1" promised "${CMAKE_MATCH_1}")
string(STRIP "${promised}" promised)

execute_process(COMMAND "${PROGRAM}" OUTPUT_VARIABLE printed RESULT_VARIABLE status)
string(STRIP "${printed}" printed)

if(NOT status EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} ended with status ${status}; it printed\n${printed}")
endif()
if(NOT printed STREQUAL promised)
    message(FATAL_ERROR "printed\n${printed}\npromised in ${SOURCE}\n${promised}")
endif()
