# SPDX-License-Identifier: BSD-3-Clause
# Lines over sizes, with a panel for each of `tables` from top to bottom.
width = 640
panel_height = words(tables) > 1 ? 230 : 380
height = body + words(tables) * (panel_height + 22) + 40
load folder.'/style.gp'

do for [n = 1:words(tables)] {
    table = word(tables, n)
    panel_top = body + (n - 1) * (panel_height + 22)
    panel_bottom = panel_top + panel_height
    is_last = n == words(tables)
    load folder.'/line_panel.gp'
}
