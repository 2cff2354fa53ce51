# SPDX-License-Identifier: Apache-2.0
# The NCCL backend, wherever its headers are, linked with the test double: neither NCCL nor a GPU has a part in it.
find_package(CUDAToolkit QUIET)
find_package(NCCL 2.28 QUIET)
if(NOT CUDAToolkit_FOUND OR NOT NCCL_FOUND)
    return()
endif()
file(GLOB nccl_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/comm/src/nccl/*.cpp")
add_executable(evenkeel_nccl_tests ${nccl_sources} support/nccl_double.cpp
    comm/nccl_sequence_test.cpp comm/communicator_exchange_test.cpp comm/communicator_gather_test.cpp
    comm/communicator_split_test.cpp comm/all_to_all_test.cpp comm/hierarchy_test.cpp comm/lengths_test.cpp
    comm/agreement_test.cpp)
target_compile_definitions(evenkeel_nccl_tests PRIVATE EVENKEEL_TEST_NCCL)
set_target_properties(evenkeel_nccl_tests PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 5)
# They define what NCCL declares, with types of their own inside.
set_source_files_properties(${nccl_sources} support/nccl_double.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
target_include_directories(evenkeel_nccl_tests PRIVATE "${PROJECT_SOURCE_DIR}/comm/include" "${PROJECT_SOURCE_DIR}/comm/src")
target_include_directories(evenkeel_nccl_tests SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS} "${NCCL_INCLUDE_DIR}")
target_link_libraries(evenkeel_nccl_tests PRIVATE evenkeel_test_support)

# NCCL names no culprit, so the tests that want one are those of the other backends; its own faults are in nccl_exchange.
set(others "*.*fails_*" ".is_refused_on_every*" ".is_never_ready*" ".ends_*" ".*does_not_come"
    ".*gives_it_up")
list(TRANSFORM others PREPEND "*/nccl_double")
list(JOIN others ":" others)
add_test(NAME comm.nccl_sequence COMMAND evenkeel_nccl_tests --gtest_brief=1 "--gtest_filter=-${others}")
set_tests_properties(comm.nccl_sequence PROPERTIES LABELS comm)

# The backend itself, linked with NCCL, starts without a driver and says what is missing.
if(TARGET evenkeel::comm_nccl)
    add_executable(evenkeel_nccl_probe device/probe.cpp)
    target_link_libraries(evenkeel_nccl_probe PRIVATE evenkeel::comm_nccl CUDA::cudart evenkeel_warnings)
    add_test(NAME comm.nccl_probe COMMAND evenkeel_nccl_probe)
    set_tests_properties(comm.nccl_probe PROPERTIES LABELS "comm;gpu" SKIP_RETURN_CODE 77 PROCESSORS 1)
endif()
