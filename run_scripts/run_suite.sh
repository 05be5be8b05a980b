#!/bin/sh
# Runs the benchmarks, all or some, several times in turn, and puts the results
# together. --help says how.
. "$(dirname -- "$0")/lib.sh"
commcost suite "$@"
