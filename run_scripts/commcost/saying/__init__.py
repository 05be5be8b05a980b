"""What results mean, in tables and short lines.

    compare          bench_compare: what changed between two sets of launches
    vary             which of the settings that a suite varied is best
    output           writes tables as the benchmarks do

    scorecard        what results say at one look, one fact a line
    costs            its lines about what things cost
    gains            its lines about what pays: answers that rest on launches
    facts            a line, and values with units that are read at a glance
    report           report.sh, report_text.sh: what goes where on the page
    questions        a section of the page for each question: picture, matrix, rows
    page             a page as a tree of parts; as HTML, Markdown or plain text

    device_matrix    device_matrix.sh: which operations work with buffers on a GPU

    tune             tune.sh: the MPI library's best algorithms, as the file that it reads
    race             which choices are measured further, and which are better by the evidence

    program_cost     cost.sh: what communication costs a program
    program_changes  changes to the program that would save time: a rule each
    machine_costs    what calls cost on a machine, interpolated between results
"""
