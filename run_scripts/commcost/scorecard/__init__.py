"""The scorecard: what results say at one look, one fact a line.

    scorecard         the lines under their headings, as text
    cost_lines        lines about costs, a function a question
    gain_lines        lines about gains, a function a question
    fact_lines        a line, and values with units that are read at a glance
"""
