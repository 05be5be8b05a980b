#!/bin/sh
# Writes the report of results as Markdown. --help says how.
exec python3 "$(dirname -- "$0")/commcost" report_text "$@"
