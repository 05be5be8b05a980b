# Makes the data of one panel of a picture, or of one page of rows, from the TSV files
# of one result or of two: a plain table for gnuplot on stdout, and what gnuplot
# must know besides (names, colours, ranges, tics, where the labels go) in the file
# `settings`. Columns are found by their names.
#
# usage: awk -f numbers.awk -f table.awk -v settings=FILE -v colours=FILE -v y=COLUMN [-v NAME=VALUE]...
#            result=new FILE... [result=base FILE...]
#
#   series   key columns that make the label of a line or row, with commas:
#            COLUMN[?][:TEXT WITH %]; with ? only where it tells lines apart
#   panel    the same for what tells panels apart (rows only)
#   x        column of the horizontal axis; none: rows of dots, one a series
#   y lo hi  the quantity and its interval
#   x_factor, y_factor   to multiply by (y_factor NAME/COLUMN is not known)
#   keep     COLUMN=VALUE;VALUE... with | between columns: rows that have one of these
#            values, or all if no row has
#   prefer   COLUMN=VALUE: only rows with this value, or if none has with the first
#   scale    log, linear, or percent; default: log where the largest value is
#            `log_from` times the least and more
#   gap      least distance of two labels, as a share of the panel's height
#   most     at most so many series
#
# A table row: result, panel, label, x or the row's number, value, low, high, launches.
# With several launches (several rows with the same keys) the value is their median, low and high the
# least and the greatest; with one the interval, where it has one.

function cut_key(text, parts) {
    # COLUMN[?][:TEXT] to parts["name"], parts["optional"], parts["text"]
    parts["text"] = "%"
    if (match(text, /:/)) {
        parts["text"] = substr(text, RSTART + 1)
        text = substr(text, 1, RSTART - 1)
    }
    parts["optional"] = sub(/\?$/, "", text)
    parts["name"] = text
}

function cell(name) { return (name in column) ? $column[name] : "NA" }

function scaled(text, factor) {
    return factor == 1 ? text : sprintf("%.10g", text * factor)
}

