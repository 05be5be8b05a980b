#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# testbed.sh itself: what goes through it, and that nothing is left behind.

set -u

folder=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
testbed=$folder/testbed.sh
failed=0

# expect WHAT WANTED GOT
expect() {
    if [ "$2" = "$3" ]; then
        echo "ok: $1"
    else
        echo "FAIL: $1: wanted '$2', got '$3'"
        failed=1
    fi
}

leftovers() {
    ip netns list | grep -c "commcost-run-$1-"
}

"$testbed" check || exit $?

expect "both hosts run, stdout holds only their output" "host1 host2 " \
    "$("$testbed" run -- hostname 2>/dev/null | sort | tr '\n' ' ')"

"$testbed" run -q -- sh -c 'exit 3'
expect "the program's status" 3 $?

# shellcheck disable=SC2016 # expanded on the host
expect "arguments stay whole" "a b|c;d" \
    "$("$testbed" run -q --ranks 1 -- sh -c 'echo "$0|$1"' 'a b' 'c;d')"

"$testbed" run -q --rate fast -- true 2>/dev/null
expect "a rate that is none" 2 $?

tools=$(mktemp -d) || exit 1
for tool in dirname grep head id ip unshare hostname; do
    ln -s "$(command -v "$tool")" "$tools/$tool"
done
expect "no tc" "testbed.sh: cannot run here: there is no 'tc' command 77" \
    "$(PATH=$tools /bin/sh "$testbed" check 2>&1) $(PATH=$tools /bin/sh "$testbed" run -- x 2>/dev/null; echo $?)"
rm -r "$tools"

# Two at once, ended by a signal; ranks that ignore it are killed.
"$testbed" run -q -- sh -c 'trap "" TERM; sleep 60' &
first=$!
"$testbed" run -q -- sleep 60 &
second=$!
sleep 2
expect "two testbeds at once" "2 2" "$(leftovers "$first") $(leftovers "$second")"
kill -TERM "$first" "$second"
wait "$first"
expect "status after SIGTERM" 143 $?
wait "$second"
expect "nothing left" "0 0" "$(leftovers "$first") $(leftovers "$second")"
exit "$failed"
