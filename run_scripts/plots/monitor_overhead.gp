# monitor_overhead: what the monitor adds to a call, loaded only, and with everything on.
width = 860
row_height = names == 2 ? 30 : 24
load 'added.set'
height = body + 28 + all_rows * row_height + panels * 88 - 22
title_text = 'What monitoring adds to a call'
tables = 'added'
load folder.'/style.gp'

table = 'added'
x_title = 'added (ns)'
load folder.'/rows.gp'
