# SPDX-License-Identifier: Apache-2.0
# Installs evenkeel and moves the installation, to FOLDER/package: a package is found wherever it was unpacked, and says
# nothing of the machine that built it.
#
#   from a build       with BUILD: what that has compiled
#   from a copy        else: of the sources, built as shared libraries; copy and build are gone afterwards, so that no
#                      consumer can reach a header that was not installed
#
# cmake -D SOURCE=evenkeel -D FOLDER=scratch [-D BUILD=its-build | -D CXX=c++ -D GENERATOR=Ninja -D EVENKEEL_MPI=ON]
#       -P package.cmake
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE "${FOLDER}")
set(PACKAGE "${FOLDER}/package")
set(gone "")
if(NOT BUILD)
    file(COPY "${SOURCE}/CMakeLists.txt" "${SOURCE}/cmake" "${SOURCE}/include" "${SOURCE}/comm"
        DESTINATION "${FOLDER}/copy")
    set(SOURCE "${FOLDER}/copy")
    set(BUILD "${FOLDER}/build")
    set(gone "${SOURCE}" "${BUILD}")
    execute_process(
        COMMAND "${CMAKE_COMMAND}" -S "${SOURCE}" -B "${BUILD}" -G "${GENERATOR}"
            "-DCMAKE_CXX_COMPILER=${CXX}" -DBUILD_SHARED_LIBS=ON "-DEVENKEEL_MPI=${EVENKEEL_MPI}"
            -DEVENKEEL_TESTS=OFF -DEVENKEEL_BENCH=OFF -DEVENKEEL_EXAMPLES=OFF
        COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND "${CMAKE_COMMAND}" --build "${BUILD}" COMMAND_ERROR_IS_FATAL ANY)
endif()

execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${FOLDER}/first"
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(RENAME "${FOLDER}/first" "${PACKAGE}")
if(gone)
    file(REMOVE_RECURSE ${gone})
endif()

file(GLOB_RECURSE installed "${PACKAGE}/*.cmake" "${PACKAGE}/*.hpp")
if(NOT installed)
    message(FATAL_ERROR "nothing was installed")
endif()
foreach(file IN LISTS installed)
    # As a path of its own: sources in /evenkeel are not named by include/evenkeel.
    file(STRINGS "${file}" named REGEX "(^|[^A-Za-z0-9_.}/-])(${SOURCE}|${BUILD}|${FOLDER}/first)")
    if(named)
        message(FATAL_ERROR "${file} names a folder of the machine that built it: ${named}")
    endif()
endforeach()
