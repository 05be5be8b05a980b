#!/bin/sh
# Writes the report of results as Markdown. --help says how.
. "$(dirname -- "$0")/lib.sh"
commcost report_text "$@"
