# One panel over sizes: what a transfer takes, or a quantity of another program. The caller has set
# title_of, quantity_title and size_title; `tables` if it isn't 'sizes'.
width = 860
height = body + 380 + 62
title_text = title_of
if (!exists('tables')) { tables = 'sizes' }
load folder.'/style.gp'

table = tables
panel_top = body
panel_bottom = body + 380
y_title = quantity_title
x_title = size_title
load folder.'/lines.gp'
