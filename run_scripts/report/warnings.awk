# Warnings (or notes) of all files as an HTML list, each once, with the results that have
# it: texts that differ in numbers only (and the run_suite.sh's "run N: ") count as the
# same, and the first is shown.
# Rows of wrong data (status FAIL) are a warning, too.
#
# usage: awk -f html.awk -f warnings.awk -v what=warning|note NAME=VALUE FILE...
#        with name=NAME before each FILE: what the result is called

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
END {
    if (!count) { print (what == "warning" ? "<p class=\"good\">No warnings.</p>" : ""); exit }
    print "<ul class=\"" what "s\">"
    for (i = 1; i <= count; i++) {
        printf "<li>%s", escaped(example[i])
        if (others[i]) printf " <span class=\"small\">(and with %d other %s)</span>", others[i], (others[i] == 1 ? "number" : "numbers")
        printf "<br/><span class=\"small\">"
        n = split(names[i], list, SUBSEP)
        for (k = 1; k <= n && k <= 12; k++)
            printf "%s%s%s", (k > 1 ? ", " : ""), escaped(list[k]), \
                (from[i, list[k]] > 1 ? " (" from[i, list[k]] " times)" : "")
        if (n > 12) printf ", and %d more", n - 12
        print "</span></li>"
    }
    print "</ul>"
}
