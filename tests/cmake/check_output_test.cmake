# SPDX-License-Identifier: Apache-2.0
# An example passes if it prints what its comment promises, and for no other reason.
#
# cmake -D SCRIPT=check_output.cmake -D FOLDER=scratch -P check_output_test.cmake
cmake_minimum_required(VERSION 3.25)

# expect(PASSES COMMENT COMMANDS): an example with that comment, whose program is a shell script of those commands.
function(expect passes comment commands)
    file(WRITE "${FOLDER}/example.cpp"
        "// SPDX-License-Identifier: Apache-2.0\n// Shows a thing.\n//\n${comment}#include <vector>\n")
    file(WRITE "${FOLDER}/program" "#!/bin/sh\n${commands}\n")
    file(CHMOD "${FOLDER}/program" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
    execute_process(
        COMMAND "${CMAKE_COMMAND}" -D "PROGRAM=${FOLDER}/program" -D "SOURCE=${FOLDER}/example.cpp" -P "${SCRIPT}"
        RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(passes AND NOT status EQUAL 0)
        message(SEND_ERROR "refused: ${commands}\n${comment}")
    elseif(NOT passes AND status EQUAL 0)
        message(SEND_ERROR "passed: ${commands}\n${comment}")
    endif()
endfunction()

set(promise "// Prints:\n//     rank 0: a; b\n//\n//       [1]\n")
expect(TRUE "${promise}" "printf 'rank 0: a; b\\n\\n  [1]\\n'")
expect(FALSE "${promise}" "printf 'rank 0: a; c\\n\\n  [1]\\n'")
expect(FALSE "${promise}" "printf 'rank 0: a; b\\n'")
expect(FALSE "${promise}" "printf 'rank 0: a; b\\n\\n  [1]\\nmore\\n'")
expect(FALSE "${promise}" "printf 'rank 0: a; b\\n\\n[1]\\n'")
expect(FALSE "${promise}" "printf 'rank 0: a; b\\n\\n  [1]\\n'; exit 3")
expect(FALSE "" "true")
