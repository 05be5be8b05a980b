#!/bin/sh
# Is the testbed's wire as fast as it was asked to be, and no faster? 1 MiB each
# way at once: with ping-pong the bucket would fill in one direction while the
# other is in use. A second rate shows that the reading follows the filter.
# --slow-rate RATE makes the second wire another than is checked for (the test of
# this test).

set -u

slow_rate=500mbit
if [ "${1:-}" = --slow-rate ]; then
    slow_rate=$2
    shift 2
fi
if [ $# -ne 1 ]; then
    echo "usage: test_wire.sh [--slow-rate RATE] TCP_EXCHANGE" >&2
    exit 2
fi
folder=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
exchange=$1
testbed=wire-$$
# shellcheck source=test_lib.sh
. "$folder/test_lib.sh"

# check_rate RATE LEAST MOST: in MB (10^6 bytes) a second. The quickest of several measurements, since
# a processor that is stopped leaves the wire idle.
check_rate() {
    start_testbed "$1"
    us=$(for _ in 1 2 3 4 5; do
        raw_us 1048576 20
    done | sort -g | head -n 1)
    stop_testbed
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
check_rate "$slow_rate" 50 62.5 || failed=1
exit "$failed"
