# SPDX-License-Identifier: BSD-3-Clause
"""Programs on many ranks: each ends, within the time that it has with defaults, and what it moves is right; what the
harness does for a row and for a sample doesn't grow with the ranks, nor does what rank 0 keeps, except for a few bytes a
rank."""

import math
import os
import tempfile

import virtual

FEW, MANY = 16, virtual.by_tier(plain=32, run=64, full=1024)
SIZES = virtual.by_tier(plain=(), run=(32,), full=(64, 256, 1024))

# Of all benchmarks: options with which a run is short.
SHORT = ("--samples=2", "--warmup=0", "--visits=1")
OVERLAP = ("--data-driven", "--min-num-elts=1", "--max-num-elts=1", "--check")
OPTIONS = {
    "pingpong": ("--max-ndata=8", "--max-stride=4", "--check"),
    "syncbench": ("--inner=8", "--max-neighbours=4"),
    "halo": ("--local=2", "--check"),
    "linkmap": ("--sizes=8", "--check"),
    "noise": ("--per=rank",),
    "checkup": (),
    "collective": ("--sizes=8", "--check"),
    "msgrate": ("--messages=2", "--size=8", "--cache=64K", "--check"),
    "msgrate_rma": ("--messages=2", "--size=8", "--cache=64K", "--check"),
    "mpi_overhead": ("--msgsize=8,128K", "--both", "--check"),
    "overlap_ibarrier": ("--data-driven", "--check"),
    "overlap_halo": ("--local=2", "--check"),
}
NO_BENCHMARKS = ("_bare", "_test", "_error", "coarray")

# The harness's cost is seen beside an operation that is the same on any number of ranks.
COSTS = (
    ("syncbench", "--types=pairwise", "--inner=2"),
    ("pingpong", "--arrangements=single", "--patterns=MPI Send", "--max-ndata=1"),
    ("halo", "--methods=persistent", "--local=1"),
    ("msgrate", "--peers=1", "--messages=1", "--size=1", "--cache=0", "--ppn=1"),
    ("mpi_overhead", "--msgsize=8"),
    ("overlap_ibcast", "--data-driven", "--max-num-elts=1"),
    ("overlap_ibarrier", "--data-driven"),
    ("collective", "--operations=bcast", "--sizes=8", "--start=barrier"),
    ("linkmap", "--sizes=8", "--visits=1"),
)
# The number of its operations depends on the time.
NOISE = ("noise", "--operations=barrier", "--grain=0")
SAMPLES = ("--warmup=0", "--samples=4")
MESSAGES = ("isend", "irecv", "send", "recv")
SLACK = 1.1  # rounding
# Bytes that rank 0 may keep for each rank more.
ALLOWED = {"linkmap": 2048, "noise": 2048}
WORD = 8


def programs():
    """The benchmarks of the build."""
    folder = os.path.join(virtual.BUILD, "tests/virtual")
    return sorted(name for name in os.listdir(folder) if os.access(os.path.join(folder, name), os.X_OK) and
                  os.path.isfile(os.path.join(folder, name)) and not name.endswith((*NO_BENCHMARKS, ".so")) and
                  not name.startswith(("example_", "monitor_", "foreign", "flavours")))


def posted(launch):
    """How many operations rank 0 posted, by name."""
    found = {}
    for row in launch.truths:
        found[row["operation"]] = found.get(row["operation"], 0) + int(row["posted"])
    return found


class Ranks(virtual.Test):
    def run_on(self, ranks, program, *options, **variables):
        nodes = ranks if program == "linkmap" else 1
        (launch,) = virtual.run(program, *options, ranks=ranks, VIRTUAL_NODES=nodes, MODEL_DATA=1, **variables)
        self.assertTrue(launch.rows)
        return launch

    def test_all_end(self):
        for ranks in SIZES:
            for program in programs():
                with self.subTest(program, ranks=ranks):
                    self.run_on(ranks, program, *SHORT, *OPTIONS.get(program, OVERLAP))

    def test_operations(self):
        """The harness posts the same on any number of ranks; that linkmap's tournament has more messages is its own."""
        for program, *options in COSTS[::virtual.by_tier(plain=5, run=1)]:
            with self.subTest(program):
                few, many = (posted(self.run_on(ranks, program, *options, *SAMPLES)) for ranks in (FEW, MANY))
                if program == "linkmap":
                    few, many = ({name: count for name, count in found.items() if name not in MESSAGES}
                                 for found in (few, many))
                self.assertEqual(few, many)

    def test_shared_clock(self):
        """Its messages of a rank grow no faster than log2(P), and so do those of its starts' agreements."""
        few, many = (posted(self.run_on(ranks, *COSTS[0], "--start=window", *SAMPLES)) for ranks in (FEW, MANY))
        for name, count in few.items():
            self.assertLessEqual(many[name], SLACK * count * math.log2(MANY) / math.log2(FEW), name)

    def memory(self, ranks, program, *options):
        """Returns the bytes that rank 0's program has allocated at most. Nodes have the smallest job's ranks: the data on a
        node's processors grows with its ranks."""
        with tempfile.NamedTemporaryFile("r", encoding="ascii") as file:
            done = virtual.run_raw(program, *options, *SAMPLES, VIRTUAL_RANKS=ranks, VIRTUAL_MEMORY=file.name,
                                   VIRTUAL_NODES=ranks if program == "linkmap" else ranks // FEW)
            self.assertEqual(done.returncode, 0, done.stderr)
            return int(file.read())

    def test_memory(self):
        for program, *options in (*COSTS, NOISE)[::virtual.by_tier(plain=5, run=1)]:
            with self.subTest(program):
                few, many = (self.memory(ranks, program, *options) for ranks in (FEW, MANY))
                virtual.say("{}: {} and {} bytes".format(program, few, many))
                self.assertLessEqual(many - few, ALLOWED.get(program, WORD) * (MANY - FEW))


if __name__ == "__main__":
    virtual.main()
