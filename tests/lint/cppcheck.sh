#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# cppcheck over every C file of the build, each as the build compiles it.
#
# The tables of functions (.def) are beyond its parser: macros with the signs of a parameter list for arguments. It
# doesn't read MPI's headers: what they define is given here. Its warnings in the system's headers are not ours. Other
# suppressions stand in the sources, each with its reason; some versions of cppcheck have no use for them.
#
# usage: cppcheck.sh SOURCE BUILD_FOLDER
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
. "$here/compiled_once.sh"
cd "$1"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
compiled_once "$2" "$scratch"
cppcheck --project="$scratch/compile_commands.json" --enable=warning,performance,portability --std=c11 --quiet \
    --inline-suppr --library=tests/lint/cppcheck.cfg --suppress=unmatchedSuppression --suppress="*:/usr/*" \
    -DMPICH_VERSION -DMPI_VERSION=4 --suppress="internalAstError:*.def" --suppress="syntaxError:*.def" \
    --error-exitcode=1 -j "$(getconf _NPROCESSORS_ONLN)" --template=gcc
