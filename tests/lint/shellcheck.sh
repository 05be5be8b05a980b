#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs shellcheck over every shell script.
#
# usage: shellcheck.sh SOURCE
set -eu
cd "$1"
{
    git ls-files '*.sh'
    echo .ci/run debian/tests/pingpong
} | xargs shellcheck -x --source-path=SCRIPTDIR --source-path="$1"
