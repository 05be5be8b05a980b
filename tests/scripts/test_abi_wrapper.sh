#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Does the build know that a compiler wrapper builds for the standard's ABI, and hand on what the wrapper adds for
# that? The wrappers stand in for those of a library that has this ABI. Does a build folder stay with its library?
#
# usage: test_abi_wrapper.sh SOURCE MPICC [MPICC OF ANOTHER LIBRARY]
set -eu
source=$1
mpicc=$2
other=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# As MPICH's: by its name, or by an option.
cat >"$work/mpicc" <<END
#!/bin/sh
abi=no
case \$0 in *_abi) abi=yes ;; esac
for word; do
    shift
    if [ "\$word" = -mpi-abi ]; then abi=yes; else set -- "\$@" "\$word"; fi
done
[ "\$abi" = no ] || set -- -DMPI_ABI_VERSION=1 -DMPI_ABI_SUBVERSION=0 "\$@"
exec "$mpicc" "\$@"
END
chmod +x "$work/mpicc"
ln -s mpicc "$work/mpicc_abi"

# expect TIMES COMPILER: how often the build reports that this compiler is for the ABI, and compiles halo.c for it.
expect() {
    rm -rf "$work/build"
    cmake -S "$source" -B "$work/build" "-DMPI_C_COMPILER=$2" -DBUILD_TESTING=OFF >"$work/log" 2>&1 || fail "$2: $(cat "$work/log")"
    named=$(grep -c "^-- MPI ABI: the standard's" "$work/log") || true
    [ "$named" = "$1" ] || fail "$2: $named lines name the ABI: $(cat "$work/log")"
    commands=$(grep -c 'DMPI_ABI_VERSION=1 .*halo/halo\.c' "$work/build/compile_commands.json") || true
    [ "$commands" = "$1" ] || fail "$2: halo.c is compiled $commands times for the ABI"
}

expect 0 "$work/mpicc"
expect 1 "$work/mpicc_abi"
expect 1 "$work/mpicc -mpi-abi"

# library: the MPI library's folder of headers, and the wrapper, by which the build folder calls it.
library() {
    sed -n 's/^MPI_C_HEADER_DIR:[A-Z]*=//p; s/^MPI_C_COMPILER:[A-Z]*=//p; s/^MPI_C_COMPILER_FLAGS:[A-Z]*=\(..*\)/\1/p' \
        "$work/build/CMakeCache.txt"
}

# begin MPICC: a new build folder of this wrapper.
begin() {
    rm -rf "$work/build"
    cmake -S "$source" -B "$work/build" "-DMPI_C_COMPILER=$1" -DBUILD_TESTING=OFF >"$work/log" 2>&1 ||
        fail "$1: $(cat "$work/log")"
    begun=$(library)
}

# refused OPTION...: the folder takes no other library, and stays with its own.
refused() {
    if cmake "$@" "$work/build" >"$work/log" 2>&1; then fail "$*: taken in a folder of $begun"; fi
    grep -q "rm -r '$work/build'" "$work/log" || fail "$*: $(cat "$work/log")"
    cmake "$work/build" >"$work/log" 2>&1 || fail "after $*: $(cat "$work/log")"
    [ "$(library)" = "$begun" ] || fail "after $*: the folder of $begun is of $(library)"
}

printf '#!/bin/sh\nexit 1\n' >"$work/broken"
chmod +x "$work/broken"
ln -s "$mpicc" "$work/name"
begin "$mpicc"
cmake "-DMPI_C_COMPILER=$mpicc" "$work/build" >"$work/log" 2>&1 || fail "the same wrapper: $(cat "$work/log")"
for wrapper in "$work/broken" "$work/nothing" "$mpicc -DA" ${other:+"$other"}; do
    refused "-DMPI_C_COMPILER=$wrapper"
done
refused "-DMPI_HOME=$work"
begin "$mpicc -DA"
refused "-DMPI_C_COMPILER=$mpicc"
# A name that leads elsewhere, as an alternative or a module does.
begin "$work/name"
ln -sf "$work/broken" "$work/name"
if cmake "$work/build" >"$work/log" 2>&1; then fail "$work/name leads elsewhere: taken"; fi
if [ -n "$other" ]; then
    begin "$other"
    refused "-DMPI_C_COMPILER=$mpicc"
fi
