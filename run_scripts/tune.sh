#!/bin/sh
# Finds the MPI library's best algorithms and writes its own tuning file. --help says how.
exec python3 "$(dirname -- "$0")/commcost" tune "$@"
