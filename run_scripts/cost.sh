#!/bin/sh
# The communication cost of a program, from its monitor's report and results. --help: its options.
. "$(dirname -- "$0")/lib.sh"
commcost cost "$@"
