# overlap_*, one row an operation: what fits under it, or what it gains against the blocking call.
# The caller has set title_of, quantity_title and table_of.
width = 860
row_height = names == 2 ? 30 : 24
load table_of.'.set'
height = body + 12 + all_rows * row_height + 66
title_text = title_of
tables = table_of
load folder.'/style.gp'

table = table_of
x_title = quantity_title
load folder.'/rows.gp'
