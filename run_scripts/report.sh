#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Makes one HTML page of results, with scorecard, pictures and tables. --help lists the options.
. "$(dirname -- "$0")/lib.sh"
commcost report "$@"
