#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Finds problems of MPI on this system, their cost, and the remedies. --help lists the options.
. "$(dirname -- "$0")/lib.sh"
commcost checkup "$@"
