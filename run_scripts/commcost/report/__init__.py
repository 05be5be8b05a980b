"""Reports and pictures.

    report            report.sh, report_text.sh
    quickstart        quickstart.sh after the build: suite, scorecard, page, table
    report_page       the page
    report_sections   sections of the page around the questions
    question_sections a section of the page for each question
    plot              plot.sh: draws pictures with gnuplot
    pictures          which pictures show a benchmark's rows
    picture_panels    the table and settings of a panel for gnuplot
"""
