"""The scorecard: what results say at one look, one fact a line.

    scorecard         the lines under their headings
    cost_lines        lines about costs, a function a question
    gain_lines        lines about gains, a function a question
    change_lines      lines about changes and varied settings
    fact_lines        a line, and values with units that are read at a glance
    card_title        the title: of which machine
    card_limits       what limits the answers
    card_text         the scorecard as text
"""
