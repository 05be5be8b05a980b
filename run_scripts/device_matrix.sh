#!/bin/sh
# Tries all operations with buffers on a GPU, each in a launch of its own. --help says how.
. "$(dirname -- "$0")/lib.sh"
commcost device_matrix "$@"
