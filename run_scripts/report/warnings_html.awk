# What warnings.awk found as an HTML list. After html.awk and warnings.awk.

END {
    if (!count) { print (what == "warning" ? "<p class=\"good\">No warnings.</p>" : ""); exit }
    print "<ul class=\"" what "s\">"
    for (i = 1; i <= count; i++) {
        printf "<li>%s", escaped(example[i])
        if (others[i]) printf " <span class=\"small\">(%s)</span>", other_numbers(i)
        printf "<br/><span class=\"small\">%s</span></li>\n", escaped(results(i))
    }
    print "</ul>"
}
