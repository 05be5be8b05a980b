# SPDX-License-Identifier: BSD-3-Clause
# One panel of lines over sizes. `table` names the data from plot.sh; `panel_top` and `panel_bottom` are pixels from the
# top. Sizes are shown only below the last panel (`is_last`).

load table.'.set'
data = table.'.tsv'
label_room = 34 + 8.0 * (widest > 8 ? widest : 8)
panel_width = width - left_room - label_room
set lmargin at screen across(left_room)
set rmargin at screen across(width - label_room)
set tmargin at screen down(panel_top)
set bmargin at screen down(panel_bottom)

set logscale x 2
set xrange [x_from:x_to]
if (logarithmic) { set logscale y 10 } else { unset logscale y }
set format y (logarithmic && y_to >= 1e6 ? '%.0s%c' : '%g')
set yrange [y_from:y_to]
set ylabel axis_title textcolor rgb ink
set xlabel (is_last ? x_title : '') offset 0,(format eq 'svg' ? 0.6 : 0.1) textcolor rgb ink
if (is_last) { eval size_tics } else { eval bare_tics }

# Values off the axis, and values of 0 or less on a logarithmic axis, are triangles at its end.
clipped(y) = y < y_from ? y_from : y > y_to ? y_to : y
at_x(x) = x == 0 ? x_zero : x
inside(y) = y < y_from || y > y_to ? NaN : y
low_end(y) = y < y_from ? y_from : NaN
high_end(y) = y > y_to ? y_to : NaN

if (levels > 0) { set arrow 201 from graph 0, first level[1] to graph 1, first level[1] nohead back linewidth 1 linecolor rgb faint }
do for [i = 2:levels] { set arrow 200 + i from graph 0, first level[i] to graph 1, first level[i] nohead back linewidth 1 dashtype (4,4) linecolor rgb faint }
do for [i = 1:series] {
    set arrow 10 + i from first end_x[i], graph end_y[i] to graph 1 + 16.0 / panel_width, graph label_at[i] nohead linewidth 1 linecolor rgb colour[i]
    set label 10 + i label[i] at graph 1 + 20.0 / panel_width, graph label_at[i] left textcolor rgb ink
}

plot \
    for [k = 1:base_lines] data index base_block[k] using ($4 == 0 ? NaN : $4):(clipped($5)) with lines linewidth weight[base_series[k]] dashtype (6,4) linecolor rgb tint(colour_value[base_series[k]]), \
    for [k = 1:base_lines] data index base_block[k] using (at_x($4)):(inside($5)) with points pointtype shape[base_series[k]] pointsize 0.5 * dot linecolor rgb tint(colour_value[base_series[k]]), \
    for [k = 1:base_lines] data index base_block[k] using (at_x($4)):(low_end($5)) with points pointtype 10 pointsize 0.9 * dot linecolor rgb tint(colour_value[base_series[k]]), \
    for [k = 1:base_lines] data index base_block[k] using (at_x($4)):(high_end($5)) with points pointtype 8 pointsize 0.9 * dot linecolor rgb tint(colour_value[base_series[k]]), \
    for [k = 1:new_lines] data index new_block[k] using (at_x($4)):(clipped($5)):(clipped($6)):(clipped($7)) with yerrorbars pointtype -1 linewidth 1 linecolor rgb colour[new_series[k]], \
    for [k = 1:new_lines] data index new_block[k] using ($4 == 0 ? NaN : $4):(clipped($5)) with lines linewidth weight[new_series[k]] linecolor rgb colour[new_series[k]], \
    for [k = 1:new_lines] data index new_block[k] using (at_x($4)):(inside($5)) with points pointtype shape[new_series[k]] pointsize 0.75 * dot linecolor rgb colour[new_series[k]], \
    for [k = 1:new_lines] data index new_block[k] using (at_x($4)):(low_end($5)) with points pointtype 10 pointsize 1 * dot linecolor rgb colour[new_series[k]], \
    for [k = 1:new_lines] data index new_block[k] using (at_x($4)):(high_end($5)) with points pointtype 8 pointsize 1 * dot linecolor rgb colour[new_series[k]]

# Head and foot are drawn only with the first panel.
unset label
unset arrow
