#!/bin/sh
# Draws the results of the benchmarks with gnuplot, one picture a benchmark (three of
# pingpong): overlap and time over size, overhead and availability over size, message
# rates, latency and bandwidth, synchronisation, halo swaps, the monitor's cost. With
# two results the second is the base, drawn dashed and paler, or grey. Prints the names
# of the pictures.
#
# usage: plot.sh [--output=FOLDER] [--format=svg,png] RESULTS [BASE_RESULTS]
#   RESULTS   a folder of .tsv files, or one file
#   --output  where the pictures go; default: RESULTS/pictures, or beside the file
#   --data    leave gnuplot's data, PICTURE.tsv and PICTURE.set, in the output folder, too
set -eu

COMMCOST_TOP=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
. "$COMMCOST_TOP/run_scripts/lib.sh"
. "$COMMCOST_TOP/run_scripts/plots/results.sh"
plots=$COMMCOST_TOP/run_scripts/plots

output=
formats="svg png"
keep_data=no
while [ $# -gt 0 ]; do
    case $1 in
    --output=?*) output=$(as_path "${1#*=}") ;;
    --format=svg | --format=png | --format=svg,png | --format=png,svg)
        formats=$(echo "${1#*=}" | tr ',' ' ')
        ;;
    --format=*) misused "--format: '${1#*=}' is not svg, png or svg,png" ;;
    --data) keep_data=yes ;;
    -h | --help)
        print_help
        exit 0
        ;;
    --)
        shift
        break
        ;;
    -*) misused "$1: no such option, use --output=FOLDER or --format=svg,png" ;;
    *) break ;;
    esac
    shift
done
case $# in
1 | 2) ;;
0) misused "which results? use plot.sh [--output=FOLDER] [--format=svg,png] RESULTS [BASE_RESULTS]" ;;
*) misused "$3: two results at most" ;;
esac
check_results "$@"
result_names "$@"
first=$(as_path "$1")
if [ $# -eq 1 ]; then set -- "$first"; else set -- "$first" "$(as_path "$2")"; fi
command -v gnuplot >/dev/null 2>&1 || die "no gnuplot: install it (Debian: gnuplot-nox)"

if [ -z "$output" ]; then
    if [ -d "$1" ]; then output=$1/pictures; else output=$(dirname "$1"); fi
fi
mkdir -p "$output" 2>/dev/null || die "--output: cannot make the folder $output"
output=$(cd "$output" && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
collect_results "$1" "$work/new"
names=1
if [ $# -eq 2 ]; then
    collect_results "$2" "$work/base"
    names=2
fi
cd "$work"
ln -s "$plots" plots
[ -n "$(all_kinds new)" ] || die "$1: no results of benchmarks in there"

# describe SET LABEL: a result's name and where it is from, for gnuplot.
describe() {
    set -- "$1" "$2" "$1/$kind"/*.tsv
    label=$2 awk '
        BEGIN { label = ENVIRON["label"]; variable = ARGV[1]; ARGV[1] = ARGV[2] = "" }
        /^# ranks: / && ranks == "" { ranks = $3 }
        /^# nodes: / && nodes == "" { nodes = $3 }
        /^# mpi_library: / && library == "" {
            library = substr($0, 16)
            sub(/ Version:/, "", library)
            sub(/,.*/, "", library)
            sub(/ *$/, "", library)
        }
        END {
            if (ranks != "") label = label ": " ranks (ranks == 1 ? " process" : " processes")
            if (ranks != "" && nodes != "") label = label " on " nodes (nodes == 1 ? " node" : " nodes")
            if (library != "") label = label ", " library
            gsub(/'\''/, "\342\200\231", label)
            print variable "_name = '\''" label "'\''"
        }' "$@"
}

# table NAME [VARIABLE=VALUE]...: the data of a panel, of the kind at hand.
table() {
    name=$1
    shift
    for setting in "$@"; do
        set -- "$@" -v "$setting"
        shift
    done
    set -- "$@" -v "settings=$name.set" -v "colours=$plots/colours.tsv" \
        result=new "new/$kind"/[0-9]*.tsv
    [ ! -d "base/$kind" ] || set -- "$@" result=base "base/$kind"/[0-9]*.tsv
    awk -f "$plots/numbers.awk" -f "$plots/table.awk" "$@" >"$name.tsv"
}

# drawable NAME...: whether each of these tables has rows.
drawable() {
    for name in "$@"; do
        if grep -q '^rows = 0$' "$name.set"; then
            echo "plot.sh: $picture: nothing to draw (no values in column of '$name')" >&2
            return 1
        fi
    done
}

# draw PICTURE PROGRAM: in each format.
failed=0
draw() {
    {
        echo "folder = 'plots'"
        echo "names = $shown"
        echo "body = $((49 + 19 * shown))"
        describe new "$new_label"
        [ "$shown" -eq 1 ] || describe base "$base_label"
        printf '%s\n' "$extra"
    } >names.set
    for format in $formats; do
        if gnuplot -e "format = '$format'; output = 'picture.$format'" names.set \
            "plots/$2.gp" >gnuplot.log 2>&1 && [ -s "picture.$format" ]; then
            mv "picture.$format" "$output/$1.$format"
            echo "$output/$1.$format"
        else
            echo "plot.sh: gnuplot could not draw $1.$format:" >&2
            cat gnuplot.log >&2
            failed=1
        fi
    done
    [ "$keep_data" = no ] || for name in $tables; do
        cp "$name.tsv" "$output/$1.$name.tsv"
        cp "$name.set" "$output/$1.$name.set"
    done
}

# picture PICTURE PROGRAM TABLE...: draws it if there is something to draw.
picture() {
    picture=$1
    program=$2
    shift 2
    tables=$*
    drawable "$@" || return 0
    draw "$picture" "$program"
}

# How many values a column has in the results at hand.
distinct() {
    awk -F '\t' -v name="$1" '
        FNR == 1 { headed = 0; at = 0 }
        /^#/ { next }
        !headed { headed = 1; for (i = 1; i <= NF; i++) if ($i == name) at = i; next }
        at && !($at in seen) { seen[$at] = 1; count++ }
        END { print count + 0 }' new/"$kind"/[0-9]*.tsv
}

for kind in $(all_kinds new); do
    shown=1
    [ "$names" -eq 2 ] && [ -d "base/$kind" ] && shown=2
    [ "$names" -eq 1 ] || [ "$shown" -eq 2 ] ||
        echo "plot.sh: $kind: not in the base" >&2
    extra=
    case $kind in
    overlap)
        table overlap series=collective y=overlap_pct lo=overlap_lo_pct \
            hi=overlap_hi_pct scale=percent most=40
        picture overlap overlap overlap
        ;;
    overlap_*_sweep)
        table overlap "series=collective" x=size_bytes y=overlap_pct \
            lo=overlap_lo_pct hi=overlap_hi_pct scale=percent
        table time "series=collective" x=size_bytes y=ref_us lo=ref_lo_us \
            hi=ref_hi_us log_from=20
        collective=${kind#overlap_}
        extra="collective = '${collective%_sweep}'"
        picture "$kind" overlap_sweep overlap time
        ;;
    mpi_overhead)
        table overhead "series=direction,pair?:pair %" x=msgsize y=overhead \
            lo=overhead_lo_us hi=overhead_hi_us log_from=20 gap=0.065
        table available "series=direction,pair?:pair %" x=msgsize "y=avail(%)" \
            lo=avail_lo_pct hi=avail_hi_pct scale=percent gap=0.085
        picture mpi_overhead mpi_overhead overhead available
        ;;
    msgrate | msgrate_rma)
        if [ "$kind" = msgrate ]; then
            series="pattern,cache_size?:flush %,job_size?:% ranks"
            extra="title_of = 'How fast messages go, after the caches were flushed'"
        else
            series="transfer,synchronisation,pattern,threads?:% threads,cache_size?:flush %,job_size?:% ranks"
            extra="title_of = 'How fast MPI_Put and MPI_Get go, after the caches were flushed'"
        fi
        if [ "$(distinct nbytes)" -gt 3 ]; then
            table rate "series=$series,nmsgs?:% messages,npeers?:% peers" x=nbytes \
                y=rate_per_s lo=rate_lo_per_s hi=rate_hi_per_s log_from=20
            extra="$extra
