#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tries all operations with buffers on a GPU, each in a separate launch. --help lists the options.
. "$(dirname -- "$0")/lib.sh"
commcost device_matrix "$@"
