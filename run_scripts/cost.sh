#!/bin/sh
# What communication costs a program, from its monitor's report and results. --help says how.
. "$(dirname -- "$0")/lib.sh"
commcost cost "$@"
