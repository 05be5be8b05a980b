#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Is the testbed's wire as fast as it was asked to be, and no faster? 1 MiB each
# way at once: with ping-pong the bucket would fill in one direction while the
# other is in use. A second rate shows that the reading follows the filter.

set -u

folder=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
testbed=wire-$$
trap '"$folder/testbed.sh" down -q "$testbed" 2>/dev/null' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# on HOST ARGUMENTS...: tcp_exchange there.
on() {
    host=$1
    shift
    "$folder/testbed.sh" exec "$testbed" "$host" python3 "$folder/tcp_exchange.py" "$@"
}

# check_rate RATE LEAST MOST: in MB (10^6 bytes) a second. The quickest of several measurements, since
# a processor that is stopped leaves the wire idle.
check_rate() {
    "$folder/testbed.sh" up --rate "$1" "$testbed" || exit $?
    on 2 server 5201 &
    us=$(for _ in 1 2 3 4 5; do
        on 1 client 198.18.0.2 5201 1048576 20 both
    done | sort -g | head -n 1)
    "$folder/testbed.sh" down -q "$testbed"
    wait
    awk -v us="${us:-0}" -v rate="$1" -v least="$2" -v most="$3" 'BEGIN {
        mb_per_s = us > 0 ? 1048576 / us : 0
        ok = mb_per_s >= least && mb_per_s <= most
        printf "%s: %s: 1 MiB both ways in %s us, %.1f MB/s, should be %g to %g\n",
               (ok ? "ok" : "FAIL"), rate, us, mb_per_s, least, most
        exit !ok
    }'
}

failed=0
check_rate 1gbit 100 125 || failed=1
check_rate 500mbit 50 62.5 || failed=1
exit "$failed"
