#!/bin/sh
# Makes one HTML page of a results folder: the machine, warnings, and for each
# benchmark how to read it, its picture and its table. With a second folder, the base,
# the pictures and tables show both, and bench_compare's verdicts are added. The page
# is one file that needs no script and no network.
#
# usage: report.sh [--output=FILE] RESULTS [BASE_RESULTS]
#   RESULTS   a folder of .tsv files, or one file
#   --output  default: RESULTS/report.html, or beside the file
#
# Environment:
#   BENCH_COMPARE  the program; default: the one of the build, or on the PATH
set -eu

COMMCOST_TOP=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
. "$COMMCOST_TOP/run_scripts/lib.sh"
. "$COMMCOST_TOP/run_scripts/plots/results.sh"
parts=$COMMCOST_TOP/run_scripts/report
numbers=$COMMCOST_TOP/run_scripts/plots/numbers.awk

output=
while [ $# -gt 0 ]; do
    case $1 in
    --output=?*) output=$(as_path "${1#*=}") ;;
    -h | --help)
        print_help
        exit 0
        ;;
    --)
        shift
        break
        ;;
    -*) misused "$1: no such option, use --output=FILE" ;;
    *) break ;;
    esac
    shift
done
case $# in
1 | 2) ;;
0) misused "which results? use report.sh [--output=FILE] RESULTS [BASE_RESULTS]" ;;
*) misused "$3: two results at most" ;;
esac
check_results "$@"
result_names "$@"
first=$(as_path "$1")
if [ $# -eq 1 ]; then set -- "$first"; else set -- "$first" "$(as_path "$2")"; fi
if [ -z "$output" ]; then
    if [ -d "$1" ]; then output=$1/report.html; else output=${1%.tsv}.html; fi
fi
case $output in
/*) ;;
*) output=$PWD/$output ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
collect_results "$1" "$work/new"
[ $# -eq 1 ] || collect_results "$2" "$work/base"
export new_label base_label
[ -n "$(all_kinds "$work/new")" ] || die "$1: no results of benchmarks in there"

# The pictures.
mkdir "$work/pictures"
pictures_note=
if ! command -v gnuplot >/dev/null 2>&1; then
    pictures_note="There are no pictures: gnuplot is not installed here (Debian: gnuplot-nox)."
    echo "report.sh: no gnuplot: a page without pictures" >&2
elif ! sh "$COMMCOST_TOP/run_scripts/plot.sh" "--output=$work/pictures" --format=svg \
    "$@" >/dev/null 2>"$work/plot.log"; then
    pictures_note="Some pictures could not be drawn."
    cat "$work/plot.log" >&2
fi

# The comparison.
if [ $# -eq 2 ]; then
    compare=${BENCH_COMPARE:-$COMMCOST_TOP/build/run_scripts/bench_compare/bench_compare}
    # As installed, in share/commcost.
    [ -x "$compare" ] || compare=$COMMCOST_TOP/../../bin/bench_compare
    command -v "$compare" >/dev/null 2>&1 || compare=$(command -v bench_compare) || compare=
    if [ -n "$compare" ]; then
        "$compare" "$2" "$1" >"$work/compare.tsv" 2>"$work/compare.log" || : # says what it found
    fi
fi
cd "$work"

escape() {
    printf '%s\n' "$1" | sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g; s/"/\&quot;/g'
}

# messages WHAT: the list of warnings or notes.
messages() {
    what=$1
    set --
    for file in new/*/[0-9]*.tsv base/*/[0-9]*.tsv; do
        [ -f "$file" ] || continue
        case $file in base/*) which=" (base)" ;; *) which= ;; esac
        set -- "$@" "name=$(cat "${file%.tsv}.name")$which" "$file"
    done
    awk -f "$parts/html.awk" -f "$parts/warnings.awk" -f "$parts/warnings_html.awk" \
        -v "what=$what" "$@"
}

# rows KEYS QUANTITIES: the table of the kind at hand.
rows() {
    if [ -d "base/$kind" ]; then
        awk -f "$numbers" -f "$parts/html.awk" -f "$parts/rows.awk" -v "keys=$1" \
            -v "quantities=$2" result=new new/"$kind"/[0-9]*.tsv \
            result=base base/"$kind"/[0-9]*.tsv
    else
        awk -f "$numbers" -f "$parts/html.awk" -f "$parts/rows.awk" -v "keys=$1" \
            -v "quantities=$2" result=new new/"$kind"/[0-9]*.tsv
    fi
}

# figure PICTURE TEXT: with names of its own inside, since all share one page.
figure() {
    [ -s "pictures/$1.svg" ] || return 0
    echo "<figure role=\"img\" aria-label=\"$2\">"
    sed -e '/^<?xml/d' -e '/<!DOCTYPE/d' -e '/^ "http:.*dtd">/d' \
        -e "s/id=\(['\"]\)/id=\1$1-/g" -e "s/href=\(['\"]\)#/href=\1#$1-/g" \
        -e "s/url(#/url(#$1-/g" -e '/<title>Gnuplot<\/title>/d' \
        -e '/<desc>Produced by/d' "pictures/$1.svg"
    echo "</figure>"
}

heading() {
    case $1 in
    overlap) echo "Work that fits under each operation" ;;
    overlap_sweeps) echo "Overlap over sizes" ;;
    mpi_overhead) echo "What a message takes of the processor" ;;
    msgrate) echo "How fast messages go" ;;
    msgrate_rma) echo "How fast MPI_Put and MPI_Get go" ;;
    pingpong) echo "What a transfer takes" ;;
    syncbench) echo "What synchronisation costs" ;;
    halo) echo "What a halo swap takes" ;;
    monitor_overhead) echo "What monitoring adds to a call" ;;
    esac
}

overlap_text="Overlap is the share of an operation's own time in which the processor can do
other work between starting the operation and waiting for it, without making it take
longer. 0 % means that nothing is gained by starting early."

section() {
    kind=$1
    echo "<section id=\"$kind\">"
    echo "<h2>$(heading "$kind")</h2>"
    case $kind in
    overlap)
        echo "<p>$overlap_text Each operation is measured at the size from which it takes about
a millisecond, or at the largest (status <i>max-size</i>). More is better.</p>"
        figure overlap "overlap of each collective operation"
        rows "collective=collective,model=model" \
            "size_bytes=size (bytes),ref_us=time without work (µs)=ref_lo_us=ref_hi_us,overlap_pct=overlap (%)=overlap_lo_pct=overlap_hi_pct"
        ;;
    overlap_sweeps)
        echo "<p>$overlap_text Above the overlap (more is better), below the time of the operation
without work (less is better).</p>"
        open=" open=\"open\""
        for kind in $(all_kinds new); do
            case $kind in overlap_*_sweep) ;; *) continue ;; esac
            name=${kind#overlap_}
            name=${name%_sweep}
            echo "<details class=\"sweep\"$open><summary>$name</summary>"
            open=
            figure "$kind" "overlap and time of $name over size"
            rows "collective=collective,size_bytes=size (bytes)" \
                "ref_us=time without work (µs)=ref_lo_us=ref_hi_us,overlap_pct=overlap (%)=overlap_lo_pct=overlap_hi_pct"
            echo "</details>"
        done
        ;;
    mpi_overhead)
        echo "<p>The host overhead is the time for which sending or receiving a message keeps the
processor busy (less is better); what is available is the rest of the transfer time, free for
other work (more is better). For small messages on one node read the availability as a lower
bound.</p>"
        figure mpi_overhead "host overhead and availability over message size"
        rows "direction=direction,pair=pair,msgsize=size (bytes)" \
            "overhead=overhead (µs)=overhead_lo_us=overhead_hi_us,transfer_us=transfer (µs)=transfer_lo_us=transfer_hi_us,avail(%)=available (%)=avail_lo_pct=avail_hi_pct"
        ;;
    msgrate)
        echo "<p>Messages that a process sends and receives in a second, after a computation has
emptied its caches of MPI, in four patterns of real programs. More is better. Small loops with warm
caches show several times as much.</p>"
        figure msgrate "message rate by pattern"
        rows "pattern=pattern,job_size=processes,npeers=peers,nmsgs=messages to each,nbytes=size (bytes),cache_size=flush (bytes),ppn=peers apart" \
            "rate_per_s=rate (1/s)=rate_lo_per_s=rate_hi_per_s,total_rate_per_s=of all processes (1/s),iter_us=iteration (µs)=iter_lo_us=iter_hi_us"
        ;;
    msgrate_rma)
        echo "<p>The same with one-sided transfers, by synchronisation. All synchronisation is in
the time, so few messages show what it costs. More is better.</p>"
        figure msgrate_rma "rate of one-sided transfers by pattern and synchronisation"
        rows "pattern=pattern,synchronisation=synchronisation,transfer=transfer,threads=threads,job_size=processes,npeers=peers,nmsgs=messages to each,nbytes=size (bytes),cache_size=flush (bytes),ppn=peers apart" \
            "rate_per_s=rate (1/s)=rate_lo_per_s=rate_hi_per_s,total_rate_per_s=of all processes (1/s),iter_us=iteration (µs)=iter_lo_us=iter_hi_us"
        ;;
    pingpong)
        echo "<p>Latency is the time of a transfer one way (less is better), bandwidth the data over it
(more is better). A put or get counts until both sides know of it: with <i>all</i> by a barrier, with
<i>images</i> by a notification of the partner alone; <i>MPI Send</i> needs neither.</p>"
        figure pingpong_latency "latency over size"
        figure pingpong_bandwidth "bandwidth over size"
        figure pingpong_pieces "time of a transfer in pieces"
        rows "arrangement=arrangement,pattern=pattern,sync=synchronisation,count=blocks,blksize=doubles in a block,stride=stride,ndata=doubles" \
            "latency_us=latency (µs)=latency_lo_us=latency_hi_us,bwidth_mbs=bandwidth (MB/s)"
        ;;
    syncbench)
        echo "<p>What one synchronisation takes beyond the work it separates. <i>Sync all</i> and
barriers make everyone wait for everyone, pairs, rings and grids only neighbours; for <i>lock</i>
and <i>critical</i> it is an acquisition with all processes contending. Less is better.</p>"
        figure syncbench "time of a synchronisation by kind"
        rows "sync=synchronisation,neighbours=neighbours,ranks=processes" \
            "sync_us=time (µs)=sync_lo_us=sync_hi_us,ref_us=delay (µs),loop_us=delay and synchronisation (µs)"
        ;;
    halo)
        echo "<p>The time in which each process swaps the six faces of its box with its neighbours, by
the way they are carried. Less is better. Compare methods within one box.</p>"
        figure halo "time of a halo swap by method and size"
        rows "method=method,sync=synchronisation,dims=processes,local=box,ndata=doubles sent" \
            "latency_us=time (µs)=latency_lo_us=latency_hi_us,bwidth_mbs=bandwidth (MB/s)"
        ;;
    monitor_overhead)
        echo "<p>The nanoseconds that libmpirtmon adds to a call while it is only loaded (<i>off</i>)
and with everything monitored (<i>on</i>). Less is better.</p>"
        figure monitor_overhead "added time by call"
        rows "call=calls,mode=monitor" \
            "direct_ns=without (ns),monitored_ns=with (ns),added_ns=added (ns)=added_lo_ns=added_hi_ns"
        ;;
    esac
    echo "</section>"
}

machine() {
    set -- result=new
    for file in new/*/[0-9]*.tsv; do set -- "$@" "$file"; done
    if [ -d base ]; then
        set -- "$@" result=base
        for file in base/*/[0-9]*.tsv; do set -- "$@" "$file"; done
    fi
    awk -f "$parts/html.awk" -f "$parts/machine.awk" "$@"
}

comparison() {
    [ -d base ] || return 0
    echo '<section id="comparison"><h2>Comparison</h2>'
    if [ -s compare.tsv ]; then
        echo "<p>Each row of both results against each other, by bench_compare: the change from
the base with its interval, and how likely so large a difference is by chance (p).</p>"
        awk -f "$numbers" -f "$parts/html.awk" -f "$parts/compare.awk" compare.tsv
    elif [ -n "${compare:-}" ]; then
        echo "<p>bench_compare gave no result:</p><pre>"
        escape "$(cat compare.log)"
        echo "</pre>"
    else
        echo "<p>No verdicts: bench_compare was not found. The pictures and tables show both
results.</p>"
    fi
    echo '</section>'
}

# The kinds that are in the result, all sweeps as one.
sections() {
    swept=
    for kind in $(all_kinds new); do
        case $kind in
        overlap_*_sweep)
            [ -n "$swept" ] || echo overlap_sweeps
            swept=yes
            ;;
        *) echo "$kind" ;;
        esac
    done
}

title="What communication costs: $(escape "$new_label")"
[ $# -eq 1 ] || title="$title against $(escape "$base_label")"

{
    echo '<!DOCTYPE html>'
    echo '<html lang="en"><head><meta charset="utf-8"/>'
    echo '<meta name="viewport" content="width=device-width, initial-scale=1"/>'
    echo "<title>$title</title>"
    echo '<style>'
    cat "$parts/style.css"
    echo '</style></head><body>'
    echo "<h1>$title</h1>"
    messages warning >warnings.html
    if grep -q '<li>' warnings.html; then
        echo '<section id="warnings" class="warnings-box">'
        echo "<h2>Warnings: $(grep -c '<li>' warnings.html)</h2>"
    else
        echo '<section id="warnings" class="warnings-box none"><h2>Warnings</h2>'
    fi
    cat warnings.html
    [ -z "$pictures_note" ] || echo "<p>$pictures_note</p>"
    echo '</section>'
    echo '<nav><h2>Contents</h2><ul>'
    echo '<li><a href="#machine">Machine and runs</a></li>'
    [ ! -d base ] || echo '<li><a href="#comparison">Comparison</a></li>'
    for part in $(sections); do
        echo "<li><a href=\"#$part\">$(heading "$part")</a></li>"
    done
    echo '</ul></nav>'
    echo '<section id="machine"><h2>Machine and runs</h2>'
    machine
    messages note >notes.html
    if [ -s notes.html ] && grep -q '<li>' notes.html; then
        echo "<details><summary>Notes of the programs: $(grep -c '<li>' notes.html)</summary>"
        cat notes.html
        echo '</details>'
    fi
    echo '</section>'
    comparison
    for part in $(sections); do
        section "$part"
    done
    echo '<footer class="small"><p>Status of a row: <i>ok</i>; <i>budget</i>: the time was up
before the interval was as narrow as asked; <i>max-size</i>: no size took the cutoff time;
<i>no-knee</i>: the time was up before the overhead showed; <i>FAIL</i>: wrong data. Values are in the
units that the headings give; MB is 2<sup>20</sup> bytes, a double 8 bytes, NA a value that does not
exist. Made by report.sh of commcost; the .tsv files of the results have all columns.</p></footer>'
    echo '</body></html>'
} >page.html
{ cat page.html >"$output"; } 2>/dev/null || die "$output: could not be written"
echo "$output"
