#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Launches a program once for each combination of ranks and environment variables. Prints each command, and writes one
# table, whose first columns are the ranks and the variables.
#
# Usage: sweep.sh [--ranks=2,4] [--env=NAME=VALUE,VALUE]... [--sizes=8:1M] [--output=FILE] PROGRAM [OPTION]...
#   for example: sweep.sh --ranks=2,4 --env=UCX_TLS=sm,tcp build/collective/collective --operations=bcast
#
#   --ranks=LIST         numbers of ranks (default: 2), in column job_ranks
#   --env=NAME=VALUES    values of a variable, without blanks and commas, in a column of its name; may be repeated
#   --sizes=LIST         sizes, passed to the program: one launch measures all of them
#   --output=FILE        file of the table (default: stdout)
#
# Options behind PROGRAM are the program's. Exit status 1: a launch failed, and its rows may be missing.
#
# Environment:
#   LAUNCH   words that start the ranks, such as 'srun -n {ranks}' (default: srun under Slurm, else the build's mpirun)
set -euf # -f: words are no patterns

. "$(dirname -- "$0")/lib.sh"
help_if_asked "$@"

ranks=2
sizes=
names=
settings= # a line a combination: NAME=VALUE NAME=VALUE ...
tab=$(printf '\t')
while :; do
    case ${1:-} in
    --ranks=*) ranks=${1#*=} ;;
    --sizes=*) sizes=$1 ;;
    --output=*) output=${1#*=} ;;
    --env=[A-Za-z_]*=*)
        name=${1#--env=} values=${1#--env=*=}
        name=${name%%=*}
        names=$names,$name
        settings=$(echo "$settings" | while read -r others; do
            echo "$values" | tr , '\n' | sed "s|^|$others $name=|"
        done)
        ;;
    *) break ;;
    esac
    shift
done
case ${1:-} in
--env=*) misused "$1: no variable with values: use --env=NAME=VALUE,VALUE" ;;
-*) misused "$1: no option of sweep.sh: put the program's options behind the program" ;;
'') misused "which program? use sweep.sh --ranks=2,4 build/halo/halo" ;;
esac
program=$1
shift
for option; do
    case $option in --format=* | --output=*)
        misused "$option behind the program: leave it out, or use --output=FILE before the program"
        ;;
    esac
done
[ -x "$program" ] || misused "no program $program: build it, or use its path"
case ,$ranks, in *,0* | *[!0-9,]* | *,,*) misused "--ranks: '$ranks' is no list of numbers: use --ranks=2,4" ;; esac
if [ -n "${output:-}" ]; then
    (: >"$output") 2>/dev/null || misused "--output: $output can't be written"
    exec >"$output"
fi

# Prints the words that start $1 ranks.
launch_line() {
    if [ -n "${LAUNCH:-}" ]; then
        echo "$LAUNCH" | sed "s/{ranks}/$1/g"
    else
        commcost launcher --ranks="$1" --variables="${names#,}" "$(dirname -- "$program")/.."
    fi
}

header=job_ranks$(echo "$names" | tr , "$tab")
status=0
for number in $(echo "$ranks" | tr , ' '); do
    words=$(launch_line "$number") || exit 1
    while read -r setting; do
        # shellcheck disable=SC2086 # lists of words
        rows=$(run env $setting $words "$program" --no-metadata $sizes "$@" </dev/null) || status=1
        values=$number
        for pair in $setting; do
            values=$values$tab${pair#*=}
        done
        [ -n "$rows" ] || continue
        [ -z "$header" ] || echo "$rows" | sed "s|^|$header$tab|;q"
        header=
        echo "$rows" | sed "1d;s|^|$values$tab|"
    done <<END
$settings
END
done
[ "$status" -eq 0 ] || complain "a launch failed: its rows may be missing"
exit "$status"
