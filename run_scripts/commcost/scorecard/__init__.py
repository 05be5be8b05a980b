# SPDX-License-Identifier: BSD-3-Clause
"""The scorecard: results at a glance, one fact per line.

    card_table        its texts: headings, labels, units, notes, remedies
    scorecard         the lines under their headings
    cost_lines        lines about costs, one function per question
    gain_lines        lines about gains, one function per question, and about slow collectives
    change_lines      lines about changes and varied settings
    fact_lines        a line, its label, and values with their units
    card_title        the head line: machine, MPI library, launches, date
    caveats           limits of the answers
    program_warnings  warnings and notes of programs and suite
    card_text         the scorecard as text
"""
