"""Pictures, drawn by gnuplot (run_scripts/plots).

    pictures  which pictures show a benchmark: axes, lines, panels
    panels    what gnuplot is told of a panel: its table, its settings
    plot      plot.sh: how gnuplot is called
"""
