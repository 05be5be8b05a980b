#!/bin/sh
# clang-tidy over every C file of the build, with the checks of .clang-tidy.
#
# usage: clang_tidy.sh SOURCE BUILD_FOLDER
set -eu
cd "$1"
git ls-files '*.c' | while read -r file; do
    # Sources that this build doesn't compile have no flags to check them with.
    grep -q "\"file\": \".*/$file\"" "$2/compile_commands.json" && echo "$file"
done | xargs -P "$(getconf _NPROCESSORS_ONLN)" -n 4 \
    clang-tidy -p "$2" --quiet
