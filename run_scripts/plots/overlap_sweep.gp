# overlap_*, data-driven: overlap and the operation's own time over the message's size.
width = 860
height = body + 230 + 22 + 230 + 62
title_text = collective.': work that fits under it, and its own time'
tables = 'overlap time'
load folder.'/style.gp'

table = 'overlap'
panel_top = body
panel_bottom = body + 230
y_title = 'overlap (%)'
x_title = ''
load folder.'/lines.gp'

table = 'time'
panel_top = panel_bottom + 22
panel_bottom = panel_top + 230
y_title = 'time without work (µs)'
x_title = 'size (bytes)'
load folder.'/lines.gp'
