# halo: what a swap takes by method, a panel for each box; over sizes where there are many.
width = 860
title_text = 'What a 3D halo swap takes'
tables = 'halo'
load 'halo.set'
table = 'halo'
if (over_sizes) {
    height = body + 440 + 62
    load folder.'/style.gp'
    panel_top = body
    panel_bottom = body + 440
    y_title = 'time of a swap (µs)'
    x_title = 'data that a process sends (bytes)'
    load folder.'/lines.gp'
} else {
    row_height = names == 2 ? 30 : 24
    height = body + 28 + all_rows * row_height + panels * 88 - 22
    load folder.'/style.gp'
    x_title = 'time of a swap (µs)'
    load folder.'/rows.gp'
}
