#!/bin/sh
# cppcheck over every C file of the build, each as the build compiles it.
#
# Off, each with its reason:
#   missingInclude*           systems' headers are not read, since cppcheck knows their functions
#   variableScope             declarations stand together where the field's formulas do
#   unmatchedSuppression      suppressions in the sources are for other versions, too
#
# usage: cppcheck.sh SOURCE BUILD_FOLDER
set -eu
cd "$1"
cppcheck --project="$2/compile_commands.json" --enable=warning,performance,portability --std=c11 --quiet \
    --inline-suppr --error-exitcode=1 -j "$(getconf _NPROCESSORS_ONLN)" --suppress='missingInclude*' \
    --suppress=unmatchedSuppression --suppress="*:/usr/*" --template=gcc
