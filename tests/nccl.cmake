# SPDX-License-Identifier: Apache-2.0
# The NCCL backend, wherever its headers are, linked with the test double: neither NCCL nor a GPU has a part in it.
find_package(CUDAToolkit QUIET)
find_package(NCCL 2.28 QUIET)
if(NOT CUDAToolkit_FOUND OR NOT NCCL_FOUND)
    return()
endif()
file(GLOB nccl_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/comm/src/nccl/*.cpp")
add_executable(evenkeel_nccl_tests ${nccl_sources} support/nccl_double.cpp support/batch_copy_twin.cpp
    comm/nccl_sequence_test.cpp comm/nccl_memory_test.cpp comm/nccl_dispatcher_test.cpp
    comm/communicator_exchange_test.cpp comm/communicator_faults_test.cpp
    comm/communicator_gather_test.cpp comm/communicator_split_test.cpp comm/pending_test.cpp comm/all_to_all_test.cpp
    comm/hierarchy_test.cpp comm/lengths_test.cpp comm/agreement_test.cpp)
target_compile_definitions(evenkeel_nccl_tests PRIVATE EVENKEEL_TEST_NCCL)
set_target_properties(evenkeel_nccl_tests PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 5)
# They define what NCCL declares, with types of their own inside.
set_source_files_properties(${nccl_sources} support/nccl_double.cpp support/batch_copy_twin.cpp PROPERTIES
    SKIP_UNITY_BUILD_INCLUSION ON)
target_include_directories(evenkeel_nccl_tests PRIVATE "${PROJECT_SOURCE_DIR}/comm/include" "${PROJECT_SOURCE_DIR}/comm/src")
target_include_directories(evenkeel_nccl_tests SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS} "${NCCL_INCLUDE_DIR}")
target_link_libraries(evenkeel_nccl_tests PRIVATE evenkeel_test_support)

# NCCL alone does not tell a rank that another one is late, has aborted or has dropped a transfer: each finds out by its
# own deadline (nccl_exchange.*), so the tests that want to hear of it sooner, or from whom, are those of the backends
# that tell: NCCL with a communicator of the host beside it, and loopback.
set(others communicator_on/*.names_* communicator_on/*.fails_at_once_* communicator_on/*.tells_every_rank_why_*
    communicator_on/*.keeps_the_first_fault communicator_on/*.ends_what_is_* split_on/*.fails_*
    split_on/*.reports_a_rank_* pending_on/*.*_dropped all_to_all_on/*.tells_every_rank_when_one_gives_it_up
    all_to_all_on/*.reports_a_rank_* hierarchy_on/*.fails_on_every_rank_* hierarchy_on/*.ends_for_all_*
    agree_on/*.reports_a_rank_*)
list(TRANSFORM others REPLACE "/\\*" "/nccl_double")
list(JOIN others ":" others)
add_test(NAME comm.nccl_sequence COMMAND evenkeel_nccl_tests --gtest_brief=1 "--gtest_filter=-${others}")
set_tests_properties(comm.nccl_sequence PROPERTIES LABELS comm)

# The backends themselves, linked with NCCL: without a driver they start and say what is missing.
if(TARGET evenkeel::comm_nccl)
    add_executable(evenkeel_nccl_probe device/probe.cpp)
    add_executable(evenkeel_device_pack device/pack.cpp)
    target_include_directories(evenkeel_device_pack PRIVATE "${PROJECT_SOURCE_DIR}/comm/src")
    # The tests of comm on one GPU, its ranks threads that share it.
    add_executable(evenkeel_device_tests device/main.cpp
        comm/nccl_memory_test.cpp comm/nccl_dispatcher_test.cpp comm/communicator_exchange_test.cpp comm/communicator_faults_test.cpp
        comm/communicator_gather_test.cpp comm/communicator_split_test.cpp comm/pending_test.cpp
        comm/all_to_all_test.cpp comm/hierarchy_test.cpp)
    target_compile_definitions(evenkeel_device_tests PRIVATE EVENKEEL_TEST_DEVICE)
    target_link_libraries(evenkeel_device_tests PRIVATE evenkeel_test_support)
    set_target_properties(evenkeel_device_tests PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 5)
    foreach(program nccl_probe device_pack device_tests)
        target_link_libraries(evenkeel_${program} PRIVATE evenkeel::comm_nccl CUDA::cudart evenkeel_warnings)
        add_test(NAME comm.${program} COMMAND evenkeel_${program})
        set_tests_properties(comm.${program} PROPERTIES LABELS "comm;gpu" SKIP_RETURN_CODE 77 PROCESSORS 1)
    endforeach()
endif()
