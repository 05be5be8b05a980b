#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs mpi_overhead with all message sizes: 0, 2, 4 ... 4 MiB. The result, one TSV file, goes
# to stdout or to --output=FILE; host and folder go to stderr.
#
# Usage: mpi_overhead_sweep.sh [MPI_OVERHEAD OPTION]...
#   for example: mpi_overhead_sweep.sh --recv --output=recv.tsv
#   The options are those of `mpi_overhead --help`.
#
# Environment:
#   LAUNCH   words that start an even number of processes (default: srun under Slurm, else 2
#            processes with the build's mpirun)
#   PROGRAM  the program (default: build/mpi_overhead/mpi_overhead)
set -eu

. "$(dirname -- "$0")/lib.sh"
help_if_asked "$@"

build=$COMMCOST_TOP/build
[ -d "$build" ] || build=$COMMCOST_TOP/../../libexec/commcost # as installed, in share/commcost
program=${PROGRAM:-$build/mpi_overhead/mpi_overhead}
[ -x "$program" ] || die "no program $program: build it, or set PROGRAM"

set -f # words, not patterns
launch=$(launch_words "$(dirname "$program")/..")
{
    echo "######### START #########"
    echo "Running on $(uname -n)"
    echo "Dir is $(pwd)"
} >&2
IFS='
'
# shellcheck disable=SC2086 # one word per line
set -- $launch "$program" --msgsize=0,2:4M "$@"
unset IFS
status=0
run "$@" || status=$?
echo "######### DONE! #########" >&2
exit "$status"
