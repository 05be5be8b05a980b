# What plot.sh and report.sh share: reading results. POSIX sh; sourced after lib.sh.
# shellcheck shell=sh

# Numbers with a point, whatever the user's language.
LC_ALL=C
export LC_ALL

# check_results RESULT...: that they are there.
check_results() {
    for result in "$@"; do
        case $result in
        *"
"*) misused "$result: no line breaks in names" ;;
        esac
        [ -e "$result" ] || misused "$result: no such file or folder"
    done
}

# result_kind FILE: which benchmark a TSV file is of, by its metadata or its columns:
# overlap (the size that takes the cutoff time), overlap_COLLECTIVE_sweep,
# mpi_overhead ..., or nothing.
result_kind() {
    awk -F '\t' '
        { sub(/\r$/, "") }
        /^# benchmark: / { benchmark = substr($0, 14); next }
        /^#/ || /^[ \t]*$/ { next }
        !headed { headed = 1; for (i = 1; i <= NF; i++) column[$i] = i; next }
        ("collective" in column) && ("model" in column) {
            rows++
            collective = $column["collective"]
            sweep = $column["model"] == "data" && $column["elements"] != "NA"
        }
        rows == 1 { exit }
        END {
            if (collective != "") {
                gsub(/[^A-Za-z0-9_]/, "_", collective)
                print (sweep ? "overlap_" collective "_sweep" : "overlap")
            } else if (!headed || benchmark ~ /^overlap_/) exit
            else if (benchmark != "" && benchmark !~ /[^a-z_]/ && benchmark != "bench_compare") print benchmark
            else if ("avail(%)" in column) print "mpi_overhead"
            else if (("rate_per_s" in column) && ("synchronisation" in column)) print "msgrate_rma"
            else if ("rate_per_s" in column) print "msgrate"
            else if ("arrangement" in column) print "pingpong"
            else if (("sync_us" in column) && ("neighbours" in column)) print "syncbench"
            else if (("method" in column) && ("local" in column)) print "halo"
            else if ("added_ns" in column) print "monitor_overhead"
        }' "$1"
}

# copy_text FROM TO: with question marks for bytes of 0, and for what isn't ASCII where the
# file isn't UTF-8: a page must be, and a number with such a byte in it is none.
copy_text() {
    strange='\000'
    if command -v iconv >/dev/null 2>&1 && ! iconv -f UTF-8 -t UTF-8 "$1" >/dev/null 2>&1; then
        strange='\000\200-\377'
    fi
    tr "$strange" '[?*]' <"$1" >"$2"
}

# collect_results RESULT FOLDER: copies the TSV files of a result (a file or a folder)
# to FOLDER/KIND/NUMBER.tsv.
collect_results() {
    number=1000
    if [ -d "$1" ]; then
        # Folders of single launches only, as run_suite.sh leaves them beside its files.
        found=
        for file in "$1"/*.tsv; do [ ! -f "$file" ] || found=yes; done
        if [ -n "$found" ]; then
            set -- "$2" "$1"/*.tsv
        else
            set -- "$2" "$1"/*/*.tsv "$1"/runs/*/*.tsv
        fi
    else
        set -- "$2" "$1"
    fi
    into=$1
    shift
    mkdir -p "$into"
    for file in "$@"; do
        [ -f "$file" ] || continue
        # run_suite.sh's own.
        [ ! -e "$(dirname "$file")/run_again.sh" ] || continue
        kind=$(result_kind "$file")
        case $kind in
        overlap | overlap_*_sweep | mpi_overhead | msgrate | msgrate_rma | pingpong | \
            syncbench | halo | monitor_overhead) ;;
        *)
            echo "$(basename "$0"): $file: not a result of a benchmark, left out" >&2
            continue
            ;;
        esac
        number=$((number + 1))
        mkdir -p "$into/$kind"
        copy_text "$file" "$into/$kind/$number.tsv"
        basename "$file" .tsv >"$into/$kind/$number.name"
    done
}

# result_names RESULT [OTHER]: sets new_label and base_label: the last parts of the
# paths, or the paths where these are the same.
result_names() {
    new_label=$(basename -- "$1" .tsv)
    base_label=
    [ $# -gt 1 ] || return 0
    base_label=$(basename -- "$2" .tsv)
    if [ "$new_label" = "$base_label" ]; then
        new_label=$1
        base_label=$2
    fi
}

# all_kinds FOLDER: the kinds in it, in the order of the README.
all_kinds() {
    for folder in "$1"/overlap "$1"/overlap_*_sweep "$1"/mpi_overhead "$1"/msgrate \
        "$1"/msgrate_rma "$1"/pingpong "$1"/syncbench "$1"/halo "$1"/monitor_overhead; do
        [ -d "$folder" ] && basename "$folder"
    done
    return 0
}
