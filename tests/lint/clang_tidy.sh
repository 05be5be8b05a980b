#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# clang-tidy over every C file of the build, with the checks of .clang-tidy.
#
# usage: clang_tidy.sh SOURCE BUILD_FOLDER
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
. "$here/compiled_once.sh"
cd "$1"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
compiled_once "$2" "$scratch"
status=0
git ls-files '*.c' | while read -r file; do
    # Sources that this build doesn't compile have no flags to check them with.
    grep -q "\"file\": \".*/$file\"" "$scratch/compile_commands.json" && echo "$file"
done | xargs -P "$(getconf _NPROCESSORS_ONLN)" -n 4 \
    clang-tidy -p "$scratch" --quiet >"$scratch/found" 2>&1 || status=$?
# Warnings in the headers of others are no findings.
grep -v 'warnings\{0,1\} generated\.$' "$scratch/found" || :
exit "$status"
