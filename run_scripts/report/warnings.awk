# Warnings (or notes) of all files, each once, with the results that have it: texts that
# differ in numbers only (and the run_suite.sh's "run N: ") count as the same, and the
# first is shown.
# Rows of wrong data (status FAIL) are a warning, too, and so is a result without its end.
#
# usage: awk -f warnings.awk -f FORMAT.awk -v what=warning|note NAME=VALUE FILE...
#        with name=NAME before each FILE: what the result is called
#
# FORMAT prints count messages, each from 1: example[i], its text; others[i], with how many
# other numbers it was met, and other_numbers(i), which says so; results(i), who has it.

BEGIN { FS = "\t"; start = "# " what ": " }
FNR == 1 { close_file(); headed = has_end = ended = 0; split("", column); before = name }
{ sub(/\r$/, ""); ended = 0 }
# From schema 2 on a whole result says where it ends.
/^# schema: / { has_end = substr($0, 11) + 0 >= 2 }
/^# end: / { ended = 1 }
index($0, start) == 1 { add(substr($0, length(start) + 1), name); next }
/^#/ || /^[ \t]*$/ { next }
!headed { headed = 1; for (i = 1; i <= NF; i++) column[$i] = i; next }
what == "warning" && ("status" in column) && $column["status"] == "FAIL" {
    add("wrong data: rows with status FAIL", name)
}
END { close_file() }
# Of the file before: what is missing at its end.
function close_file() {
    if (what == "warning" && has_end && !ended)
        add("the result was cut off (no # end: at its end): rows are missing, and the last one may be broken",
            before)
}
function add(text, who,    shape) {
    sub(/^run [0-9]+: /, "", text)
    shape = text
    gsub(/[0-9]+(\.[0-9]+)?/, "0", shape)
    if (!(shape in number)) { number[shape] = ++count; example[count] = text }
    i = number[shape]
    if (text != example[i] && !((i, text) in other)) { other[i, text] = 1; others[i]++ }
    if (!((i, who) in from)) {
        from[i, who] = 0
        names[i] = names[i] (names[i] == "" ? "" : SUBSEP) who
    }
    from[i, who]++
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
