"""The suite that makes results, and what reads them. Rooms, each of which uses only those above it:

    result     the reader and the model of results, the statistics over launches
    suite      the suite, and how jobs are started
    compare    comparisons of two sides, and of settings
    scorecard  what results say at one look
    report     pages and pictures
    cost       what communication costs a program
    tune       the MPI library's best algorithms, and what works on a GPU

Rooms share `command` (command lines, errors of one line), `system` (files, commands), `words` (numbers, sizes and lists
as people read them) and `page` (a report as a tree of parts). Python 3.6 and its standard library are all that is needed.
"""

__version__ = "0.1.0"  # of commcost; CMakeLists.txt reads it here
