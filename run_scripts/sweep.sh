#!/bin/sh
# A benchmark over message sizes. The result, one TSV file, goes to stdout or to
# --output=FILE.
#
# usage: sweep.sh PROGRAM [--sizes=SIZES] [PROGRAM'S OPTION]...
#   for example: sweep.sh msgrate --sizes=8,1K:64K --peers=1 --output=rates.tsv
#
#   PROGRAM  a name (mpi_overhead, msgrate, msgrate_rma, pingpong, halo,
#            overlap_iallreduce and the other overlap_*), or a path
#   SIZES    bytes, with commas; A:B doubles from A to B; K, M, G. Default: 8:1M.
#            pingpong has sizes of its own up to the largest of these; halo and
#            overlap_halo take boxes whose faces have about that size
#   The other options are those of `PROGRAM --help`.
#
# One launch does it where the program takes lists of sizes; overlap_*, but for
# overlap_halo, takes one for each A or A:B.
#
# Environment:
#   LAUNCH   how to start a job; default: srun in a Slurm job, else 2 processes with
#            the mpirun that the build found
set -eu

. "$(dirname -- "$0")/lib.sh"
help_if_asked "$@"

case ${1:-} in
"") misused "which program? use sweep.sh PROGRAM [--sizes=SIZES] [OPTION]..." ;;
-*) misused "'$1' is no program: use sweep.sh PROGRAM [--sizes=SIZES] [OPTION]..." ;;
esac
build=$(build_folder)
program=$1
shift
case $program in
*/*) ;;
overlap_*) program=$build/overlap/$program ;;
msgrate_rma) program=$build/msgrate/$program ;;
*) program=$build/$program/$program ;;
esac
name=${program##*/}
form=
case $name in
overlap_ibarrier) misused "$name has no sizes" ;;
overlap_*) form=--form ;; # an option of theirs; elsewhere it abbreviates --format
mpi_overhead | msgrate | msgrate_rma | pingpong | halo) ;;
*) misused "$name has no sizes: use one of mpi_overhead, msgrate, msgrate_rma, pingpong, halo, overlap_*" ;;
esac
[ -x "$program" ] || die "no program $program: build it, or name it by its path"

sizes=8:1M
output=
# The other options, as they are, stay the positional parameters.
for option in "$@"; do
    shift
    case $option in
    --sizes=*) sizes=${option#*=} ;;
    --sizes) misused "--sizes needs a value: use --sizes=8,1K:4M" ;;
    --output=-* | --output=[A-Za-z_]*=*) output=./${option#*=} ;; # no option, and no setting
    --output=?*) output=${option#*=} ;;
    "$form" | "$form"=*) set -- "$@" "$option" ;;
    # The programs take these abbreviated, too. Launches are put together by their metadata.
    --ou=* | --out=* | --outp* | --no-h* | --no-m* | --noh* | --f | --f=* | --fo | --fo=* | --for | --for=* | --form*)
        misused "'$option': --output=FILE takes the result as it is; no other form of it"
        ;;
    *) set -- "$@" "$option" ;;
    esac
done

# Each A and A:B as two numbers of bytes on a line.
ranges=$(printf '%s\n' "$sizes" | tr , '\n' | awk '
    function bytes(text,  unit) {
        if (text !~ /^[0-9]+[KMG]?$/) exit 1
        unit = substr(text, length(text))
        return text * (unit == "K" ? 1024 : unit == "M" ? 1048576 : unit == "G" ? 1073741824 : 1)
    }
    {
        count = split($0, ends, ":")
        if (count < 1 || count > 2) exit 1
        first = bytes(ends[1])
        last = count == 2 ? bytes(ends[2]) : first
        if (last < first || (count == 2 && first == 0)) exit 1
        printf "%.0f %.0f\n", first, last
    }') || ranges=
[ -n "$ranges" ] || misused "--sizes: '$sizes' is no list of sizes: use bytes like 8,1K:4M"

# Before hours of measuring.
[ -z "$output" ] || [ -w "$output" ] || { [ ! -e "$output" ] && [ -w "$(dirname -- "$output")" ]; } ||
    misused "--output: cannot write '$output': use a file that can be written"

launch=$(launch_words "${program%/*}/..")
set -f # words, not patterns

# launched OPTION...: one launch; its result goes to stdout, for a file in full.
launched() {
    # shellcheck disable=SC2086  # words
    run $launch "$program" ${output:+--columns=all --metadata=full} "$@" </dev/null
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
status=0
case $name in
mpi_overhead) set -- --msgsize="$sizes" "$@" ;;
msgrate | msgrate_rma) set -- --size="$sizes" "$@" ;;
pingpong)
    # The next power of two.
    most=$(printf '%s\n' "$ranges" | awk '{ if ($2 > most) most = $2 }
        END { for (count = 1; 8 * count < most; count *= 2); print count }')
    set -- --max-ndata="$most" "$@"
    ;;
halo | overlap_halo)
    [ "$name" = halo ] || set -- --data-driven "$@"
    edges=$(printf '%s\n' "$ranges" | awk '{ for (size = $1; size <= $2; size *= 2) {
        edge = int(sqrt(size / 8) + 0.5); print (edge > 1 ? edge : 1); if (size == 0) break } }' |
        sort -nu | tr '\n' , | sed 's/,$//')
    set -- --local="$edges" "$@"
    ;;
*)
    number=1000
    printf '%s\n' "$ranges" >"$work/ranges"
    while read -r first last && [ "$status" -eq 0 ]; do
        number=$((number + 1))
        launched --data-driven --min-num-elts="$(((first + 7) / 8 > 0 ? (first + 7) / 8 : 1))" \
            --max-num-elts="$(((last + 7) / 8 > 0 ? (last + 7) / 8 : 1))" "$@" \
            >"$work/$number.tsv" || status=$?
    done <"$work/ranges"
    ;;
esac
[ -e "$work/ranges" ] || launched "$@" >"$work/1.tsv" || status=$?

set +f
# One table: the head of the first launch, the rows of all.
set -- "$work"/*.tsv
LC_ALL=C awk -v status="$status" '
    FNR == 1 { files++; header = 0 }
    /^# end: / { ends++; next }
    /^#/ { if (!/^#   /) kept = files == 1 || /^# (note|warning): /; if (kept) print; next }
    !header { header = 1; if (files == 1) print; next }
    { rows++; print }
    END {
        if (ends == files) printf "# end: %d row%s, exit %d\n", rows, (rows == 1 ? "" : "s"), status
    }' "$@" >"$work/result"
if [ -z "$output" ]; then
    cat "$work/result"
else
    cp "$work/result" "$output" 2>/dev/null || die "--output: cannot write '$output'"
fi
exit "$status"
