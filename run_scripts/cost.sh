#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Prints the communication cost of a program, from its monitor's report and results. --help lists the options.
. "$(dirname -- "$0")/lib.sh"
commcost cost "$@"
