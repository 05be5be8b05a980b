# pingpong: latency, bandwidth, or what cutting the data into pieces costs, over sizes.
width = 860
height = body + 380 + 62
title_text = title_of
tables = 'pingpong'
load folder.'/style.gp'

table = 'pingpong'
panel_top = body
panel_bottom = body + 380
y_title = quantity_title
x_title = size_title
load folder.'/lines.gp'
