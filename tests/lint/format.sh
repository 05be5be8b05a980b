#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# All C is formatted as .clang-format requires.
#
# usage: format.sh SOURCE
set -eu
cd "$1"
git ls-files '*.c' '*.h' | xargs clang-format --dry-run --Werror
