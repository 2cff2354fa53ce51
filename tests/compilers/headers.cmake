# SPDX-License-Identifier: Apache-2.0
# Compiles the public headers with one compiler: all in one source, in which names of different rooms may clash. With
# REVERSED in the reverse order.
#
# cmake -D COMPILER=c++ -D "FLAGS=-std=c++20 ..." -D SOURCE=evenkeel -D FOLDER=scratch [-D REVERSED=ON]
#       [-D "WITHOUT=regex of headers"] -P headers.cmake
cmake_minimum_required(VERSION 3.25)

separate_arguments(FLAGS UNIX_COMMAND "${FLAGS}")
file(REMOVE_RECURSE "${FOLDER}")

set(headers "")
foreach(include "${SOURCE}/include" "${SOURCE}/comm/include")
    file(GLOB_RECURSE found RELATIVE "${include}" "${include}/*.hpp")
    list(APPEND headers ${found})
endforeach()
list(FILTER headers EXCLUDE REGEX "/detail/")
if(WITHOUT)
    list(FILTER headers EXCLUDE REGEX "${WITHOUT}")
endif()
if(NOT headers)
    message(FATAL_ERROR "${SOURCE} has no headers")
endif()

# compile(NAME HEADERS...): a source of that name which includes these headers.
function(compile name)
    list(TRANSFORM ARGN REPLACE "(.+)" "#include <\\1>\n" OUTPUT_VARIABLE lines)
    list(JOIN lines "" text)
    file(WRITE "${FOLDER}/${name}.cpp" "${text}")
    execute_process(COMMAND "${COMPILER}" ${FLAGS} -c "${FOLDER}/${name}.cpp" -o "${FOLDER}/${name}.o"
        ERROR_VARIABLE said RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
        message(SEND_ERROR "${COMPILER} ${FLAGS}: ${name}.cpp\n${said}")
    endif()
endfunction()

if(REVERSED)
    list(REVERSE headers)
endif()
compile(all ${headers})
