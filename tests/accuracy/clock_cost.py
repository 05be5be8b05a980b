"""Is the cost of each rank's own clock taken off?

The clock of rank 1 costs much, that of rank 0 little. In an operation that rank 1 comes late to,
rank 0 is the slowest: the operation takes its time, with no more than what its own clock costs
taken off. Rank 1's first reading makes it come later, by what its clock costs, than with a quick
clock, so the operation must be found to take just that longer: it would take no longer if the
greatest cost were taken off all ranks.
"""

import re
import statistics

from mpi_run import number, read_tsv

COST_US, LATE_US, OPERATION_US = 10, 20, 50
TOLERANCE = 0.2  # of what the clocks differ by
LAUNCHES = 3


def test_cost_of_each_clock(accuracy, late_barrier, built):
    def medians(cost_us):
        """What the operation takes, and what the metadata says that the clock costs."""
        found = []
        for _ in range(LAUNCHES):
            output = late_barrier(LATE_US, OPERATION_US, CLOCK_COST_NS=int(1000 * cost_us),
                                  libraries=[built("tests/accuracy/libclock_shift.so")])
            row, = read_tsv(output)
            stated_ns = re.search(r"^# clock_cost_ns: (\S+)$", output, re.MULTILINE).group(1)
            found.append((number(row["ref_us"]), float(stated_ns) / 1000))
        return map(statistics.median, zip(*found))

    def trial():
        (quick_us, quick_cost_us), (slow_us, slow_cost_us) = medians(0), medians(COST_US)
        later_us = slow_cost_us - quick_cost_us
        return {"quick": quick_us, "quick clock": quick_cost_us, "slow": slow_us,
                "slow clock": slow_cost_us, "later": later_us,
                "error": slow_us - quick_us - later_us,
                "too little later": min(later_us - COST_US / 2, 0.0)}

    def text(us):
        return (f"{us['quick clock']:.3f} us: {us['quick']:.3f} us; {us['slow clock']:.3f} us: "
                f"{us['slow']:.3f} us, should be {us['quick'] + us['later']:.3f} us")

    accuracy.check("clock of rank 1", trial, launches=1, text=text, fixed=lambda us: {
        "error": TOLERANCE * us["later"], "too little later": 0.0})
