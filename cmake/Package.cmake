# SPDX-License-Identifier: BSD-3-Clause
# `cpack --config CPackSourceConfig.cmake` makes the source archive. debian/ makes Debian packages.
set(CPACK_PACKAGE_NAME commcost)
set(CPACK_GENERATOR TGZ)
set(CPACK_SOURCE_GENERATOR TGZ)
set(CPACK_SOURCE_PACKAGE_FILE_NAME "commcost-${PROJECT_VERSION}")
set(CPACK_SOURCE_IGNORE_FILES "/\\.git/" "^${PROJECT_SOURCE_DIR}/build[^/]*/" "^${PROJECT_SOURCE_DIR}/results[^/]*/"
    "__pycache__" "\\.o$")
include(CPack)
