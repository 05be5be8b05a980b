#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs the tests of a build folder with CTest, each once. The last lines name what failed and what was not judged, with
# the reason, and count: CTest's own summary, then `N passed, N failed, N skipped`.
#
# usage: ctest.sh BUILD_FOLDER [CTEST OPTION]...
set -eu

. "$(dirname -- "$0")/../run_scripts/lib.sh"

build=$(cd -- "$1" && pwd)
shift
outputs=$build/Testing/Temporary/LastTest.log # CTest's: each test with its output
printed=$build/Testing/printed.log
virtual=$build/tests/virtual/results.sha256
mkdir -p "$build/Testing"
rm -f "$outputs" "$printed" "$virtual"

# Tests that time something or start many ranks run alone; of the others, which wait now and then, two for each processor.
status=0
run ctest --test-dir "$build" -j "$((2 * $(nproc)))" --output-on-failure --output-log "$printed" "$@" || status=$?

# last_lines: of what CTest printed, its summary and what follows it; of the outputs, the reasons of what was skipped:
# lines that begin with `skipped:`, or the last line.
last_lines() {
    LC_ALL=C awk -v printed="$printed" -v virtual="$virtual" '
        function name_of(line) {
            sub(/^[ \t]*[0-9]+ - /, "", line)
            sub(/ \([^()]*\)$/, "", line)
            return line
        }
        FILENAME == printed {
            gsub(/\033\[[0-9;]*m/, "")
            if (/^[0-9]+% tests passed, [0-9]+ tests? failed out of [0-9]+$/) {
                summary = $0
                total = $NF
                failed = $4
                skipped = failures = in_failed = 0
            } else if (/^[ \t]+[0-9]+ - .* \(Skipped\)$/)
                skipped_name[++skipped] = name_of($0)
            else if (/^The following tests FAILED:$/)
                in_failed = 1
            else if (in_failed && /^[ \t]+[0-9]+ - .* \(.*\)$/)
                failed_name[++failures] = name_of($0)
            next
        }
        in_output && /<end of output>$/ {
            in_output = 0
            if (reasons[name] == "")
                reasons[name] = last
            next
        }
        in_output {
            if (sub(/^(skipped|not judged): /, ""))
                reasons[name] = reasons[name] (reasons[name] == "" ? "" : "; ") $0
            if ($0 != "")
                last = $0
            next
        }
        sub(/^ *[0-9]+\/[0-9]+ Testing: /, "") { name = $0; reasons[name] = last = ""; next }
        /^Output:$/ { getline; in_output = 1 }
        END {
            if (summary == "")
                exit
            print ""
            for (i = 1; i <= failures; i++)
                print "failed: " failed_name[i]
            for (i = 1; i <= skipped; i++)
                print "not judged: " skipped_name[i] ": " reasons[skipped_name[i]]
            if ((getline line < virtual) > 0)
                print "virtual results: sha256 " line
            print summary
            print total - failed - skipped " passed, " failed " failed, " skipped " skipped"
        }' "$printed" "$outputs"
}

if [ -e "$outputs" ] && [ -e "$printed" ]; then
    last_lines
fi
exit "$status"
