#!/bin/sh
# Makes one HTML page of results: what they say in short, pictures and tables. --help says how.
. "$(dirname -- "$0")/lib.sh"
commcost report "$@"
