#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A man page from the help of a program. NAME is the page's name and the first sentence of --help, except its usage.
#
# usage: man_page.sh HELP2MAN VERSION INCLUDED PROGRAM PAGE
set -eu
help2man=$1
version=$2
included=$3
program=$4
page=$5
name=$("$program" --help | awk 'BEGIN { RS = "" } !/^[Uu]sage:/ { print; exit }' | tr '\n' ' ' | sed 's/^ *//' | sed 's/[.:] .*//; s/\. *$//')
"$help2man" --no-info --source=commcost --manual=commcost "--name=$name" "--version-string=$version" \
    "--include=$included" --output="$page" "$program"
old=$(basename "$program")
new=$(basename "$page" .1)
sed -i -e "s/^$old \\\\- /$new \\\\- /" -e '/^default: /i .br' -e '/^environment: /i .br' -e '/^FOLDER\//i .br' "$page"
