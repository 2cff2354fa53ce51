# SPDX-License-Identifier: Apache-2.0
# One of four processes is killed before, during and after an exchange: each of the others names it in time.
#
# cmake -D MPIRUN=tests/mpirun.sh -D PROGRAM=kill -D FOLDER=scratch -P kill_test.cmake
cmake_minimum_required(VERSION 3.25)

# must_report(WHEN LINES): what every survivor writes.
function(must_report when lines)
    file(REMOVE_RECURSE "${FOLDER}/${when}")
    file(MAKE_DIRECTORY "${FOLDER}/${when}")
    # Without --enable-recovery mpirun kills the survivors before they can report. Its own status says nothing.
    execute_process(COMMAND "${MPIRUN}" --enable-recovery -n 4 "${PROGRAM}" ${when} "${FOLDER}/${when}"
        TIMEOUT 60 RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
    foreach(rank 0 1 3)
        set(report "none")
        if(EXISTS "${FOLDER}/${when}/${rank}.txt")
            file(READ "${FOLDER}/${when}/${rank}.txt" report)
        endif()
        if(NOT report STREQUAL "first exchange is right\n${lines}is destroyed in time\nbuffers are left alone\n")
            message(SEND_ERROR "${when}: report of rank ${rank}: ${report}\nmpirun (${status}): ${out}")
        endif()
    endforeach()
    if(EXISTS "${FOLDER}/${when}/2.txt")
        message(SEND_ERROR "${when}: rank 2 was not killed")
    endif()
endfunction()

must_report(before "exchange fails in time, peer 2\nbarrier fails in time, peer 2\n")
must_report(during "exchange fails in time, peer 2\nbarrier fails in time, peer 2\n")
must_report(after "right bytes\nexchange ends well\nbarrier fails in time, peer 2\n")
