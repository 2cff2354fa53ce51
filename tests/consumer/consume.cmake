# SPDX-License-Identifier: Apache-2.0
# Builds the consumer in one of the ways of embedding, and runs it.
#
#   add_subdirectory  with the sources of evenkeel
#   find_package      with PACKAGE
#   make              with PACKAGE, and no CMake
#
# cmake -D WAY=way -D SOURCE=evenkeel -D FOLDER=scratch [-D PACKAGE=prefix] [-D MPIRUN=mpirun] [-D MPICXX=mpicxx]
#       [-D MAKE=make] [-D CXX=c++] [-D "FLAGS=..."] [-D GENERATOR=Ninja] -P consume.cmake
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE "${FOLDER}")
# Apart from evenkeel's tree, so that nothing but what is asked for leads there.
file(COPY "${SOURCE}/tests/consumer/" DESTINATION "${FOLDER}/trainer")

set(programs plans moves views)
if(MPIRUN)
    list(APPEND programs processes)
endif()

if(WAY STREQUAL "make")
    file(GLOB_RECURSE library "${PACKAGE}/libevenkeel_comm.*")
    list(GET library 0 library)
    cmake_path(GET library PARENT_PATH libraries)
    list(JOIN programs " " names)
    execute_process(
        COMMAND "${MAKE}" -j 2 -C "${FOLDER}/trainer" "EVENKEEL=${PACKAGE}" "LIBRARIES=${libraries}" "PROGRAMS=${names}"
            "CXX=${CXX}" "MPICXX=${MPICXX}" "CXXFLAGS=${FLAGS}"
        COMMAND_ERROR_IS_FATAL ANY)
    set(built "${FOLDER}/trainer")
else()
    set(options -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_CXX_FLAGS=${FLAGS}")
    if(WAY STREQUAL "add_subdirectory")
        list(APPEND options "-DEVENKEEL_SOURCE=${SOURCE}")
    else()
        list(APPEND options "-DCMAKE_PREFIX_PATH=${PACKAGE}")
    endif()
    if(MPIRUN)
        list(APPEND options -DCONSUMER_MPI=ON)
    endif()
    set(built "${FOLDER}/build")
    execute_process(COMMAND "${CMAKE_COMMAND}" -S "${FOLDER}/trainer" -B "${built}" ${options}
        COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND "${CMAKE_COMMAND}" --build "${built}" COMMAND_ERROR_IS_FATAL ANY)
endif()

foreach(program IN LISTS programs)
    set(command "${built}/${program}")
    if(program STREQUAL "processes")
        list(PREPEND command "${MPIRUN}" -n 2)
    endif()
    execute_process(COMMAND ${command} OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
    string(STRIP "${printed}" lines)
    string(REPLACE "\n" ";" lines "${lines}")
    # Processes print when they come to it.
    list(SORT lines)
    if(NOT lines STREQUAL "rank 0: samples 0 3;rank 1: samples 1 2")
        message(FATAL_ERROR "${program} printed\n${printed}")
    endif()
endforeach()
