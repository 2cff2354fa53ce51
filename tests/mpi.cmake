# SPDX-License-Identifier: Apache-2.0
target_sources(evenkeel_comm_tests PRIVATE support/mpi_main.cpp)
target_compile_definitions(evenkeel_comm_tests PRIVATE EVENKEEL_TEST_MPI)
target_link_libraries(evenkeel_comm_tests PRIVATE evenkeel::comm_mpi)

set(mpirun "${CMAKE_CURRENT_SOURCE_DIR}/mpirun.sh")

# evenkeel_mpi_test(NAME PROCESSES COMMAND...): an entry that has the machine to itself, for processes that share two
# processors with others come late.
function(evenkeel_mpi_test name processes)
    add_test(NAME ${name} COMMAND ${ARGN})
    set_tests_properties(${name} PROPERTIES LABELS mpi PROCESSORS ${processes} TIMEOUT 120
        FAIL_REGULAR_EXPRESSION " 0 tests from 0 "
        # Open MPI leaks hundreds of blocks, from plugins that it has unloaded by then, so that no suppression can name
        # them. The other checks of the sanitizer stay.
        ENVIRONMENT_MODIFICATION "ASAN_OPTIONS=string_append::detect_leaks=0")
endfunction()

set(on_processes "--gtest_filter=*/mpi.*:make_mpi.*:run_mpi.*:mpi_pieces.*:mpi_peer.*:mpi_neighbours.*:mpi_without_memory.*")
foreach(processes 1 2 3 4 8)
    evenkeel_mpi_test(comm.mpi.on_${processes} ${processes}
        "${mpirun}" -n ${processes} $<TARGET_FILE:evenkeel_comm_tests> --mpi --gtest_brief=1 "${on_processes}")
endforeach()

# As if each process had a host of its own.
evenkeel_mpi_test(comm.mpi.of_strangers 4
    "${mpirun}" -n 4 $<TARGET_FILE:evenkeel_comm_tests> --mpi --strangers --gtest_brief=1 "${on_processes}")

# Programs that start MPI in another way, or not at all.
evenkeel_mpi_test(comm.mpi.not_running 1 evenkeel_comm_tests --gtest_filter=mpi_not_running.*)
evenkeel_mpi_test(comm.mpi.single 1
    "${mpirun}" -n 1 $<TARGET_FILE:evenkeel_comm_tests> --mpi=0 --gtest_filter=mpi_level.below_serialized_*)
evenkeel_mpi_test(comm.mpi.serialized 2
    "${mpirun}" -n 2 $<TARGET_FILE:evenkeel_comm_tests> --mpi=2 --gtest_filter=mpi_level.serialized_*)
evenkeel_mpi_test(comm.mpi.finalized 2
    "${mpirun}" -n 2 $<TARGET_FILE:evenkeel_comm_tests> --mpi --gtest_filter=mpi_finalized.*)

add_executable(evenkeel_kill comm/kill.cpp)
target_include_directories(evenkeel_kill PRIVATE "${PROJECT_SOURCE_DIR}")
target_link_libraries(evenkeel_kill PRIVATE evenkeel::comm_mpi evenkeel_warnings)
evenkeel_mpi_test(comm.mpi.kill 4 ${CMAKE_COMMAND}
    -D "MPIRUN=${mpirun}" -D PROGRAM=$<TARGET_FILE:evenkeel_kill> -D "FOLDER=${CMAKE_CURRENT_BINARY_DIR}/kill"
    -P "${CMAKE_CURRENT_SOURCE_DIR}/comm/kill_test.cmake")

if(TARGET evenkeel_perf)
    evenkeel_mpi_test(comm.mpi.cluster 4 "${CMAKE_CURRENT_SOURCE_DIR}/cluster/check.sh" $<TARGET_FILE:evenkeel_perf>)
    set_tests_properties(comm.mpi.cluster PROPERTIES SKIP_RETURN_CODE 77)
endif()

if(TARGET balance_a_trace)
    evenkeel_mpi_test(examples.mpi.balance_a_trace 8 ${CMAKE_COMMAND}
        -D "MPIRUN=${mpirun}" -D PROGRAM=$<TARGET_FILE:balance_a_trace> -D "FOLDER=${CMAKE_CURRENT_BINARY_DIR}/job"
        -P "${CMAKE_CURRENT_SOURCE_DIR}/examples/balance_a_trace_mpi_test.cmake")
    set_tests_properties(examples.mpi.balance_a_trace PROPERTIES LABELS "mpi;programs")
endif()

if(TARGET train_two_towers)
    foreach(processes 2 4)
        evenkeel_mpi_test(examples.mpi.train_two_towers.on_${processes} ${processes}
            "${mpirun}" -n ${processes} $<TARGET_FILE:train_two_towers> --backend mpi --stages 1,3)
        set_tests_properties(examples.mpi.train_two_towers.on_${processes} PROPERTIES LABELS "mpi;programs")
    endforeach()
endif()
