# SPDX-License-Identifier: BSD-3-Clause
# Rows of dots with intervals, in panels from top to bottom.
load tables.'.set'
data = tables.'.tsv'
width = 640
row_height = names == 2 ? 30 : 24
panel_top = body + (panel_name[1] eq '' ? 12 : 28)
height = panel_top + all_rows * row_height + panels * 88 - 22
load folder.'/style.gp'

set lmargin at screen across(30 + 8.0 * widest)
set rmargin at screen across(width - (names == 2 ? 150 : 80))

set ytics scale 0
set format x '%g'
clipped(v) = v < from ? from : v > to ? to : v
inside(v) = v < from || v > to ? NaN : v
low_end(v) = v < from ? from : NaN
high_end(v) = v > to ? to : NaN
shift = names == 2 ? 0.17 : 0

if (names == 2) { set label 19 'new (base)' at screen across(width - 150), screen down(panel_top - 12) left offset 1.5,0 textcolor rgb faint font small }

do for [p = 1:panels] {
    count = panel_rows[p]
    panel_bottom = panel_top + count * row_height
    from = panel_from[p]
    to = panel_to[p]
    set tmargin at screen down(panel_top)
    set bmargin at screen down(panel_bottom)
    if (panel_log[p]) { set logscale x 10; set xtics autofreq } else { unset logscale x; set xtics autofreq }
    set xrange [from:to]
    set yrange [count + 0.6:0.4]
    set ytics ()
    set xlabel axis_title offset 0,(format eq 'svg' ? 0.6 : 0.1) textcolor rgb ink
    set label 20 panel_name[p] at graph 0, screen down(panel_top - 12) left textcolor rgb ink font medium
    do for [k = 1:dots] {
        if (dot_panel[k] == p) {
            set ytics add (dot_name[k] dot_row[k])
            set label 20 + k dot_text[k] at graph 1.0, first dot_row[k] left offset 1.5,0 textcolor rgb ink font medium
        }
    }
    if (levels > 0) { set arrow 201 from first level[1], graph 0 to first level[1], graph 1 nohead back linewidth 1 linecolor rgb faint }
    do for [i = 2:levels] { set arrow 200 + i from first level[i], graph 0 to first level[i], graph 1 nohead back linewidth 1 dashtype (4,4) linecolor rgb faint }
    has_new = new_block[p] >= 0
    has_base = base_block[p] >= 0
    # gnuplot evaluates the first element of a loop even if there is none
    new_at = has_new ? new_block[p] : 0
    base_at = has_base ? base_block[p] : 0
    plot \
        for [k = 1:has_base] data index base_at using (clipped($5)):($4 + shift):(clipped($6)):(clipped($7)) with xerrorbars pointtype -1 linewidth 1.5 linecolor rgb base_colour, \
        for [k = 1:has_base] data index base_at using (inside($5)):($4 + shift) with points pointtype 13 pointsize 0.9 * dot linecolor rgb base_colour, \
        for [k = 1:has_base] data index base_at using (low_end($5)):($4 + shift) with points pointtype 10 pointsize 1 * dot linecolor rgb base_colour, \
        for [k = 1:has_new] data index new_at using (clipped($5)):($4 - shift):(clipped($6)):(clipped($7)):(colour_value[int($9)]) with xerrorbars pointtype -1 linewidth 2 linecolor rgb variable, \
        for [k = 1:has_new] data index new_at using (inside($5)):($4 - shift):(colour_value[int($9)]) with points pointtype 7 pointsize 0.9 * dot linecolor rgb variable, \
        for [k = 1:has_new] data index new_at using (low_end($5)):($4 - shift):(colour_value[int($9)]) with points pointtype 10 pointsize 1 * dot linecolor rgb variable
    unset label
    unset arrow
    panel_top = panel_bottom + 88
}
