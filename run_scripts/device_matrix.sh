#!/bin/sh
# Tries all operations with buffers on a GPU, each in a launch of its own. --help: its options.
. "$(dirname -- "$0")/lib.sh"
commcost device_matrix "$@"
