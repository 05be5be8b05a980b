# SPDX-License-Identifier: BSD-3-Clause
"""Reports and pictures.

    report            report.sh, report_text.sh
    quickstart        quickstart.sh after the build: suite, scorecard, page, table
    report_page       the page
    report_sections   its sections: scorecard, warnings, machine
    change_sections   its sections: changes from a base, varied settings
    question_sections its sections: one per question
    peer_matrices     matrices of who sends to whom and who waits for whom
    question_matrices a matrix of answers for each question
    row_tables        all rows of a benchmark
    plot              plot.sh: draws pictures with gnuplot
    pictures          which pictures show a benchmark's rows
    picture_panels    the table and settings of a panel for gnuplot
"""
