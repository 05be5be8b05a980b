"""The suite that makes results, and what reads them. Each room uses only those above it:

    reading   files of results, launches, the statistics over them
    running   the suite, and how jobs are started
    drawing   pictures
    saying    comparison, scorecard, reports, and what communication costs a program

Rooms share `command` (command lines, errors of one line), `system` (files, commands) and `words` (numbers,
sizes and lists as people read them). Python 3.6 and its standard library are all that is needed.
"""

__version__ = "0.1.0"  # of commcost; CMakeLists.txt reads it here
