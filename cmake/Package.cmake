# SPDX-License-Identifier: BSD-3-Clause
# `cpack -G DEB` makes a Debian package, `cpack --config CPackSourceConfig.cmake` the source archive.
set(CPACK_PACKAGE_NAME commcost)
set(CPACK_PACKAGE_VENDOR "the commcost authors")
set(CPACK_PACKAGE_CONTACT "the commcost authors <commcost@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION
"Small stand-alone MPI benchmarks that tell what communication costs an application: how much work fits under a
non-blocking collective, how much of the processor a message takes, how fast messages go with cold caches and many
peers, what synchronisation and a halo swap cost; and a monitor that tells what MPI did inside any program.")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_GENERATOR DEB)
set(CPACK_STRIP_FILES ON)

# The programs are of one MPI library, which the package's name has.
set(CPACK_DEBIAN_PACKAGE_NAME "commcost-${COMMCOST_MPI_NAME}")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}/monitor")
if(COMMCOST_MPI_NAME STREQUAL mpich)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS mpich)
elseif(COMMCOST_MPI_NAME STREQUAL openmpi)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS openmpi-bin)
endif()
# For the suite and the readers of results; the benchmarks don't need it.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS python3)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS gnuplot-nox)
# Each has its programs at the same place.
set(CPACK_DEBIAN_PACKAGE_CONFLICTS "commcost-mpich, commcost-openmpi, commcost-other")
string(REGEX REPLACE "(, )?${CPACK_DEBIAN_PACKAGE_NAME}" "" CPACK_DEBIAN_PACKAGE_CONFLICTS
       "${CPACK_DEBIAN_PACKAGE_CONFLICTS}")
string(REGEX REPLACE "^, " "" CPACK_DEBIAN_PACKAGE_CONFLICTS "${CPACK_DEBIAN_PACKAGE_CONFLICTS}")

set(CPACK_SOURCE_GENERATOR TGZ)
set(CPACK_SOURCE_PACKAGE_FILE_NAME "commcost-${PROJECT_VERSION}")
set(CPACK_SOURCE_IGNORE_FILES "/\\.git/" "^${PROJECT_SOURCE_DIR}/build[^/]*/" "^${PROJECT_SOURCE_DIR}/results[^/]*/"
    "__pycache__" "\\.o$")
include(CPack)
