#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A man page from the help of a program: NAME is the first sentence of its --help, after the usage.
#
# usage: man_page.sh HELP2MAN INCLUDED PROGRAM PAGE
set -eu
help2man=$1
included=$2
program=$3
page=$4
name=$("$program" --help | awk 'NF == 0 { if (paragraph++) exit } paragraph' | tr '\n' ' ' | sed 's/^ *//' | sed 's/[.:] .*//; s/\. *$//')
exec "$help2man" --no-info --source=commcost --manual=commcost "--name=$name" "--include=$included" \
    "--output=$page" "$program"
