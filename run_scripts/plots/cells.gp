# A square of cells, the slower the darker.
load tables.'.set'
names_room = 30 + 7 * (widest > 24 ? 24 : widest)
side = cells < 16 ? 380 : 600
width = names_room + side + 150
height = body + 12 + side + names_room + 30
load folder.'/style.gp'
unset grid

# Dark red to pale, which colour-blind people tell apart as dark and pale.
if (slow_is_low) { set palette defined (0 '#7f0000', 0.4 '#e34a33', 0.75 '#fdbb84', 1 '#fff7ec') \
} else { set palette defined (0 '#fff7ec', 0.25 '#fdbb84', 0.6 '#e34a33', 1 '#7f0000') }
set lmargin at screen across(names_room)
set rmargin at screen across(names_room + side)
set tmargin at screen down(body + 12)
set bmargin at screen down(body + 12 + side)
set colorbox user origin screen across(names_room + side + 24), screen down(body + 12 + side) size screen across(18), screen 1 - down(side)
set cbrange [lowest:(highest > lowest ? highest : lowest + 1)]
set cblabel axis_title offset 2,0 textcolor rgb ink
set format cb '%g'
set xrange [-0.5:cells - 0.5]
set yrange [cells - 0.5:-0.5]
set tics scale 0
set xtics () rotate by 90 right font small
set ytics () font small
do for [i = 1:tics] {
    set xtics add (tic_name[i] tic_at[i])
    set ytics add (tic_name[i] tic_at[i])
}
set xlabel 'from the node of a row to that of a column' textcolor rgb ink
plot tables.'.tsv' using 3:4:5 with image pixels
