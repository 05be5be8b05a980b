#!/bin/sh
# Makes one HTML page of results: what they say in short, pictures and tables. --help says how.
exec python3 "$(dirname -- "$0")/commcost" report "$@"
