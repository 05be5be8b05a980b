# SPDX-License-Identifier: BSD-3-Clause
# The files that `cmake --install` and the packages install, and their places.
#
#   libexec/commcost/FOLDER/PROGRAM   the benchmarks, as in the build
#   bin/                              what users start: commcost-run-suite and the like
#   share/commcost/run_scripts/       the scripts behind these
#   lib/libmpirtmon.so, include/mpirtmon.h
#   share/man/man1, share/doc/commcost, share/bash-completion/completions
#
# Nothing of it knows the prefix: a tree may be moved as a whole.
include(GNUInstallDirs)

set(COMMCOST_PROGRAM_DIR "${CMAKE_INSTALL_LIBEXECDIR}/commcost" CACHE STRING "Folder of the programs below the prefix")
set(COMMCOST_SHARE_DIR "${CMAKE_INSTALL_DATADIR}/commcost")

find_program(HELP2MAN help2man)
option(COMMCOST_MAN "Make man pages where help2man is found" ON)
if(COMMCOST_MAN AND HELP2MAN)
  message(STATUS "Man pages: ${HELP2MAN}")
else()
  message(STATUS "Man pages: not made")
endif()

file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/man")

# commcost_man_page(NAME PROGRAM INCLUDED): a man page, from PROGRAM --help, and the file that help2man
# includes.
function(commcost_man_page name program included)
  if(NOT COMMCOST_MAN OR NOT HELP2MAN)
    return()
  endif()
  set(_page "${PROJECT_BINARY_DIR}/man/${name}.1")
  add_custom_command(OUTPUT "${_page}"
    COMMAND sh "${PROJECT_SOURCE_DIR}/cmake/man_page.sh" "${HELP2MAN}" "${PROJECT_VERSION}" "${included}"
            "${program}" "${_page}"
    DEPENDS "${program}" "${PROJECT_SOURCE_DIR}/cmake/man_page.sh" "${included}" VERBATIM)
  add_custom_target(${name}_man ALL DEPENDS "${_page}")
  install(FILES "${_page}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
endfunction()

# commcost_benchmark(TARGET LIBRARY SOURCE...): the program of a benchmark. The first source has its main() and its
# tables, a struct bc_program TARGET_program.
function(commcost_benchmark target library)
  add_executable(${target} ${ARGN})
  target_link_libraries(${target} PRIVATE ${library})
  # Tests link it once more.
  list(TRANSFORM ARGN PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" REGEX "^[^/]")
  set_target_properties(${target} PROPERTIES COMMCOST_LIBRARY "${library}" COMMCOST_SOURCES "${ARGN}")
  set_property(GLOBAL APPEND PROPERTY COMMCOST_BENCHMARKS ${target})
endfunction()

# commcost_install_programs(FOLDER TARGET...): benchmarks.
function(commcost_install_programs folder)
  set_property(GLOBAL APPEND PROPERTY COMMCOST_PROGRAMS ${ARGN}) # for tests
  foreach(program IN LISTS ARGN)
    file(RELATIVE_PATH _to_libraries "/${COMMCOST_PROGRAM_DIR}/${folder}" "/${CMAKE_INSTALL_LIBDIR}")
    set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/${_to_libraries}")
    install(TARGETS ${program} RUNTIME DESTINATION "${COMMCOST_PROGRAM_DIR}/${folder}")
    commcost_man_page(${program} $<TARGET_FILE:${program}> "${PROJECT_SOURCE_DIR}/cmake/man_benchmark.txt")
    set_property(GLOBAL APPEND PROPERTY COMMCOST_COMMANDS ${program}=$<TARGET_FILE:${program}>)
  endforeach()
endfunction()

# commcost_install_completion(): bash's completion of options of all programs and commands, from their --help.
function(commcost_install_completion)
  if(CMAKE_CROSSCOMPILING OR COMMCOST_MPI_IS_SMPI) # they don't run here
    return()
  endif()
  get_property(_programs GLOBAL PROPERTY COMMCOST_PROGRAMS)
  get_property(_commands GLOBAL PROPERTY COMMCOST_COMMANDS)
  set(_folder "${PROJECT_BINARY_DIR}/completions")
  set(_script "${PROJECT_SOURCE_DIR}/cmake/completion.sh")
  add_custom_command(OUTPUT "${_folder}/commcost" COMMAND sh "${_script}" "${_folder}" ${_commands}
    DEPENDS "${_script}" ${_programs} VERBATIM)
  add_custom_target(completion ALL DEPENDS "${_folder}/commcost")
  install(DIRECTORY "${_folder}/" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
endfunction()

# commcost_install_scripts(NAME.sh...): what users start, commcost-NAME for run_scripts/NAME.sh, which finds the rest
# from where it lies itself; and bench_compare by its own name.
function(commcost_install_scripts)
  install(DIRECTORY run_scripts/ DESTINATION "${COMMCOST_SHARE_DIR}/run_scripts"
    USE_SOURCE_PERMISSIONS
    PATTERN __pycache__ EXCLUDE
    PATTERN quickstart.sh EXCLUDE)
  file(RELATIVE_PATH _to_scripts "/${CMAKE_INSTALL_BINDIR}" "/${COMMCOST_SHARE_DIR}/run_scripts")
  foreach(_script IN ITEMS ${ARGN} bench_compare)
    set(_command ${_script})
    if(_script MATCHES "[.]sh$")
      string(REGEX REPLACE "[.]sh$" "" _command "commcost-${_script}")
      string(REPLACE _ - _command "${_command}")
    endif()
    configure_file(cmake/command.sh.in "${PROJECT_BINARY_DIR}/bin/${_command}" @ONLY)
    install(PROGRAMS "${PROJECT_BINARY_DIR}/bin/${_command}" DESTINATION "${CMAKE_INSTALL_BINDIR}")
    commcost_man_page(${_command} "${PROJECT_SOURCE_DIR}/run_scripts/${_script}"
      "${PROJECT_SOURCE_DIR}/cmake/man_script.txt")
    set_property(GLOBAL APPEND PROPERTY COMMCOST_COMMANDS "${_command}=${PROJECT_SOURCE_DIR}/run_scripts/${_script}")
  endforeach()
  # What the scripts ask a build folder for.
  file(WRITE "${PROJECT_BINARY_DIR}/installed/CMakeCache.txt"
    "# What the scripts of commcost ask a build folder for.\n"
    "COMMCOST_MPIRUN_PROGRAM:FILEPATH=${COMMCOST_MPIRUN_PROGRAM}\n"
    "MPI_C_COMPILER:FILEPATH=${MPI_C_COMPILER}\n"
    "CMAKE_C_COMPILER:FILEPATH=${CMAKE_C_COMPILER}\n"
    "CMAKE_BUILD_TYPE:STRING=${CMAKE_BUILD_TYPE}\n")
  install(FILES "${PROJECT_BINARY_DIR}/installed/CMakeCache.txt" DESTINATION "${COMMCOST_PROGRAM_DIR}")
  # The pages link to each other by their places in the tree.
  install(FILES README.md LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
  install(DIRECTORY docs DESTINATION "${CMAKE_INSTALL_DOCDIR}")
  foreach(folder overlap mpi_overhead msgrate pingpong syncbench halo linkmap noise collective checkup monitor)
    install(FILES ${folder}/README.md DESTINATION "${CMAKE_INSTALL_DOCDIR}/${folder}")
  endforeach()
endfunction()
