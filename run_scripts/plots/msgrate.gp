# msgrate and msgrate_rma: messages a second by pattern; over sizes where there are many.
width = 860
title_text = title_of
tables = 'rate'
load 'rate.set'
table = 'rate'
if (over_sizes) {
    height = body + 340 + 62
    load folder.'/style.gp'
    panel_top = body
    panel_bottom = body + 340
    y_title = 'messages a second and process'
    x_title = 'message size (bytes)'
    load folder.'/lines.gp'
} else {
    row_height = names == 2 ? 30 : 24
    height = body + 28 + all_rows * row_height + panels * 88 - 22
    load folder.'/style.gp'
    x_title = 'million messages a second and process, sent and received'
    load folder.'/rows.gp'
}
