#!/bin/sh
# Tries all operations with buffers on a GPU, each in a launch of its own. --help says how.
exec python3 "$(dirname -- "$0")/commcost" device_matrix "$@"
