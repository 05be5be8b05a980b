#!/bin/sh
# Installs what the tests need, builds, and runs them. The last lines say which tests
# passed at their second attempt only, and how many passed and failed.
#
# usage: run.sh [--full] [--condition=CONDITION] [CTEST OPTION]...
#   --full   every case of the accuracy targets, and all long trials (killed
#            ranks, bad input, fuzzing, simulated clusters, large messages); takes
#            hours, and writes the accuracy table to
#            build-tests/accuracy.md
#   --condition=cloud|bad|jumps   ranks of all programs are stopped
#            (tests/disturbance). Left out are variants, whose libraries want to
#            be loaded first; trials and the tests of the disturbance itself, which
#            have conditions of their own; and what measures nothing here: lint,
#            simulation, install, docs
set -eu

COMMCOST_TOP=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
. "$COMMCOST_TOP/run_scripts/lib.sh"

full=OFF
condition=
tier="quick tier: every accuracy target by at least one case, all else once, and the variants
(sanitizers, valgrind, threads, Open MPI) with a share of the tests. --full: all cases, long trials"
case ${1:-} in
--full)
    full=ON
    tier="full tier: every case of the accuracy targets, all long trials, all variants; takes hours"
    shift
    ;;
-h | --help)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac
case ${1:-} in
--condition=*)
    condition=${1#*=}
    tier="$tier; ranks are stopped: $condition"
    shift
    ;;
esac
echo "$tier"
install_missing gcc g++ libc6-dev make cmake git mpich libmpich-dev libhwloc-dev \
    libcmocka-dev openmpi-bin libopenmpi-dev iproute2 kmod procps shellcheck \
    clang clang-format clang-tidy libclang-rt-dev cppcheck valgrind gnuplot-nox help2man \
    binutils python3 python3-pandas python3-pytest r-base-core libsimgrid-dev util-linux munge \
    slurm-client slurmctld slurmd libreoffice-calc hpcc lammps
# For variant_arm64, which skips without.
(install_missing gcc-aarch64-linux-gnu qemu-user) || echo "no compiler or no emulator for arm64: goes on without"
[ -z "$condition" ] || variables=$(python3 "$COMMCOST_TOP/tests/lib/disturbance.py" "$condition")

build=$COMMCOST_TOP/build-tests
build_tree "$build" -DCOMMCOST_TESTS=ON -DCOMMCOST_VARIANT_TESTS=ON \
    -DCOMMCOST_WERROR=ON "-DCOMMCOST_FULL_TESTS=$full"

if [ -n "$condition" ]; then
    for variable in $variables "LD_PRELOAD=$build/tests/disturbance/libdisturbance.so"; do
        export "${variable?}"
    done
    set -- -LE 'variants|lint|simulation|install|docs' -E '^(trials_.*|disturbance)$' "$@"
fi
exec "$COMMCOST_TOP/tests/ctest.sh" "$build" "$@"
