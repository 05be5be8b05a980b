"""Pictures, drawn by gnuplot (run_scripts/plots).

    pictures  which pictures show a benchmark: axes, lines, panels
    panels    what a panel of a picture shows of results
    plot      plot.sh: what gnuplot is told, and how it is called
"""
