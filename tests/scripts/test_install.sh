#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Is what `cmake --install` and the packages make complete? Used from another folder, where the source tree and the
# build can't be found.
#
# usage: test_install.sh suite|packages SOURCE BUILD
set -eu
what=$1
source=$2
build=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# expect_file FILE...
expect_file() {
    for file in "$@"; do
        [ -e "$file" ] || fail "no $file"
    done
}

# The programs of a prefix run, and its scripts find them, after the whole tree was moved.
suite() {
    DESTDIR=$work/there cmake --install "$build" --prefix /usr >"$work/log" || fail "$(cat "$work/log")"
    mv "$work/there/usr" "$work/moved"
    mkdir "$work/elsewhere"
    cd "$work/elsewhere"
    PATH=$work/moved/bin:$PATH
    export PATH
    commcost-run-suite --benchmarks=overlap_ibarrier,halo,monitor_overhead --runs=2 --ranks=2 \
        --options='all: --max-time=0.02' --options='halo: --local=5' --output=first
    commcost-run-suite --benchmarks=overlap_ibarrier,halo,monitor_overhead --runs=2 --ranks=2 \
        --options='all: --max-time=0.02' --options='halo: --local=5' --output=second
    expect_file first/overlap_ibarrier.tsv first/halo.tsv first/monitor_overhead.tsv
    bench_compare first second >compared.tsv || [ $? -eq 3 ] || fail "bench_compare"
    grep -q '^halo' compared.tsv || fail "bench_compare has no row of halo"
    commcost-run-suite --benchmarks=overlap_ibarrier --runs=1 --ranks=2 --options='all: --max-time=0.02'
    expect_file results/*/overlap_ibarrier.tsv
    commcost-run-suite --benchmarks=halo --runs=1 --ranks=2 --budget=0 --output=none 2>errors || true
    grep -q 'To resume: commcost-run-suite --resume=' errors || fail "no command that resumes: $(cat errors)"
    commcost-mpi-overhead-sweep --max-time=0.01 --msgsize=8 --output=sweep.tsv
    expect_file sweep.tsv
    commcost-plot --output=pictures first
    expect_file pictures/halo.svg
    commcost-report --output=page.html --base=second first
    grep -q '<svg' page.html || fail "the page has no picture"
    grep -q 'not clear\|same\|slower\|faster' page.html || fail "the page has no comparison"
    commcost-report-text first | grep -q 'Halo exchange' || fail "the report has no halo"
    if [ -n "$(command -v help2man)" ]; then
        expect_file "$work/moved/share/man/man1/halo.1" "$work/moved/share/man/man1/bench_compare.1" \
            "$work/moved/share/man/man1/commcost-sweep.1"
        grep -q 'halo \\- Measures a 3D halo exchange' "$work/moved/share/man/man1/halo.1" || fail "halo.1 has no name"
        without=$(grep -L '^\.SH SYNOPSIS' "$work"/moved/share/man/man1/*) || true
        [ -z "$without" ] || fail "without a synopsis: $without"
    fi
    expect_file "$work/moved/share/bash-completion/completions/halo"
    commcost-tune --help | grep -q '^Usage: tune.sh' || fail "commcost-tune"
    commcost-checkup --ranks=2 --seconds=0 --limit=10m | grep -q '^  ok  *Start' || fail "commcost-checkup"
    library=$(find "$work/moved" -name libmpirtmon.so)
    expect_file "$library" "$work/moved/include/mpirtmon.h"
    if [ -n "$(command -v pkg-config)" ]; then
        PKG_CONFIG_PATH=$(dirname "$library")/pkgconfig
        export PKG_CONFIG_PATH
        [ "$(readlink -f "$(pkg-config --variable=libdir mpirtmon)/libmpirtmon.so")" = "$(readlink -f "$library")" ] ||
            fail "libdir of mpirtmon.pc"
        printf '#include <mpirtmon.h>\nint main(void) { return MPIX_End_monitor(NULL, NULL); }\n' >program.c
        # shellcheck disable=SC2046 # lists of words
        "$(sed -n 's/^MPI_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")" $(pkg-config --cflags mpirtmon) program.c \
            $(pkg-config --libs mpirtmon) || fail "mpirtmon.pc"
    fi
    pages=$work/moved/share/doc/commcost
    expect_file "$pages/LICENSE" "$pages/README.md" "$pages/halo/README.md" "$pages/docs/output.md" "$pages/docs/halo.svg"
    # Nothing of it leads back.
    if grep -rlF "$source/run_scripts" "$work/moved" | grep -v 'libexec\|/lib'; then
        fail "these know the source tree"
    fi
}

# debian/ finds what it installs; the source archive builds.
packages() {
    cd "$build"
    DESTDIR=$work/there cmake --install "$build" --prefix /usr >"$work/log" || fail "$(cat "$work/log")"
    # debian/rules chooses the places in usr/lib.
    cat "$source"/debian/*.install | grep -v '^usr/lib/' >"$work/lists"
    while read -r path; do
        # shellcheck disable=SC2086 # a pattern
        case $path in
        usr/share/man/*) [ -z "$(command -v help2man)" ] || expect_file "$work/there/"$path ;;
        *) expect_file "$work/there/$path" ;;
        esac
    done <"$work/lists"
    cpack --config CPackSourceConfig.cmake -B "$work/source" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
    tar -xzf "$(find "$work/source" -maxdepth 1 -name '*.tar.gz')" -C "$work"
    tree=$(find "$work" -maxdepth 1 -name 'commcost-*')
    expect_file "$tree/CMakeLists.txt" "$tree/run_scripts/quickstart.sh" "$tree/tests/run.sh"
    [ ! -e "$tree/.git" ] || fail "the archive has the history"
    compiler=$(sed -n 's/^MPI_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
    cmake -S "$tree" -B "$work/build" "-DMPI_C_COMPILER=$compiler" -DBUILD_TESTING=OFF >"$work/log" 2>&1 || fail "$(cat "$work/log")"
    cmake --build "$work/build" -j 2 --target halo >"$work/log" 2>&1 || fail "$(cat "$work/log")"
    "$work/build/halo/halo" --version
    for file in spack/package.py reframe/commcost_check.py reframe/eessi_commcost.py; do
        python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$tree/integrations/$file"
    done
}

"$what"
