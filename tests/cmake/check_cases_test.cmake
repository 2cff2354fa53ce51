# SPDX-License-Identifier: Apache-2.0
# The list of cases passes if every case names tests and all of them exist.
#
# cmake -D SCRIPT=check_cases.cmake -D FOLDER=scratch -P check_cases_test.cmake
cmake_minimum_required(VERSION 3.25)

file(WRITE "${FOLDER}/tests/core/a_test.cpp"
    "TEST(plan, is_a_plan) { x[i]; }\nTYPED_TEST(exchange_on,\n           ends) {}\nTEST_P(law, holds) {}\n")

function(expect passes cases)
    file(WRITE "${FOLDER}/tests/cases.md" "# Cases\n\n| case | what | tests |\n|---|---|---|\n${cases}")
    execute_process(COMMAND "${CMAKE_COMMAND}" -D "FOLDER=${FOLDER}" -P "${SCRIPT}"
        RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(passes AND NOT status EQUAL 0)
        message(SEND_ERROR "refused: ${cases}")
    elseif(NOT passes AND status EQUAL 0)
        message(SEND_ERROR "passed: ${cases}")
    endif()
endfunction()

expect(TRUE "| 2 | Empty ranks; they take part. | `plan.is_a_plan` `exchange_on.ends` |\n| 14 | Laws. | `law.holds` |\n")
expect(FALSE "| 2 | Empty ranks. | `plan.is_no_plan` |\n")
expect(FALSE "| 2 | Empty ranks. | `plan.is_a_plan` |\n| 3 | Groups. | none |\n")
expect(FALSE "")