over_sizes = 1"
        else
            table rate "series=$series" "panel=nbytes:messages of % bytes,nmsgs:% to each peer,npeers:peers: %" \
                y=rate_per_s lo=rate_lo_per_s hi=rate_hi_per_s y_factor=0.000001 most=40
            extra="$extra
over_sizes = 0"
        fi
        picture "$kind" msgrate rate
        ;;
    pingpong)
        main="pattern=put;get;MPI Send"
        size="size_title = 'data (bytes)'"
        title="title_of = 'What a transfer takes, synchronisation included'"
        table pingpong "series=pattern,sync?" x=ndata x_factor=8 y=latency_us \
            lo=latency_lo_us hi=latency_hi_us "keep=$main" prefer=arrangement=single log_from=20
        extra="$size
$title
quantity_title = 'latency (µs)'"
        picture pingpong_latency pingpong pingpong
        table pingpong "series=pattern,sync?" x=ndata x_factor=8 y=bwidth_mbs \
            "keep=$main" prefer=arrangement=single log_from=20
        extra="$size
title_of = 'The bandwidth of a transfer, synchronisation included'
quantity_title = 'bandwidth (MB/s; MB = 2^20 bytes)'"
        picture pingpong_bandwidth pingpong pingpong
        if grep -q '	many \(put\|get\)	' new/pingpong/[0-9]*.tsv; then
            table pingpong "series=pattern,sync?" x=blksize x_factor=8 y=latency_us \
                lo=latency_lo_us hi=latency_hi_us \
                "keep=pattern=many put;many get;strided many put;strided many get|sync=all" \
                prefer=arrangement=single log_from=20
            extra="size_title = 'size of a piece (bytes)'
title_of = 'The largest transfer, cut into pieces'
quantity_title = 'time for all pieces (µs)'"
            picture pingpong_pieces pingpong pingpong
        fi
        ;;
    syncbench)
        table sync "series=sync,neighbours?:% neighbours,ranks?:% ranks" y=sync_us lo=sync_lo_us hi=sync_hi_us \
            most=60
        picture syncbench syncbench sync
        ;;
    halo)
        if [ "$(distinct local)" -gt 4 ]; then
            table halo "series=method,sync?,dims?" x=ndata x_factor=8 y=latency_us \
                lo=latency_lo_us hi=latency_hi_us most=12
            extra="over_sizes = 1"
        else
            table halo "series=method,sync?" \
                "panel=local:box of % doubles,dims?:% processes,ndata:% values sent" y=latency_us \
                lo=latency_lo_us hi=latency_hi_us most=20
            extra="over_sizes = 0"
        fi
        picture halo halo halo
        ;;
    monitor_overhead)
        table added "series=call" "panel=mode:monitor %" y=added_ns \
            lo=added_lo_ns hi=added_hi_ns most=60
        picture monitor_overhead monitor_overhead added
        ;;
    esac
done
exit "$failed"
