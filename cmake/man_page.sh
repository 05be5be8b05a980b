#!/bin/sh
# A man page from what a program says of itself: NAME is the first sentence of its --help.
#
# usage: man_page.sh HELP2MAN INCLUDED PROGRAM PAGE
set -eu
help2man=$1
included=$2
program=$3
page=$4
name=$("$program" --help | awk 'NR > 2 && NF == 0 { exit } NR > 2' | tr '\n' ' ' | sed 's/[.:] .*//; s/\. *$//')
exec "$help2man" --no-info --source=commcost --manual=commcost "--name=$name" "--include=$included" \
    "--output=$page" "$program"
