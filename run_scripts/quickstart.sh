#!/bin/sh
# Installs what is missing, builds commcost, measures this machine, and says what came out:
# what messages, puts, a barrier, an allreduce, a broadcast and a halo swap cost, how much of
# the processor a message takes, whether non-blocking calls pay, and what interrupts processes.
#
# usage: quickstart.sh [--all] [RESULTS_FOLDER]
#
# Takes at most three minutes with the build on two cores: six launches of each program. With
# --all it launches every program once instead, also those of all other collectives, the monitor
# and the links. The folder then has one .tsv file a program, summary.tsv for spreadsheets,
# report.md and report.html. run_suite.sh has more ways to measure.
#
# Interrupted, it goes on where it was when it is called with the same folder.
#
# Environment: MPICC (compiler wrapper), RANKS (number of processes; default: the cores, or what
# a control group's quota allows of them, 2 to 8).
set -eu

. "$(dirname -- "$0")/lib.sh"
help_if_asked "$@"

measured=--essentials
all=
if [ "${1:-}" = --all ]; then
    measured=--quick
    all="--all "
    shift
fi
case ${1:-} in
-*) misused "$1: no such option: use quickstart.sh [--all] [RESULTS_FOLDER]" ;;
esac
[ $# -le 1 ] || misused "$2: one results folder at most"
case ${RANKS:-2} in
*[!0-9]* | 0* | 1 | ???????*) misused "RANKS: '$RANKS' is not a number of 2 to 999999" ;;
esac

results=${1:-$COMMCOST_TOP/results/$(date +%Y-%m-%d_%H%M%S)}
build=$COMMCOST_TOP/build

if [ -z "${MPICC:-}" ]; then
    install_missing gcc libc6-dev make cmake git mpich libmpich-dev \
        libhwloc-dev gnuplot-nox python3
fi
build_tree "$build" -DBUILD_TESTING=OFF >&2

# The suite says how long it will take, and how far it is. What it could measure is
# reported whatever failed.
status=0
passing_signals sh "$COMMCOST_TOP/run_scripts/run_suite.sh" "$measured" --build="$build" \
    ${RANKS:+"--ranks=$RANKS"} --output="$results" || status=$?
if [ -n "$signalled" ]; then
    echo "quickstart.sh: SIG$signalled: to go on and make the report: $0 $all$results" >&2
    exit "$status"
fi
results=$(cd "$results" 2>/dev/null && pwd) || exit "$status"
set -- "$results"/*.tsv
[ -e "$1" ] || exit "$status"

sh "$COMMCOST_TOP/run_scripts/report_text.sh" --beside "$results"
page=$(sh "$COMMCOST_TOP/run_scripts/report.sh" "$results") || status=1
sh "$COMMCOST_TOP/run_scripts/report_text.sh" --short "$results"
[ -z "$page" ] || printf 'Page: %s    Table: %s\n' "${page#"$PWD/"}" "${results#"$PWD/"}/summary.tsv"
exit "$status"
