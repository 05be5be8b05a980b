#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Writes FOLDER/commcost, bash's completion of options, from the --help of each program, and a link to it for each name.
#
# usage: completion.sh FOLDER NAME=PROGRAM...
set -eu
folder=$1
shift

# Prints the options of a help on one line: --check --output= --format=tsv,table,json. Names on one line of the help are
# one option's and share its values. Values in capitals are placeholders.
options_in_help() {
    sed -n 's/^ \{2,\}\(-[a-zA-Z], \)\{0,1\}\(--[a-z].*\)/\2/p' | sed 's/ \{2,\}.*//; s/[{}]//g' | awk '{
        names_count = split($0, names, ", ")
        values = ""
        for (i = 1; i <= names_count; i++)
            if (sub("=", " ", names[i])) {
                values_count = split(substr(names[i], index(names[i], " ") + 1), parts, "[|,]")
                for (k = 1; k <= values_count; k++)
                    if (parts[k] ~ /^[a-z][a-z0-9-]*$/)
                        values = values "," parts[k]
                sub(" .*", "", names[i])
                values = "=" substr(values, 2)
            }
        for (i = 1; i <= names_count; i++)
            printf "%s%s ", names[i], values
    }'
}

rm -rf "$folder"
mkdir -p "$folder"
names=
for pair in "$@"; do
    name=${pair%%=*}
    options=$("${pair#*=}" --help | options_in_help)
    [ -n "$options" ] || continue
    names="$names $name"
    ln -s commcost "$folder/$name"
    printf '%s\t%s\n' "$name" "$options"
done >"$folder/options"
{
    cat <<'END'
# Bash completion of commcost's options, made by cmake/completion.sh.

_commcost()
{
    local IFS=$' \t\n' word=${COMP_LINE:0:COMP_POINT} command options= option
    word=${word##*[[:space:]]}
    COMPREPLY=()
    [[ $word == -* ]] || return 0
    for command in "${COMP_WORDS[@]}"; do
        case ${command##*/} in
END
    # Programs with the same options share a line.
    awk -F '\t' '{
        if (!($2 in names))
            order[++count] = $2
        names[$2] = names[$2] (names[$2] == "" ? "" : " | ") $1
    } END {
        for (i = 1; i <= count; i++)
            printf "        %s) options=\"%s\" ;;\n", names[order[i]], order[i]
    }' "$folder/options"
    cat <<'END'
        esac
        [[ -z $options ]] || break
    done
    for option in $options; do
        if [[ $word != *=* ]]; then
            COMPREPLY+=($(compgen -W "${option/=*/=}" -- "$word"))
        elif [[ ${option%%=*} == "${word%%=*}" ]]; then
            option=${option#*=}
            COMPREPLY+=($(compgen -W "${option//,/ }" -- "${word#*=}"))
        fi
    done
    [[ ${COMPREPLY[*]} != *= ]] || compopt -o nospace
}
END
    echo "complete -o default -F _commcost$names"
} >"$folder/commcost"
rm "$folder/options"
