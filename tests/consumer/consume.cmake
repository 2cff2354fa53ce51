# SPDX-License-Identifier: Apache-2.0
# Builds and runs the consumer in both ways of embedding.
#
# cmake -D WAY=add_subdirectory|find_package -D SOURCE=evenkeel -D BUILD=its-build -D FOLDER=scratch [-D OPTIONS=list]
#       -P consume.cmake
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE "${FOLDER}")

if(WAY STREQUAL "add_subdirectory")
    # Nobody else builds comm as a shared library, so this does.
    list(APPEND OPTIONS "-DEVENKEEL_SOURCE=${SOURCE}" -DBUILD_SHARED_LIBS=ON)
else()
    # Moved after the installation: a package is found wherever it was unpacked.
    execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${FOLDER}/first"
        OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
    file(RENAME "${FOLDER}/first" "${FOLDER}/package")
    file(GLOB_RECURSE installed "${FOLDER}/package/*.cmake")
    foreach(file IN LISTS installed)
        file(STRINGS "${file}" named REGEX "${SOURCE}|${BUILD}|${FOLDER}/first")
        if(named)
            message(FATAL_ERROR "${file} names a folder of the machine that built it: ${named}")
        endif()
    endforeach()
    list(APPEND OPTIONS "-DCMAKE_PREFIX_PATH=${FOLDER}/package")
endif()

execute_process(COMMAND "${CMAKE_COMMAND}" -S "${SOURCE}/tests/consumer" -B "${FOLDER}/build" ${OPTIONS}
    COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${FOLDER}/build" COMMAND_ERROR_IS_FATAL ANY)
foreach(program plans moves)
    execute_process(COMMAND "${FOLDER}/build/${program}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
