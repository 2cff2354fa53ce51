# SPDX-License-Identifier: Apache-2.0
# A trainer's build, in every way of embedding.
set(consumer "${CMAKE_CURRENT_SOURCE_DIR}/consumer")

# evenkeel_package_test(NAME DEFINITIONS...): the installation that the consumers which name it use.
function(evenkeel_package_test name)
    add_test(NAME consumer.package_${name} COMMAND ${CMAKE_COMMAND}
        -D "SOURCE=${PROJECT_SOURCE_DIR}" -D "FOLDER=${CMAKE_CURRENT_BINARY_DIR}/package_${name}" ${ARGN}
        -P "${consumer}/package.cmake")
    set_tests_properties(consumer.package_${name} PROPERTIES FIXTURES_SETUP package_${name})
endfunction()

# evenkeel_consumer_test(NAME WAY PACKAGE DEFINITIONS...)
function(evenkeel_consumer_test name way package)
    add_test(NAME consumer.${name} COMMAND ${CMAKE_COMMAND}
        -D WAY=${way} -D "SOURCE=${PROJECT_SOURCE_DIR}" -D "FOLDER=${CMAKE_CURRENT_BINARY_DIR}/${name}"
        -D "PACKAGE=${CMAKE_CURRENT_BINARY_DIR}/package_${package}/package"
        -D "CXX=${CMAKE_CXX_COMPILER}" -D "GENERATOR=${CMAKE_GENERATOR}" ${ARGN} -P "${consumer}/consume.cmake")
    if(package)
        set_tests_properties(consumer.${name} PROPERTIES FIXTURES_REQUIRED package_${package})
    endif()
endfunction()

set(mpi "")
set(with_mpi OFF)
if(TARGET evenkeel::comm_mpi)
    set(mpi -D "MPIRUN=${CMAKE_CURRENT_SOURCE_DIR}/mpirun.sh" -D "MPICXX=${MPI_CXX_COMPILER}")
    set(with_mpi ON)
endif()
find_program(EVENKEEL_MAKE NAMES make gmake REQUIRED)
mark_as_advanced(EVENKEEL_MAKE)

# What this build has compiled is linked with this build's flags.
evenkeel_package_test(static "-DBUILD=${PROJECT_BINARY_DIR}")
evenkeel_package_test(shared -D EVENKEEL_MPI=${with_mpi} -D "CXX=${CMAKE_CXX_COMPILER}" -D "GENERATOR=${CMAKE_GENERATOR}")

evenkeel_consumer_test(add_subdirectory add_subdirectory "")
evenkeel_consumer_test(find_package_static find_package static "-DFLAGS=${CMAKE_CXX_FLAGS}")
evenkeel_consumer_test(find_package_shared find_package shared ${mpi})
evenkeel_consumer_test(make_static make static -D "MAKE=${EVENKEEL_MAKE}" "-DFLAGS=${CMAKE_CXX_FLAGS}")
evenkeel_consumer_test(make_shared make shared -D "MAKE=${EVENKEEL_MAKE}" ${mpi})

set_tests_properties(consumer.package_static consumer.package_shared consumer.add_subdirectory
    consumer.find_package_static consumer.find_package_shared consumer.make_static consumer.make_shared
    PROPERTIES LABELS consumer PROCESSORS 2 TIMEOUT 900)
