#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Prints the time of a program in MPI by source line, from its monitor's report. --help lists the options.
. "$(dirname -- "$0")/lib.sh"
commcost call_sites "$@"
