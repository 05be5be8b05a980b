#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs the suite as a Slurm job. Options of sbatch come before this file's name, those of
# run_suite.sh after it:
#
#   sbatch -N 16 --ntasks-per-node=32 run_scripts/jobs/slurm.sh --benchmarks=overlap
#
# The results go to results/slurm-JOB in the folder of submission, or to --output=FOLDER. The
# suite ends half a minute before the job's time is up, or after the current launch on USR1
# (scancel --batch --signal=USR1 JOB). The job then returns to the queue and resumes the suite,
# as after any requeue. Use at least two nodes: with one there is no network to measure.
#
#SBATCH --job-name=commcost
#SBATCH --nodes=2
#SBATCH --exclusive
#SBATCH --time=01:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=commcost-%j.log
set -eu

if [ -z "${SLURM_JOB_ID:-}" ]; then
    . "$(dirname -- "$0")/../lib.sh"
    help_if_asked "$@"
    misused "this is no Slurm job: submit it with sbatch (see --help)"
fi
# Slurm runs a copy of this file. The original path and its arguments share a line, and both may have blanks.
if [ -z "${COMMCOST_TOP:-}" ]; then
    script=$(scontrol show job --oneliner "$SLURM_JOB_ID" |
        sed -n 's/.* Command=\(.*\) WorkDir=.*/\1/p')
    script=${script%" $*"}
    COMMCOST_TOP=$(CDPATH='' cd -- "$(dirname -- "$script")/../.." && pwd)
fi
. "$COMMCOST_TOP/run_scripts/lib.sh"

results=$SLURM_SUBMIT_DIR/results/slurm-$SLURM_JOB_ID
for option in "$@"; do
    case $option in
    --output=* | --resume=*) results=${option#*=} ;;
    esac
done

finished() {
    find "$results/runs" -name '*.tsv' 2>/dev/null | wc -l
}

before=$(finished)
status=0
passing_signals sh "$COMMCOST_TOP/run_scripts/run_suite.sh" --output="$results" "$@" ||
    status=$?

# Requeued only if some launch fits into the job's time.
if [ "$status" -eq 3 ]; then
    if [ "$(finished)" -gt "$before" ]; then
        run scontrol requeue "$SLURM_JOB_ID"
        exit 0
    fi
    echo "No launch ended in the job's time: use a longer --time" >&2
fi
exit "$status"
