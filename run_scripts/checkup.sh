#!/bin/sh
# Finds what is wrong with how MPI runs here, its cost, and the words to write. --help lists the options.
. "$(dirname -- "$0")/lib.sh"
commcost checkup "$@"
