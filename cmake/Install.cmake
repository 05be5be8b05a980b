# What `cmake --install` and the packages put where.
#
#   libexec/commcost/FOLDER/PROGRAM   the benchmarks, as in the build
#   bin/                              what users start: commcost-run-suite and the like
#   share/commcost/run_scripts/       the scripts behind these
#   lib/libmpirtmon.so, include/mpirtmon.h
#   share/man/man1, share/doc/commcost
#
# Nothing of it knows the prefix: a tree may be moved as a whole.
include(GNUInstallDirs)

set(COMMCOST_PROGRAM_DIR "${CMAKE_INSTALL_LIBEXECDIR}/commcost")
set(COMMCOST_SHARE_DIR "${CMAKE_INSTALL_DATADIR}/commcost")

find_program(HELP2MAN help2man)
option(COMMCOST_MAN "Make man pages where help2man is found" ON)
if(COMMCOST_MAN AND HELP2MAN)
  message(STATUS "Man pages: ${HELP2MAN}")
else()
  message(STATUS "Man pages: not made")
endif()

# commcost_install_programs(FOLDER TARGET...): programs, with a man page each, which is what --help says.
function(commcost_install_programs folder)
  foreach(program IN LISTS ARGN)
    file(RELATIVE_PATH _to_libraries "/${COMMCOST_PROGRAM_DIR}/${folder}" "/${CMAKE_INSTALL_LIBDIR}")
    set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/${_to_libraries}")
    install(TARGETS ${program} RUNTIME DESTINATION "${COMMCOST_PROGRAM_DIR}/${folder}")
    if(COMMCOST_MAN AND HELP2MAN)
      set(_page "${CMAKE_CURRENT_BINARY_DIR}/${program}.1")
      add_custom_command(OUTPUT "${_page}"
        COMMAND sh "${PROJECT_SOURCE_DIR}/cmake/man_page.sh" "${HELP2MAN}" "${PROJECT_SOURCE_DIR}/cmake/man.txt"
                $<TARGET_FILE:${program}> "${_page}"
        DEPENDS ${program} "${PROJECT_SOURCE_DIR}/cmake/man_page.sh" "${PROJECT_SOURCE_DIR}/cmake/man.txt" VERBATIM)
      add_custom_target(${program}_man ALL DEPENDS "${_page}")
      install(FILES "${_page}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
    endif()
  endforeach()
endfunction()
