#!/bin/sh
# Runs the tests of a build folder with CTest; what fails is tried once more. The last lines
# name the tests that failed at their first attempt only, and repeat CTest's summary.
#
# usage: ctest.sh BUILD_FOLDER [CTEST OPTION]...
set -eu

COMMCOST_TOP=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
. "$COMMCOST_TOP/run_scripts/lib.sh"

build=$(cd -- "$1" && pwd)
shift
attempts=$build/Testing/Temporary/LastTest.log # CTest's: each attempt with its output
printed=$build/Testing/printed.log
mkdir -p "$build/Testing"
rm -f "$attempts" "$printed"

# Tests that time something run alone; of the others, which wait now and then, two
# for each processor. A shared machine may disturb any timing: what fails is tried
# once more.
status=0
run ctest --test-dir "$build" -j "$((2 * $(nproc)))" --output-on-failure --repeat until-pass:2 \
    --output-log "$printed" "$@" || status=$?

# repeated_tests: the names of those that failed at their first attempt only. A variant's
# test runs CTest itself: in what it prints, a line `Test #N: NAME ... Passed` begins with
# a blank instead of the test's place among all if it is of a second attempt.
repeated_tests() {
    LC_ALL=C awk '
        in_output && /<end of output>$/ { in_output = 0; next }
        in_output {
            if (/^ +Test +#[0-9]+: [^ ]+ \.+ +Passed /) {
                sub(/^ +Test +#[0-9]+: /, "")
                print $1 " of " name
            }
            next
        }
        /^Output:$/ { in_output = 1; next }
        sub(/^ *[0-9]+\/[0-9]+ Testing: /, "") { name = $0; next }
        /^Test Failed\.$/ { failed[name] = 1; next }
        /^Test Passed\.$/ && failed[name] { print name }' "$attempts"
}

# CTest's summary without its colours, or nothing if no test was run.
summary() {
    sed -n "s/$(printf '\033')\[[0-9;]*m//g; s/^[0-9]*% tests passed.* out of [0-9]*\$/&/p" \
        "$printed" | tail -n 1
}

if [ -e "$attempts" ] && [ -e "$printed" ]; then
    repeated=$(repeated_tests)
    echo
    [ -z "$repeated" ] ||
        printf '%s\n' "$repeated" | sed 's/^/Repeated, since the first attempt failed: /'
    summary
fi
exit "$status"
