# Warnings (or notes) of all files, each once, with the results that have it: texts that
# differ in numbers only (and the run_suite.sh's "run N: ") count as the same, and the
# first is shown.
# Rows of wrong data (status FAIL) are a warning, too.
#
# usage: awk -f warnings.awk -f FORMAT.awk -v what=warning|note NAME=VALUE FILE...
#        with name=NAME before each FILE: what the result is called
#
# FORMAT prints count messages, each from 1: example[i], its text; others[i], with how many
# other numbers it was met, and other_numbers(i), which says so; results(i), who has it.

BEGIN { FS = "\t"; start = "# " what ": " }
FNR == 1 { headed = 0; split("", column) }
{ sub(/\r$/, "") }
index($0, start) == 1 { add(substr($0, length(start) + 1)); next }
/^#/ || /^[ \t]*$/ { next }
!headed { headed = 1; for (i = 1; i <= NF; i++) column[$i] = i; next }
what == "warning" && ("status" in column) && $column["status"] == "FAIL" {
    add("wrong data: rows with status FAIL")
}
function add(text,    shape) {
    sub(/^run [0-9]+: /, "", text)
    shape = text
    gsub(/[0-9]+(\.[0-9]+)?/, "0", shape)
    if (!(shape in number)) { number[shape] = ++count; example[count] = text }
    i = number[shape]
    if (text != example[i] && !((i, text) in other)) { other[i, text] = 1; others[i]++ }
    times[i]++
    if (!((i, name) in from)) {
        from[i, name] = 0
        names[i] = names[i] (names[i] == "" ? "" : SUBSEP) name
    }
    from[i, name]++
}
# The results that have message i, no more than 12 by name.
function results(i,    n, k, list, text) {
    n = split(names[i], list, SUBSEP)
    for (k = 1; k <= n && k <= 12; k++)
        text = text (k > 1 ? ", " : "") list[k] \
            (from[i, list[k]] > 1 ? " (" from[i, list[k]] " times)" : "")
    return text (n > 12 ? ", and " n - 12 " more" : "")
}
function other_numbers(i) {
    return "and with " others[i] " other " (others[i] == 1 ? "number" : "numbers")
}
