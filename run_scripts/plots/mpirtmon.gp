# mpirtmon: in which operations a program spent its time.
width = 860
row_height = names == 2 ? 30 : 24
load 'operations.set'
height = body + 28 + all_rows * row_height + panels * 88 - 22
title_text = 'What MPI did in the program'
tables = 'operations'
load folder.'/style.gp'

table = 'operations'
x_title = 'time from start to completion, all calls of all processes (s)'
load folder.'/rows.gp'
