# bench_compare's table as HTML: how many rows have which verdict, then the rows that
# changed, slower ones first, the largest change first; all others in a closed part.
#
# usage: bench_compare BASE NEW | awk -f numbers.awk -f html.awk -f compare.awk

BEGIN { FS = "\t" }
{ sub(/\r$/, "") }
/^# (warning|note): / {
    text = $0
    sub(/^# (warning|note): /, "", text)
    remarks = remarks "<li>" escaped(text) "</li>\n"
}
/^#/ || /^[ \t]*$/ { next }
!headed {
    headed = 1
    for (i = 1; i <= NF; i++) { column[$i] = i; heading[i] = $i }
    columns = NF
    next
}
{
    rows++
    line[rows] = $0
    word = $column["verdict"]
    verdict[rows] = word
    if (!(word in counted)) { words++; word_name[words] = word }
    counted[word]++
    change = ("change_pct" in column) ? $column["change_pct"] : ""
    size[rows] = is_number(change) ? (change < 0 ? -change : change + 0) : -1
    grade[rows] = word ~ /slower|failed/ ? 1 : word ~ /missing|added/ ? 2 : \
        word ~ /faster/ ? 3 : 4
}
function show(r,    i, n, cells) {
    n = split(line[r], cells, "\t")
    printf "<tr class=\"grade%d\">", grade[r]
    for (i = 1; i <= columns; i++)
        printf "<td%s>%s</td>", (is_number(cells[i]) || cells[i] == "NA" ? " class=\"number\"" : ""), escaped(cells[i])
    print "</tr>"
}
function head(    i) {
    print "<div class=\"scroll\"><table class=\"rows compare\"><thead><tr>"
    for (i = 1; i <= columns; i++) printf "<th%s>%s</th>", \
        (heading[i] ~ /^(base|new|p_value|.*_pct)$/ ? " class=\"number\"" : ""), escaped(heading[i])
    print "</tr></thead><tbody>"
}
END {
    if (remarks != "") print "<ul class=\"warnings\">\n" remarks "</ul>"
    if (!rows) { print "<p>bench_compare found nothing that both results have.</p>"; exit }
    printf "<p>"
    for (g = 1; g <= 4; g++)
        for (i = 1; i <= words; i++) {
            word = word_name[i]
            for (r = 1; r <= rows; r++) if (verdict[r] == word) break
            if (grade[r] != g) continue
            printf "%s<span class=\"verdict grade%d\">%s: %d</span>", (shown++ ? " " : ""), g, escaped(word), counted[word]
        }
    print "</p>"
    for (r = 1; r <= rows; r++) order[r] = r
    # Few thousand rows: insertion by shell sort, on grade, then on size.
    for (gap = int(rows / 2); gap > 0; gap = int(gap / 2))
        for (i = gap + 1; i <= rows; i++) {
            held = order[i]
            for (j = i; j > gap && after(order[j - gap], held); j -= gap) order[j] = order[j - gap]
            order[j] = held
        }
    changed = 0
    for (i = 1; i <= rows; i++) if (grade[order[i]] < 4) changed++
    if (changed) {
        if (changed > 60) printf "<details><summary>What changed: %d rows</summary>\n", changed
        head()
        for (i = 1; i <= changed; i++) show(order[i])
        print "</tbody></table></div>"
        if (changed > 60) print "</details>"
    }
    if (changed < rows) {
        printf "<details><summary>Same, or can't tell: %d %s</summary>\n", rows - changed, (rows - changed == 1 ? "row" : "rows")
        head()
        for (i = changed + 1; i <= rows; i++) show(order[i])
        print "</tbody></table></div></details>"
    }
}
function after(a, b) {
    if (grade[a] != grade[b]) return grade[a] > grade[b]
    if (size[a] != size[b]) return size[a] < size[b]
    return a > b
}
