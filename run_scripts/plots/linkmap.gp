# linkmap: what the links of each node take. The caller has set quantity_title.
width = 860
row_height = names == 2 ? 30 : 24
load 'nodes.set'
height = body + 28 + all_rows * row_height + panels * 88 - 22
title_text = 'The links of each node, the slowest first'
tables = 'nodes'
load folder.'/style.gp'

table = 'nodes'
x_title = quantity_title
load folder.'/rows.gp'
