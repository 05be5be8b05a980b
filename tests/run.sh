#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs what the tests need, builds, and runs them. The last lines list what passed, failed, and was not judged and why.
#
# usage: run.sh [--all|--full] [CTEST OPTION]...
#   (none)   virtual time, contract, results, unit tests, the monitor, each program from end to end, and what only real
#            time shows; ends in the same way on every machine; under ten minutes
#   --all    also lint, sanitizers, valgrind, other MPI libraries, arm64, Slurm, R, pandas, LibreOffice, pictures, real
#            programs, simulated clusters, faults and bad input; half an hour on two cores
#   --full   every case of what --all has a share of; hours
set -eu

. "$(dirname -- "$0")/../run_scripts/lib.sh"

tier=run
while [ $# -gt 0 ]; do
    case $1 in
    --all) tier=all ;;
    --full) tier=full ;;
    *)
        help_if_asked "$@"
        break
        ;;
    esac
    shift
done

build=$COMMCOST_TOP/build-tests
# build_tests: builds the programs of the tier.
build_tests() {
    build_tree "$build" "-DCOMMCOST_TEST_TIER=$tier" -DCOMMCOST_WERROR=ON
}

install_missing gcc libc6-dev make cmake mpich libmpich-dev libcmocka-dev python3 iproute2 gnuplot-nox
if [ "$tier" != run ]; then
    # The build may need these, too.
    install_missing openmpi-bin libopenmpi-dev
    # Builds during the installation, which uses one processor. Most of the build needs none of these packages. The build
    # below repeats what fails here.
    build_tests &
    trap wait EXIT # if the installation fails
    trap 'trap - EXIT; kill 0' INT
    install_missing g++ git kmod procps shellcheck clang clang-format clang-tidy \
        libclang-rt-dev cppcheck valgrind help2man binutils python3-pandas python3-matplotlib jq \
        python3-jsonschema python3-junitparser python3-prometheus-client r-base-core \
        libsimgrid-dev util-linux munge slurm-client slurmctld slurmd libreoffice-calc python3-uno hpcc lammps \
        quantum-espresso cp2k nwchem bubblewrap
    # For variant_arm64, which skips without.
    (install_missing gcc-aarch64-linux-gnu qemu-user) || echo "no compiler or no emulator for arm64: continues without"
    wait
fi
build_tests

exec "$COMMCOST_TOP/tests/ctest.sh" "$build" "$@"
