#!/bin/sh
# Finds the MPI library's best algorithms and writes its own tuning file. --help: its options.
. "$(dirname -- "$0")/lib.sh"
commcost tune "$@"
