# SPDX-License-Identifier: Apache-2.0
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(evenkeel_package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/evenkeel")

# evenkeel_install(TARGET [FILE_SET NAME]): installs the target, its headers and its own file of exported targets, so
# that a user of one component needs the dependencies of no other. `evenkeel` is the package itself, `evenkeel_NAME` its
# component NAME.
function(evenkeel_install target)
    string(REGEX REPLACE "^evenkeel_" "" component "${target}")
    set_target_properties(${target} PROPERTIES EXPORT_NAME "${component}")
    install(TARGETS ${target} EXPORT ${component}-targets FILE_SET HEADERS ${ARGN})
    install(EXPORT ${component}-targets NAMESPACE evenkeel:: DESTINATION "${evenkeel_package_folder}")
endfunction()

configure_package_config_file(cmake/evenkeel-config.cmake.in "${PROJECT_BINARY_DIR}/evenkeel-config.cmake"
    INSTALL_DESTINATION "${evenkeel_package_folder}" NO_SET_AND_CHECK_MACRO)
# Before 1.0 every minor version may break its users.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/evenkeel-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/evenkeel-config.cmake" "${PROJECT_BINARY_DIR}/evenkeel-config-version.cmake"
    DESTINATION "${evenkeel_package_folder}")
