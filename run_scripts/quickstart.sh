#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs missing packages, builds commcost, checks how MPI runs here, measures, and prints a scorecard:
# latency, bandwidth, host overhead, message rate, barrier, halo exchange, collectives, gain of
# non-blocking calls, and noise.
#
# Usage: quickstart.sh [--all] [--ranks=N] [--output=FOLDER | --resume=FOLDER]
#   --all            launch every program once
#   --ranks=N        number of ranks (default: one per core, between 2 and 8)
#   --output=FOLDER  results folder (default: results/DATE_TIME)
#   --resume=FOLDER  resume an interrupted run
#
# Takes at most three minutes on two cores, with the build: six launches of each program. The
# folder gets a .tsv file for each program, summary.tsv for spreadsheets, report.md and
# report.html. run_suite.sh has more options.
#
# Environment: MPICC (compiler wrapper), RANKS (as --ranks).
set -eu

. "$(dirname -- "$0")/lib.sh"
help_if_asked "$@"

measured=
ranks=
where=--output
results=
for option in "$@"; do
    case $option in
    --all) measured=--quick ;;
    --ranks=*) ranks=${option#*=} ;;
    --output=?* | --resume=?*)
        where=${option%%=*}
        results=${option#*=}
        ;;
    *) misused "'$option': no such option: see --help" ;;
    esac
done
case $results in
"" | /*) ;;
*) results=$PWD/$results ;;
esac
if [ "$where" = --output ]; then
    # A resumed folder already has these options.
    measured=${measured:---essentials}
    ranks=${ranks:-${RANKS:-}}
elif [ ! -s "$results/suite/options" ]; then
    misused "--resume: '$results' is no folder of quickstart.sh: use --output"
fi
case ${ranks:-2} in
*[!0-9]* | 0* | 1 | ???????*) misused "--ranks, or RANKS: '$ranks' is not a number of 2 to 999999" ;;
esac
build=$COMMCOST_TOP/build

if [ -z "${MPICC:-}" ]; then
    install_missing gcc libc6-dev make cmake git mpich libmpich-dev \
        gnuplot-nox python3
fi
need_python
build_tree "$build" -DBUILD_TESTING=OFF -DCOMMCOST_MAN=OFF >"$build.log" || die "the build failed: see above, and $build.log"

# Two calls in the same second get different folders.
if [ -z "$results" ]; then
    mkdir -p "$COMMCOST_TOP/results"
    begun=$COMMCOST_TOP/results/$(date +%Y-%m-%d_%H%M%S)
    results=$begun
    number=1
    until mkdir "$results" 2>/dev/null; do
        [ -e "$results" ] || die "cannot make the folder $results: use --output=FOLDER"
        number=$((number + 1))
        results=$begun-$number
    done
fi

# The check-up without experiments takes about three seconds. The scorecard reports its findings.
if [ -x "$build/checkup/checkup" ] && mkdir -p "$results" && ! [ -e "$results/checkup.txt" ]; then
    status=0
    checked=$("$COMMCOST_TOP/run_scripts/checkup.sh" --build="$build" ${ranks:+"--ranks=$ranks"} --seconds=0 \
        --output="$results/checkup.txt") || status=$?
    case $status in
    3) echo "$checked" ;; # the job doesn't start
    [4-9]? | 1??) exit "$status" ;;
    esac
fi

# A failed launch doesn't prevent the report.
status=0
passing_signals commcost quickstart ${measured:+"$measured"} --build="$build" ${ranks:+"--ranks=$ranks"} \
    "$where=$results" || status=$?
if [ -n "$signalled" ]; then
    again=$(commcost paste ${MPICC:+env "MPICC=$MPICC"} "$COMMCOST_TOP/run_scripts/quickstart.sh" "--resume=$results")
    echo "quickstart.sh: SIG$signalled: to resume and make the report: $again" >&2
    exit "$status"
fi
set -- "$results"/*.tsv
[ -e "$1" ] || exit "$status"
program=$(commcost launcher "$build" "$build/halo/halo" --format=table) && echo "One program: $program"
exit "$status"
