#!/bin/sh
# Summarizes the TSV files of a results folder as Markdown on stdout: PROGRAM.tsv, as
# run_suite.sh names them. With several runs each row names its own. (report.sh takes
# files of any name.)
#
# usage: report_text.sh RESULTS_FOLDER
set -eu

COMMCOST_TOP=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
. "$COMMCOST_TOP/run_scripts/lib.sh"
parts=$COMMCOST_TOP/run_scripts/report

case ${1:-} in
-h | --help)
    print_help
    exit 0
    ;;
"") misused "which results? use report_text.sh RESULTS_FOLDER" ;;
esac
[ $# -eq 1 ] || misused "$2: one results folder at most"
[ -d "$1" ] || misused "$1: no such folder"
cd "$(as_path "$1")"

first=
for file in ./*.tsv; do
    [ ! -e "$file" ] || first=${first:-$file}
done
[ -n "$first" ] || die "$1: no .tsv files in this folder"
for file in *.tsv; do
    case ${file%.tsv} in
    overlap_i* | mpi_overhead | msgrate | msgrate_rma | pingpong | syncbench | halo | \
        monitor_overhead) ;;
    *) complain "$file: left out, it isn't named as run_suite.sh names results" ;;
    esac
done

# For awk: a cell of the row by its column's name, which a file may lack.
# shellcheck disable=SC2016  # awk's
cell_of_row='function cell(name) { return (name in column) ? $column[name] : "NA" }'

# content FILE: header row and rows. The column run is left out where there is but
# one, else it goes into the first cell of each row.
content() {
    awk -F '\t' -v OFS='\t' -v several="$([ -d runs/2 ] && echo yes)" '
        /^#/ { next }
        !header {
            header = 1
            has_run = $1 == "run"
            if (has_run) sub(/^[^\t]*\t/, "")
            print
            next
        }
        has_run {
            run = $1
            sub(/^[^\t]*\t/, "")
            if (several) $1 = $1 " (run " run ")"
        }
        { print }' "./$1"
}

echo "# What communication costs here"
echo
for key in date processor processors cores kernel mpi_library mpi_device ranks nodes \
    hosts binding commit; do
    sed -n "s/^# $key: /- $key: /p" "$first"
done

# The rows of a model, as table rows: columns are found by name.
rows() {
    content "$2" | awk -F '\t' -v model="$1" "$cell_of_row"'
        NR == 1 {
            for (i = 1; i <= NF; i++) column[$i] = i
            next
        }
        cell("model") == model {
            printf "| %s | %s | %s | %s | %s | %s to %s | %s |\n",
                cell("collective"), cell("elements"),
                cell("size_bytes"), cell("ref_us"),
                cell("overlap_pct"), cell("overlap_lo_pct"),
                cell("overlap_hi_pct"), cell("status")
        }'
}

table_head() {
    echo
    echo "| collective | elements | bytes | reference (us) | overlap (%) | interval (%) | status |"
    echo "| --- | ---: | ---: | ---: | ---: | --- | --- |"
}

set --
for file in overlap_*.tsv; do
    case $file in
    *_sweep.tsv) ;;
    *) [ ! -e "$file" ] || set -- "$@" "$file" ;;
    esac
done
if [ $# -gt 0 ]; then
    echo
    echo "## Work that fits under each operation"
    echo
    echo "overlap: the share of the operation's own time in which the processor"
    echo "could do other work without making the operation take longer."
    echo "status: ok; budget: the time was up before the interval was as narrow as"
    echo "asked; max-size: no size up to the largest took a millisecond, so the"
    echo "largest was measured. Intervals hold for one launch; others may differ."
    table_head
    for file; do
        case $file in
        overlap_ibarrier.tsv) rows data "$file" ;;
        *) rows time "$file" ;;
        esac
    done
fi

set -- overlap_*_sweep.tsv
if [ -e "$1" ]; then
    echo
    echo "## The same over sizes"
    table_head
    for file; do
        rows data "$file"
    done
fi

if [ -e mpi_overhead.tsv ]; then
    echo
    echo "## What a message takes of the processor"
    echo
    echo "| direction | bytes | overhead (us) | transfer (us) | available (%) | status |"
    echo "| --- | ---: | ---: | ---: | ---: | --- |"
    content mpi_overhead.tsv | awk -F '\t' "$cell_of_row"'
        NR == 1 {
            for (i = 1; i <= NF; i++) column[$i] = i
            next
        }
        {
            printf "| %s | %s | %s | %s | %s | %s |\n",
                cell("direction"), cell("msgsize"), cell("overhead"),
                cell("transfer_us"), cell("avail(%)"), cell("status")
        }'
fi

if [ -e msgrate.tsv ] || [ -e msgrate_rma.tsv ]; then
    echo
    echo "## How fast messages go, with cold caches"
    echo
    echo "Messages that a process sends and receives in a second."
    echo
    echo "| pattern | synchronisation | peers | bytes | rate (1/s) | interval (1/s) | status |"
    echo "| --- | --- | ---: | ---: | ---: | --- | --- |"
    for file in msgrate.tsv msgrate_rma.tsv; do
        [ -e "$file" ] || continue
        content "$file" | awk -F '\t' "$cell_of_row"'
            NR == 1 {
                for (i = 1; i <= NF; i++) column[$i] = i
                next
            }
            {
                sync = ("synchronisation" in column) ? \
                    cell("transfer") ", " cell("synchronisation") : "two-sided"
                printf "| %s | %s | %s | %s | %s | %s to %s | %s |\n",
                    cell("pattern"), sync, cell("npeers"),
                    cell("nbytes"), cell("rate_per_s"),
                    cell("rate_lo_per_s"), cell("rate_hi_per_s"),
                    cell("status")
            }'
    done
fi

# table FILE COLUMN=HEADING...: the rows of a file, those columns of them. Nothing if
# there is no such file.
table() {
    file=$1
    shift
    [ -e "$file" ] || return 0
    content "$file" | awk -F '\t' "$cell_of_row"'
        BEGIN {
            count = ARGC - 1
            for (i = 1; i <= count; i++) {
                split(ARGV[i], words, "=")
                wanted[i] = words[1]
                head = head "| " words[2] " "
                rule = rule "| --- "
                ARGV[i] = ""
            }
            print head "|"
            print rule "|"
        }
        NR == 1 {
            for (i = 1; i <= NF; i++) column[$i] = i
            next
        }
        {
            for (i = 1; i <= count; i++) printf "| %s ", cell(wanted[i])
            print "|"
        }' "$@"
}

if [ -e pingpong.tsv ]; then
    printf '\n## What a transfer takes, synchronisation included\n\n'
    table pingpong.tsv arrangement=arrangement pattern=pattern \
        sync=synchronisation ndata=doubles "latency_us=latency (us)" \
        "latency_lo_us=from" "latency_hi_us=to" "bwidth_mbs=MB/s" status=status
fi
if [ -e syncbench.tsv ]; then
    printf '\n## What synchronisation takes\n\n'
    table syncbench.tsv sync=synchronisation neighbours=neighbours \
        "sync_us=time (us)" "sync_lo_us=from" "sync_hi_us=to" status=status
fi
if [ -e halo.tsv ]; then
    printf '\n## What a halo swap takes\n\n'
    table halo.tsv method=method sync=synchronisation dims=processes local=box \
        ndata=doubles "latency_us=time (us)" "latency_lo_us=from" \
        "latency_hi_us=to" "bwidth_mbs=MB/s" status=status
fi
if [ -e monitor_overhead.tsv ]; then
    printf '\n## What monitoring adds to a call\n\n'
    table monitor_overhead.tsv call=calls "mode=monitor" "direct_ns=without (ns)" \
        "added_ns=added (ns)" added_lo_ns=from added_hi_ns=to status=status
fi

echo
echo "## Warnings"
echo
set --
for file in *.tsv; do
    set -- "$@" "name=${file%.tsv}" "./$file"
done
awk -f "$parts/warnings.awk" -f "$parts/warnings_markdown.awk" -v what=warning "$@"
