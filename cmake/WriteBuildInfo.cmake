# SPDX-License-Identifier: BSD-3-Clause
# Run by cmake -P: see BuildInfo.cmake.
set(COMMCOST_COMMIT unknown)
find_program(GIT git)
if(GIT AND EXISTS "${SOURCE_DIR}/.git")
  execute_process(COMMAND "${GIT}" describe --always --dirty --abbrev=12
                  WORKING_DIRECTORY "${SOURCE_DIR}"
                  OUTPUT_VARIABLE _commit OUTPUT_STRIP_TRAILING_WHITESPACE
                  ERROR_QUIET RESULT_VARIABLE _failed)
  if(NOT _failed)
    set(COMMCOST_COMMIT "${_commit}")
  endif()
endif()
configure_file("${TEMPLATE}" "${RESULT}" @ONLY)
