# The rows of a benchmark as an HTML table: keys, and quantities with their ranges. With
# several launches (several rows with the same keys) a value is their median and the
# range is the least and the greatest of them; with one it is the launch's interval.
#
# usage: awk -f numbers.awk -f html.awk -f rows.awk -v keys=COLUMN=HEADING,...
#            -v quantities=COLUMN=HEADING=LOW=HIGH,...
#            result=new FILE... [result=base FILE...]
# Keys that are the same in all rows go into a line above the table.

BEGIN {
    FS = "\t"
    key_count = split(keys, words, ",")
    for (i = 1; i <= key_count; i++) {
        j = index(words[i], "=")
        key_column[i] = substr(words[i], 1, j - 1)
        key_heading[i] = substr(words[i], j + 1)
    }
    quantity_count = split(quantities, words, ",")
    for (i = 1; i <= quantity_count; i++) {
        split(words[i] "===", parts, "=")
        column_of[i] = parts[1]; heading_of[i] = parts[2]
        low_of[i] = parts[3]; high_of[i] = parts[4]
    }
}
FNR == 1 { headed = 0; split("", column) }
{ sub(/\r$/, "") }
/^#/ || /^[ \t]*$/ { next }
!headed { headed = 1; for (i = 1; i <= NF; i++) column[$i] = i; next }
function cell(name) { return (name in column) ? $column[name] : "NA" }
{
    id = ""
    for (i = 1; i <= key_count; i++) id = id SUBSEP cell(key_column[i])
    if (!(id in place)) {
        place[id] = ++rows
        for (i = 1; i <= key_count; i++) key[rows, i] = cell(key_column[i])
    }
    r = place[id]
    if (result == "base") any_base = 1
    n = ++launches[result, r]
    if (result == "new" && n > most) most = n
    for (i = 1; i <= quantity_count; i++) {
        text = cell(column_of[i])
        if (is_number(text)) value[result, r, i, ++values[result, r, i]] = text
        else if (!((result, r, i) in empty)) empty[result, r, i] = text
        low[result, r, i] = low_of[i] == "" ? "" : cell(low_of[i])
        high[result, r, i] = high_of[i] == "" ? "" : cell(high_of[i])
    }
    if (result == "new") {
        text = cell("status")
        if (!((r, text) in has_status)) {
            has_status[r, text] = 1
            status[r] = status[r] (status[r] == "" ? "" : ", ") text
        }
    }
}
function mid(name, r, i,    n, k, found) {
    n = values[name, r, i]
    if (!n) return ((name, r, i) in empty) ? empty[name, r, i] : "none"
    for (k = 1; k <= n; k++) found[k] = value[name, r, i, k]
    return median(found, n)
}
function range(r, i,    n, k, found) {
    n = values["new", r, i]
    if (n > 1) {
        for (k = 1; k <= n; k++) found[k] = value["new", r, i, k]
        sort_numbers(found, n)
        return found[1] == found[n] ? found[1] : found[1] " to " found[n]
    }
    if (low_of[i] == "" || !n) return ""
    if (low["new", r, i] == "NA" && high["new", r, i] == "NA") return "NA"
    return low["new", r, i] " to " high["new", r, i]
}
function number_cell(text, class) {
    printf "<td%s>%s</td>", (class == "" ? "" : " class=\"" class "\""), escaped(text)
}
END {
    if (!rows) { print "<p>No rows.</p>"; exit }
    for (i = 1; i <= key_count; i++) {
        same[i] = 1
        number[i] = 1
        for (r = 1; r <= rows; r++) {
            if (key[r, i] != key[1, i]) same[i] = 0
            if (!is_number(key[r, i]) && key[r, i] != "NA") number[i] = 0
        }
        if (rows == 1 && i == 1) same[i] = 0
        if (same[i] && key[1, i] != "NA")
            everywhere = everywhere (everywhere == "" ? "" : ", ") key_heading[i] " " key[1, i]
    }
    for (i = 1; i <= quantity_count; i++) {
        ranged[i] = low_of[i] != ""
        for (r = 1; most > 1 && r <= rows; r++) if (index(range(r, i), " to ")) ranged[i] = 1
    }
    if (everywhere != "") printf "<p class=\"small\">In all rows: %s.</p>\n", escaped(everywhere)
    if (most > 1) printf "<p class=\"small\">Values are medians over %d launches; ranges are from the lowest launch to the highest.</p>\n", most
    else print "<p class=\"small\">One launch; ranges are its intervals. Launches differ by more.</p>"
    long = rows > 30
    if (long) printf "<details><summary>Table: %d rows</summary>\n", rows
    print "<div class=\"scroll\"><table class=\"rows\"><thead><tr>"
    for (i = 1; i <= key_count; i++) if (!same[i])
        printf "<th%s data-column=\"%s\">%s</th>", (number[i] ? " class=\"number\"" : ""), escaped(key_column[i]), escaped(key_heading[i])
    for (i = 1; i <= quantity_count; i++) {
        printf "<th class=\"number\" data-column=\"%s\">%s</th>", escaped(column_of[i]), escaped(heading_of[i])
        if (ranged[i]) printf "<th class=\"number range\" data-column=\"%s range\">range</th>", escaped(column_of[i])
        if (any_base) printf "<th class=\"number base\" data-column=\"%s base\">base</th>", escaped(column_of[i])
    }
    if (most > 1) printf "<th class=\"number\" data-column=\"launches\">launches</th>"
    print "<th data-column=\"status\">status</th></tr></thead><tbody>"
    for (r = 1; r <= rows; r++) {
        printf "<tr%s>", (status[r] ~ /FAIL/ ? " class=\"fail\"" : "")
        for (i = 1; i <= key_count; i++) if (!same[i]) number_cell(key[r, i], number[i] ? "number" : "")
        for (i = 1; i <= quantity_count; i++) {
            number_cell(mid("new", r, i), "number")
            if (ranged[i]) number_cell(range(r, i), "number range")
            if (any_base) number_cell(mid("base", r, i), "number base")
        }
        if (most > 1) number_cell(launches["new", r] + 0, "number")
        number_cell(status[r] == "" ? "only in the base" : status[r], "")
        print "</tr>"
    }
    print "</tbody></table></div>"
    if (long) print "</details>"
}
