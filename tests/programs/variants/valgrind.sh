#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Short checked runs of the benchmarks, and with "full" all of them and the unit and monitor tests, under valgrind's
# memcheck: no error, no memory lost and no file left open by us.
#
# usage: valgrind.sh SOURCE BUILD share|full MPIRUN...
set -eu

source=$1
build=$2
amount=$3
shift 3
mpirun=$*
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
. "$here/checked_runs.sh"

# Its processor instructions are not valgrind's.
export HWLOC_COMPONENTS=-x86

logs=$build/valgrind
rm -rf "$logs"
mkdir -p "$logs"
# Objects that were unloaded keep their names. Not -q, which leaves out the files.
before="valgrind --leak-check=full --show-leak-kinds=definite,possible --track-fds=yes --keep-debuginfo=yes \
--num-callers=40 --suppressions=$here/valgrind.supp --log-file=$logs/%p"

# Prints a log without its list of files.
without_files() {
    awk '/FILE DESCRIPTORS:/ { files = 1 } /HEAP SUMMARY:/ { files = 0 } !files' "$1"
}

# A log has the number of errors, and that each file left open is inherited or was opened inside MPI_Init.
check_logs() {
    found=0
    for log in "$logs"/*; do
        awk '
            function complain(what) { bad = 1; print FILENAME ": " what ":"; printf "%s", text }
            function end_of_file() {
                if (is_open && !is_theirs)
                    complain("a file is left open")
                is_open = 0
            }
            { sub(/^==[0-9]+== ?/, "") }
            /^Command:/ { command = $0 }
            /^Open / { end_of_file(); is_open = 1; is_theirs = 0; text = "" }
            is_open { text = text $0 "\n" }
            /<inherited from parent>|MPI_Init|ompi_mpi_init|MPID?_Init/ { is_theirs = 1 }
            /^HEAP SUMMARY/ { end_of_file() }
            /^ERROR SUMMARY:/ { finished = 1; errors = $3 }
            END {
                if (!finished || errors != 0)
                    print FILENAME ": " (finished ? errors " errors" : "not finished") ": " command
                exit bad || !finished || errors != 0
            }' "$log" || { found=1; without_files "$log"; }
    done
    echo "$(find "$logs" -type f | wc -l) processes under valgrind"
    return $found
}

case $amount in
share)
    checked_overlap iallreduce
    checked_msgrate_rma -t 2 -r flush
    checked_halo
    checked_monitor_overhead
    ;;
full)
    checked_overlaps "$source"
    checked_runs
    # Their own answers count for nothing here: timings are far off, and time limits are short. Not those with more ranks
    # than two that wait for each other by polling.
    # shellcheck disable=SC2086  # words
    run python3 "$here/under.py" --label='unit|monitor' --without='unit_(work_.*|clock|stats|virtual_.*|job_[48])' "$build" -- $before
    ;;
esac
check_logs
