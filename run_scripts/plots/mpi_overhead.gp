# mpi_overhead: what a message takes of the processor, and what is left, over sizes.
width = 860
height = body + 280 + 22 + 210 + 62
title_text = 'What a message takes of the processor'
tables = 'overhead available'
load folder.'/style.gp'

table = 'overhead'
panel_top = body
panel_bottom = body + 280
y_title = 'host overhead (µs)'
x_title = ''
load folder.'/lines.gp'

table = 'available'
panel_top = panel_bottom + 22
panel_bottom = panel_top + 210
y_title = 'available (% of transfer)'
x_title = 'message size (bytes)'
load folder.'/lines.gp'
