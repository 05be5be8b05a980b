#!/bin/sh
# Checks how MPI runs here, what that costs, and what to write. --help says how.
. "$(dirname -- "$0")/lib.sh"
commcost checkup "$@"
