# overlap_*, time-driven: one row a collective.
width = 860
row_height = names == 2 ? 30 : 24
load 'overlap.set'
height = body + 12 + all_rows * row_height + 66
title_text = 'Work that fits under each operation'
tables = 'overlap'
load folder.'/style.gp'

table = 'overlap'
x_title = 'overlap (% of the operation''s own time)'
load folder.'/rows.gp'