# gnuplot can't take two of them in a row.
function quoted(text) { gsub(/'/, "\342\200\231", text); return "'" text "'" }

# 8, 1K, 4M: as the programs take sizes.
function size_text(bytes) {
    if (bytes >= 1073741824 && bytes % 1073741824 == 0) return bytes / 1073741824 "G"
    if (bytes >= 1048576 && bytes % 1048576 == 0) return bytes / 1048576 "M"
    if (bytes >= 1024 && bytes % 1024 == 0) return bytes / 1024 "K"
    return bytes ""
}

function log10(v) { return log(v) / log(10) }

function nice_below(v,    p) {
    p = exp(log(10) * floor(log10(v) + 1e-9))
    return v >= 4.9999 * p ? 5 * p : v >= 1.9999 * p ? 2 * p : p
}
function nice_above(v,    p) {
    p = exp(log(10) * floor(log10(v) + 1e-9))
    return v <= 1.0001 * p ? p : v <= 2.0001 * p ? 2 * p : v <= 5.0001 * p ? 5 * p : 10 * p
}
function floor(v,    i) { i = int(v); return i > v ? i - 1 : i }

BEGIN {
    FS = OFS = "\t"
    if (x_factor == "") x_factor = 1
    if (y_factor == "") y_factor = 1
    if (log_from == "") log_from = 50
    if (gap == "") gap = 0.06
    if (most == "") most = 10
    series_keys = split(series, words, ",")
    for (i = 1; i <= series_keys; i++) {
        cut_key(words[i], parts)
        key_name[i] = parts["name"]; key_optional[i] = parts["optional"]
        key_text[i] = parts["text"]
    }
    panel_keys = panel == "" ? 0 : split(panel, words, ",")
    for (i = 1; i <= panel_keys; i++) {
        cut_key(words[i], parts)
        j = series_keys + i
        key_name[j] = parts["name"]; key_optional[j] = parts["optional"]
        key_text[j] = parts["text"]
    }
    keys = series_keys + panel_keys
    kept = keep == "" ? 0 : split(keep, words, "|")
    for (i = 1; i <= kept; i++) {
        j = index(words[i], "=")
        keep_name[i] = substr(words[i], 1, j - 1)
        n = split(substr(words[i], j + 1), values, ";")
        for (k = 1; k <= n; k++) keep_value[i, values[k]] = 1
    }
    if (prefer != "") {
        j = index(prefer, "=")
        prefer_name = substr(prefer, 1, j - 1)
        prefer_value = substr(prefer, j + 1)
    }
    while ((getline line < colours) > 0)
        if (line !~ /^#/ && split(line, words, "\t") == 2) colour_of[words[1]] = words[2]
    close(colours)
    free_colours = split("#0072B2 #D55E00 #009E73 #CC79A7 #E69F00 #56B4E9 #444444",
        free_colour, " ")
}

FNR == 1 { headed = 0; split("", column) }
{ sub(/\r$/, "") }
/^#/ || /^[ \t]*$/ { next }
!headed {
    headed = 1
    for (i = 1; i <= NF; i++) column[$i] = i
    if (!(y in column)) no_column[y] = 1
    if (x != "" && !(x in column)) no_column[x] = 1
    next
}
!(y in column) || (x != "" && !(x in column)) { next }
{
    rows++
    row_result[rows] = result
    row_x[rows] = x == "" ? "" : cell(x)
    row_y[rows] = cell(y)
    row_lo[rows] = lo == "" ? "NA" : cell(lo)
    row_hi[rows] = hi == "" ? "NA" : cell(hi)
    for (i = 1; i <= keys; i++) row_key[rows, i] = cell(key_name[i])
    for (i = 1; i <= kept; i++)
        if ((i, cell(keep_name[i])) in keep_value) { row_keep[rows, i] = 1; any_keep[i] = 1 }
    if (prefer != "") {
        v = cell(prefer_name)
        row_prefer[rows] = v
        if (first_prefer == "") first_prefer = v
        if (v == prefer_value) any_prefer = 1
        else if (!((v) in seen_prefer)) seen_prefer[v] = 1
    }
}

# The label that keys from..to of a row make; optional ones where they differ among
# the rows whose other keys are the same.
function label(r, from, to,    i, text, part) {
    text = ""
    for (i = from; i <= to; i++) {
        if (key_optional[i] && varied[i, plain(r, i)] < 2) continue
        if (row_key[r, i] == "NA" && key_optional[i]) continue
        part = key_text[i]
        j = index(part, "%")
        if (j) part = substr(part, 1, j - 1) row_key[r, i] substr(part, j + 1)
        text = text (text == "" ? "" : ", ") part
    }
    gsub(/"/, "'", text)
    return text
}
# The required keys of the group (series or panel) that key i belongs to.
function plain(r, i,    k, from, to, text) {
    from = i <= series_keys ? 1 : series_keys + 1
    to = i <= series_keys ? series_keys : keys
    text = ""
    for (k = from; k <= to; k++) if (!key_optional[k]) text = text SUBSEP row_key[r, k]
    return text
}

function use(r,    i) {
    for (i = 1; i <= kept; i++) if (any_keep[i] && !row_keep[r, i]) return 0
    if (prefer != "" && row_prefer[r] != (any_prefer ? prefer_value : first_prefer)) return 0
    return 1
}

function add_set(line) { print line > settings }

# Low ends on logarithmic axes.
function note_range(v) {
    if (v > 0 && (least == "" || v < least)) least = v
    if (greatest == "" || v > greatest) greatest = v
    if (lowest == "" || v < lowest) lowest = v
}

END {
    for (r = 1; r <= rows; r++) {
        if (!use(r)) continue
        for (i = 1; i <= keys; i++) if (key_optional[i]) {
            id = i SUBSEP plain(r, i)
            if (!((id, row_key[r, i]) in value_seen)) {
                value_seen[id, row_key[r, i]] = 1
                varied[id]++
            }
        }
    }
    missing = left = 0
    for (r = 1; r <= rows; r++) {
        if (!use(r)) continue
        name = label(r, 1, series_keys)
        page = label(r, series_keys + 1, keys)
        at = x == "" ? "" : row_x[r]
        if (x != "" && !is_number(at)) { missing++; continue }
        if (!is_number(row_y[r])) { missing++; continue }
        if (!(name in series_number)) {
            if (series_count >= most) { if (!(name in too_many)) left++; too_many[name] = 1; continue }
            series_number[name] = ++series_count
            series_name[series_count] = name
            j = index(name, ", ")
            series_head[series_count] = row_key[r, 1]
        }
        if (!(page in panel_number)) {
            panel_number[page] = ++panel_count
            panel_name[panel_count] = page
        }
        s = series_number[name]; p = panel_number[page]
        if (x != "") at = scaled(at, x_factor)
        if (x == "" && !((p, s) in place_of)) { place_of[p, s] = ++places[p]; place_name[p, places[p]] = name; place_series[p, places[p]] = s }
        cellid = row_result[r] SUBSEP p SUBSEP s SUBSEP at
        if (!(cellid in cell_count)) {
            list_id = row_result[r] SUBSEP p SUBSEP s
            list_x[list_id, ++list_n[list_id]] = at
        }
        n = ++cell_count[cellid]
        cell_y[cellid, n] = scaled(row_y[r], y_factor)
        cell_lo[cellid] = is_number(row_lo[r]) ? scaled(row_lo[r], y_factor) : "NA"
        cell_hi[cellid] = is_number(row_hi[r]) ? scaled(row_hi[r], y_factor) : "NA"
        if (n > runs[row_result[r]]) runs[row_result[r]] = n
    }
    for (name in no_column) print "plot.sh: no column " name > "/dev/stderr"

    # The table, block by block (gnuplot's index): one a line; one a panel of rows.
    block = -1
    print "# result", "panel", "label", (x == "" ? "row" : "x"), "value", "low", "high", \
        "launches", "series"
    for (p = 1; p <= panel_count; p++)
        if (x == "") {
            for (w = 1; w <= 2; w++)
                for (i = 1; i <= places[p]; i++)
                    print_cells(w == 1 ? "new" : "base", p, place_series[p, i], i == 1)
        } else {
            for (s = 1; s <= series_count; s++)
                for (w = 1; w <= 2; w++)
                    print_cells(w == 1 ? "new" : "base", p, s, 1)
        }

    add_set("rows = " (block + 1))
    add_set("missing = " missing + 0)
    add_set("left_out = " left + 0)
    add_set("series = " series_count + 0)
    add_set("panels = " panel_count + 0)
    others = ""
    if (prefer != "") for (v in seen_prefer)
        if (v != (any_prefer ? prefer_value : first_prefer)) others = others (others == "" ? "" : ", ") v
    add_set("others = " quoted(others))
    if (block < 0) exit
    widest = 0
    add_set("array label[" series_count "]")
    add_set("array colour[" series_count "]")
    add_set("array colour_value[" series_count "]")
    add_set("array shape[" series_count "]")
    add_set("array weight[" series_count "]")
    split("7 9 5 13", shapes, " ")
    for (s = 1; s <= series_count; s++) {
        c = (series_head[s] in colour_of) ? colour_of[series_head[s]] : \
            (s == 1 || x != "") ? free_colour[(s - 1) % free_colours + 1] : free_colour[1]
        used[c]++
        add_set("label[" s "] = " quoted(series_name[s]))
        add_set("colour[" s "] = '" c "'")
        add_set("colour_value[" s "] = 0x" substr(c, 2))
        add_set("shape[" s "] = " shapes[(used[c] - 1) % 4 + 1])
        add_set("weight[" s "] = " (used[c] > 1 ? 1.2 : 2.2))
        if (length(series_name[s]) > widest) widest = length(series_name[s])
    }
    add_set("widest = " widest)
    if (x != "") line_settings(); else row_settings()
}

# The medians of a line (of a dot) of a result, over its launches.
function print_cells(result_name, p, s, fresh,    list_id, i, n, m, k, at, id, mid, low, high, found, sorted) {
    if (fresh) block_open = 0
    list_id = result_name SUBSEP p SUBSEP s
    if (!(list_id in list_n)) return
    n = list_n[list_id]
    if (!block_open) {
        block_open = 1
        if (++block > 0) print "\n"
        block_of[result_name, p] = block
    }
    block_of[result_name, p, s] = block
    for (i = 1; i <= n; i++) sorted[i] = list_x[list_id, i]
    if (x != "") sort_numbers(sorted, n)
    for (i = 1; i <= n; i++) {
        at = sorted[i]
        id = list_id SUBSEP at
        m = cell_count[id]
        for (k = 1; k <= m; k++) found[k] = cell_y[id, k]
        mid = median(found, m)
        low = m > 1 ? found[1] : cell_lo[id]
        high = m > 1 ? found[m] : cell_hi[id]
        print result_name, panel_name[p], series_name[s],
            (x == "" ? place_of[p, s] : at), mid, low, high, m, s
        note_range(mid + 0)
        # The bars, too, unless they would squeeze all the rest.
        if (is_number(low) && low > mid / 4) note_range(low + 0)
        if (is_number(high) && high < mid * 4) note_range(high + 0)
        note_panel(p, mid + 0, low, high)
        value_of[result_name, p, s] = mid
        bars++
        bar_panel[bars] = p
        bar_low[bars] = is_number(low) ? low : mid
        bar_high[bars] = is_number(high) ? high : mid
        bar_mid[bars] = mid
        if (x == "") continue
        at += 0
        if (at > 0 && (x_least == "" || at < x_least)) x_least = at
        if (x_greatest == "" || at > x_greatest) x_greatest = at
        if (at == 0) x_zero = 1
        last_x[result_name, s] = at
        last_y[result_name, s] = mid + 0
    }
}

function note_panel(p, mid, low, high) {
    if (!(p in p_greatest) || mid > p_greatest[p]) p_greatest[p] = mid
    if (!(p in p_lowest) || mid < p_lowest[p]) p_lowest[p] = mid
    if (mid > 0 && (!(p in p_least) || mid < p_least[p])) p_least[p] = mid
    if (is_number(high) && (!(p in p_high) || high + 0 > p_high[p])) p_high[p] = high + 0
    if (is_number(low) && (!(p in p_low) || low + 0 < p_low[p])) p_low[p] = low + 0
    if (mid <= 0) p_below[p]++
}

function want_log(low, high) {
    if (scale == "linear" || scale == "percent" || low == "") return 0
    return scale == "log" || high / low >= log_from
}

function line_settings(    s, i, n, e, step, text, from, to, below, is_log) {
    is_log = want_log(least, greatest)
    below = 0
    if (is_log) {
        from = nice_below(least); to = nice_above(greatest)
        if (from == to) { from /= 10; to *= 10 }
        if (to / from < 9) { from = exp(log(10) * floor(log10(from) + 1e-9)); if (to / from < 9) to = from * 10 }
    } else if (scale == "percent") {
        from = lowest < 0 ? -10 * floor(-lowest / 10 + 0.999) : 0
        to = greatest > 100 ? 10 * floor(greatest / 10 + 0.999) : 100
        if (from < -50) from = -50
        if (to > 120) to = 120
    } else {
        from = lowest < 0 ? lowest * 1.1 : 0
        to = greatest > 0 ? greatest * 1.1 : 1
    }
    count_cut(1, from, to, is_log)
    add_set("logarithmic = " is_log)
    add_set("y_from = " from)
    add_set("y_to = " to)
    # Horizontally: powers of two, and 0 apart on the left.
    if (x_least == "") { x_least = 1; if (x_greatest < 1) x_greatest = 1 }
    add_set("x_least = " x_least)
    add_set("x_zero = " (x_zero ? x_least / 4 : 0))
    add_set("x_from = " (x_zero ? x_least / 4 : x_least) / 1.3)
    add_set("x_to = " x_greatest * 1.3)
    n = log(x_greatest / x_least) / log(2)
    step = n <= 8 ? 1 : n <= 16 ? 2 : n <= 26 ? 3 : 4
    text = x_zero ? "'0' " x_least / 4 ", " : ""
    e = ceiling(log(x_least) / log(2) - 1e-9)
    for (i = 0; exp(log(2) * e) <= x_greatest * 1.001; e += step) {
        v = sprintf("%.0f", exp(log(2) * e)) + 0
        if (e < 0) v = exp(log(2) * e)
        text = text (i++ ? ", " : "") "'" size_text(v) "' " sprintf("%.10g", v)
    }
    if (!i) text = text "'" size_text(x_least) "' " x_least
    gsub(/'/, "\"", text)
    add_set("size_tics = 'set xtics (" text ")'")
    gsub(/"[^"]*"/, "\"\"", text)
    add_set("bare_tics = 'set xtics (" text ")'")

    # Which blocks belong to a line, and where its label goes: at its end, pushed apart.
    add_blocks("new")
    add_blocks("base")
    add_set("array end_x[" series_count "]")
    add_set("array end_y[" series_count "]")
    add_set("array label_at[" series_count "]")
    for (s = 1; s <= series_count; s++) {
        r = (("new", s) in last_x) ? "new" : "base"
        end_y = last_y[r, s]
        share[s] = is_log ? (end_y > 0 ? log(end_y / from) / log(to / from) : 0) : (end_y - from) / (to - from)
        if (share[s] < 0) share[s] = 0
        if (share[s] > 1) share[s] = 1
        drawn_y[s] = share[s]
        order[s] = s
        add_set("end_x[" s "] = " (last_x[r, s] > 0 ? last_x[r, s] : x_least / 4))
        add_set("end_y[" s "] = " drawn_y[s])
    }
    for (s = 2; s <= series_count; s++)
        for (i = s; i > 1 && share[order[i]] < share[order[i - 1]]; i--) {
            held = order[i]; order[i] = order[i - 1]; order[i - 1] = held
        }
    for (i = 2; i <= series_count; i++)
        if (share[order[i]] < share[order[i - 1]] + gap) share[order[i]] = share[order[i - 1]] + gap
    top = 1
    for (i = series_count; i >= 1; i--) {
        if (share[order[i]] > top) share[order[i]] = top
        top = share[order[i]] - gap
    }
    for (s = 1; s <= series_count; s++) add_set("label_at[" s "] = " share[s])
    finish_settings(is_log)
}

# Which block of the table is which line of a result.
function add_blocks(name,    s, n) {
    n = 0
    add_set("array " name "_block[" series_count "]")
    add_set("array " name "_series[" series_count "]")
    for (s = 1; s <= series_count; s++) if ((name, 1, s) in block_of) {
        add_set(name "_block[" ++n "] = " block_of[name, 1, s])
        add_set(name "_series[" n "] = " s)
    }
    add_set(name "_lines = " n)
    if (!n) { # gnuplot looks at the first of a loop even where there is none
        add_set(name "_block[1] = 0")
        add_set(name "_series[1] = 1")
    }
}

# Bars that reach beyond the axis, and values that are beyond it (triangles).
function count_cut(p, from, to, is_log_axis,    i) {
    for (i = 1; i <= bars; i++)
        if (bar_panel[i] == p) {
            if (bar_mid[i] + 0 > to || (bar_mid[i] + 0 < from && !(is_log_axis && bar_mid[i] + 0 <= 0))) beyond++
            else if (bar_low[i] + 0 < from || bar_high[i] + 0 > to) cut++
        }
}

function ceiling(v) { return -floor(-v) }

function row_settings(    p, i, is_log, from, to) {
    add_set("array panel_name[" panel_count "]")
    add_set("array panel_rows[" panel_count "]")
    add_set("array panel_log[" panel_count "]")
    add_set("array panel_from[" panel_count "]")
    add_set("array panel_to[" panel_count "]")
    add_set("array new_block[" panel_count "]")
    add_set("array base_block[" panel_count "]")
    all_rows = 0
    is_log = 0
    for (p = 1; p <= panel_count; p++)
        if (want_log(p_least[p], p_greatest[p])) is_log = 1
    for (p = 1; p <= panel_count; p++) {
        if (is_log && (p in p_least)) {
            from = nice_below(p_least[p] / 1.15); to = nice_above(p_greatest[p] * 1.15)
            if (to / from < 10) { from = exp(log(10) * floor(log10(from) + 1e-9)); if (to / from < 10) to = 10 * from }
        } else if (scale == "percent") {
            from = p_lowest[p] < 0 ? 10 * floor(p_lowest[p] / 10) : 0
            to = p_greatest[p] > 100 ? 10 * ceiling(p_greatest[p] / 10) : 100
        } else {
            to = p_greatest[p]
            if ((p in p_high) && p_high[p] > to) to = p_high[p] > 1.6 * to && to > 0 ? 1.6 * to : p_high[p]
            from = p_lowest[p] < 0 ? ((p in p_low) && p_low[p] < p_lowest[p] && p_low[p] > -to ? p_low[p] : p_lowest[p]) : 0
            to = to > 0 ? to * 1.05 : 1
            if (from < 0) from = from * 1.05
        }
        add_set("panel_name[" p "] = " quoted(panel_name[p]))
        add_set("panel_rows[" p "] = " places[p])
        add_set("new_block[" p "] = " ((("new", p) in block_of) ? block_of["new", p] : -1))
        add_set("base_block[" p "] = " ((("base", p) in block_of) ? block_of["base", p] : -1))
        add_set("panel_log[" p "] = " (is_log && (p in p_least)))
        count_cut(p, from, to, is_log && (p in p_least))
        add_set("panel_from[" p "] = " sprintf("%.10g", from))
        add_set("panel_to[" p "] = " sprintf("%.10g", to))
        all_rows += places[p]
    }
    add_set("all_rows = " all_rows)
    # The names at the left, and the numbers at the right.
    n = 0
    for (p = 1; p <= panel_count; p++) for (s = 1; s <= series_count; s++)
        if ((p, s) in place_of) n++
    add_set("dots = " n)
    add_set("array dot_panel[" n "]")
    add_set("array dot_row[" n "]")
    add_set("array dot_name[" n "]")
    add_set("array dot_text[" n "]")
    n = 0
    for (p = 1; p <= panel_count; p++) for (s = 1; s <= series_count; s++)
        if ((p, s) in place_of) {
            n++
            add_set("dot_panel[" n "] = " p)
            add_set("dot_row[" n "] = " place_of[p, s])
            add_set("dot_name[" n "] = " quoted(series_name[s]))
            text = (("new", p, s) in value_of) ? short(value_of["new", p, s]) : "none"
            if (list_any("base")) text = text " (" ((("base", p, s) in value_of) ? short(value_of["base", p, s]) : "none") ")"
            add_set("dot_text[" n "] = " quoted(text))
        }
    finish_settings(is_log)
}

function list_any(name,    id) {
    for (id in list_n) if (index(id, name SUBSEP) == 1) return 1
    return 0
}

# Three digits that say something, without an exponent.
function short(v,    a) {
    a = v < 0 ? -v : v + 0
    if (a == 0) return "0"
    return sprintf(a >= 100 ? "%.0f" : a >= 10 ? "%.1f" : a >= 1 ? "%.2f" : a >= 0.1 ? "%.3f" : "%.2g", v)
}

function finish_settings(is_log,    below, id, p) {
    below = 0
    if (is_log) for (p in p_below) if (x != "" || (p in p_least)) below += p_below[p]
    add_set("at_or_below_0 = " below)
    add_set("cut = " cut + 0)
    add_set("beyond = " beyond + 0)
    add_set("new_runs = " (runs["new"] ? runs["new"] : 1))
    add_set("base_runs = " (runs["base"] ? runs["base"] : 1))
    add_set("has_new = " list_any("new"))
    add_set("has_base = " list_any("base"))
}
