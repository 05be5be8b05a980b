#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Finds the MPI library's best algorithms and writes its own tuning file. --help lists the options.
. "$(dirname -- "$0")/lib.sh"
commcost tune "$@"
