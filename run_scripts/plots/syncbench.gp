# syncbench: what each kind of synchronisation costs.
width = 860
row_height = names == 2 ? 30 : 24
load 'sync.set'
height = body + 12 + all_rows * row_height + 66
title_text = 'What a synchronisation costs'
tables = 'sync'
load folder.'/style.gp'

table = 'sync'
x_title = 'time of one synchronisation (µs)'
load folder.'/rows.gp'
