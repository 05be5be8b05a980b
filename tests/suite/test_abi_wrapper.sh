#!/bin/sh
# Does the build know that a compiler wrapper builds for the standard's ABI, and hand on what the wrapper adds for
# that? The wrappers stand in for those of a library that has this ABI.
#
# usage: test_abi_wrapper.sh SOURCE MPICC
set -eu
source=$1
mpicc=$2
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

# expect TIMES COMPILER: how often the build says that this compiler is for the ABI, and compiles halo.c for it.
expect() {
    rm -rf "$work/build"
    cmake -S "$source" -B "$work/build" "-DMPI_C_COMPILER=$2" -DBUILD_TESTING=OFF >"$work/log" 2>&1 || fail "$2: $(cat "$work/log")"
    said=$(grep -c "^-- MPI ABI: the standard's" "$work/log") || true
    [ "$said" = "$1" ] || fail "$2: $said lines name the ABI: $(cat "$work/log")"
    commands=$(grep -c 'DMPI_ABI_VERSION=1 .*halo/halo\.c' "$work/build/compile_commands.json") || true
    [ "$commands" = "$1" ] || fail "$2: halo.c is compiled $commands times for the ABI"
}

expect 0 "$work/mpicc"
expect 1 "$work/mpicc_abi"
expect 1 "$work/mpicc -mpi-abi"
