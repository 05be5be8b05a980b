#!/bin/sh
# Prints the communication cost of a program, from its monitor's report and results. --help lists the options.
. "$(dirname -- "$0")/lib.sh"
commcost cost "$@"
