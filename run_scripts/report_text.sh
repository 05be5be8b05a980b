#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Writes the report of results as Markdown. --help lists the options.
. "$(dirname -- "$0")/lib.sh"
commcost report_text "$@"
