# SPDX-License-Identifier: Apache-2.0
# The warnings that evenkeel's own sources are clean under. Linked privately, so that no embedder inherits them; whether
# a warning is an error is the preset's to say.
add_library(evenkeel_warnings INTERFACE)
target_compile_options(evenkeel_warnings INTERFACE
    $<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow>)
