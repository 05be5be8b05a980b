#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Stands in for ssh between the hosts of a testbed (testbed.sh), whose name is in
# COMMCOST_TESTBED: launch.sh [OPTIONS] HOST COMMAND...

set -u

folder=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

# ssh's options that take a value in the next argument; all others stand alone.
while [ $# -gt 0 ]; do
    case $1 in
    -[BbcDEeFIiJLlmOopQRSWw]) shift 2 ;;
    -*) shift ;;
    *) break ;;
    esac
done
if [ $# -lt 2 ] || [ -z "${COMMCOST_TESTBED:-}" ]; then
    echo "usage: COMMCOST_TESTBED=NAME launch.sh [OPTIONS] HOST COMMAND..." >&2
    exit 2
fi
host=$1
shift
# As ssh does: the words make one line that a shell on HOST reads. hydra counts on
# it and sends its arguments quoted.
exec "$folder/testbed.sh" exec "$COMMCOST_TESTBED" "$host" sh -c "$*"
