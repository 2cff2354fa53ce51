# SPDX-License-Identifier: Apache-2.0
# One of four processes is killed before, during and after an exchange: each of the others names it in time. They reach
# each other as neighbours on one host do, and then by MPI alone.
#
# cmake -D MPIRUN=tests/mpirun.sh -D PROGRAM=kill -D FOLDER=scratch -P kill_test.cmake
cmake_minimum_required(VERSION 3.25)

# must_report(WHEN LINES): what every survivor writes.
function(must_report when lines)
    must_report_as(${when} neighbours "${lines}")
    must_report_as(${when} strangers "${lines}")
endfunction()

function(must_report_as when meeting lines)
    set(reports "${FOLDER}/${when}_${meeting}")
    file(REMOVE_RECURSE "${reports}")
    file(MAKE_DIRECTORY "${reports}")
    # Without --enable-recovery mpirun kills the survivors before they can report. Its own status says nothing.
    execute_process(COMMAND "${MPIRUN}" --enable-recovery -n 4 "${PROGRAM}" ${when} ${meeting} "${reports}"
        TIMEOUT 60 RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
    foreach(rank 0 1 3)
        set(report "none")
        if(EXISTS "${reports}/${rank}.txt")
            file(READ "${reports}/${rank}.txt" report)
        endif()
        if(NOT report STREQUAL "first exchange is right\n${lines}is destroyed in time\nbuffers are left alone\n")
            message(SEND_ERROR "${when}, ${meeting}: report of rank ${rank}: ${report}\nmpirun (${status}): ${out}")
        endif()
    endforeach()
    if(EXISTS "${reports}/2.txt")
        message(SEND_ERROR "${when}, ${meeting}: rank 2 was not killed")
    endif()
endfunction()

must_report(before "exchange fails in time, peer 2\nbarrier fails in time, peer 2\n")
must_report(during "exchange fails in time, peer 2\nbarrier fails in time, peer 2\n")
must_report(after "right bytes\nexchange ends well\nbarrier fails in time, peer 2\n")
