"""What other benchmarks print, read as results: outputs that were written by hand after the
programs' documentation, every format that they have for these benchmarks."""

import os

from case import Case, call, each
from commcost import foreign, summarize, tables
from commcost.results import Result, ResultError
from made_results import SCRIPTS

LATENCY = """# OSU MPI Latency Test v7.3
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)
0                       0.20
1                       {}
1048576                88.50
"""

# Output, the benchmark's name, columns with roles, and the rows' cells.
OUTPUTS = {
    "osu_latency": (LATENCY.format("0.21"), "osu_latency",
                    {"size_bytes": "key", "avg_latency_us": "less"},
                    ["0|0.20", "1|0.21", "1048576|88.50"]),
    "osu_latency of 5.x": ("""# OSU MPI Latency Test v5.9
# Size          Latency (us)
8                       0.33
""", "osu_latency", {"size_bytes": "key", "latency_us": "less"}, ["8|0.33"]),
    "osu_latency with validation": ("""
# OSU MPI Latency Test v7.2
# Datatype: MPI_CHAR.
# Size          Latency (us)        Validation
8                       0.33              Pass
""", "osu_latency", {"size_bytes": "key", "latency_us": "less", "validation": "info"},
                                    ["8|0.33|Pass"]),
    "osu_bw": ("""# OSU MPI Bandwidth Test v7.3
# Datatype: MPI_CHAR.
# Size      Bandwidth (MB/s)
4096                 5000.25
""", "osu_bandwidth", {"size_bytes": "key", "bandwidth_mbs": "more"}, ["4096|5000.25"]),
    "osu_mbw_mr": ("""# OSU MPI Multiple Bandwidth / Message Rate Test v7.3
# [ pairs: 1 ] [ window size: 64 ]
# Datatype: MPI_CHAR.
# Size                  MB/s        Messages/s
1                       5.02        5019763.76
""", "osu_multiple_bandwidth_message_rate",
                   {"size_bytes": "key", "rate_mbs": "more", "messages_per_s": "more"},
                   ["1|5.02|5019763.76"]),
    "osu_put_latency": ("""# OSU MPI_Put Latency Test v7.3
# Window creation: MPI_Win_allocate
# Synchronization: MPI_Win_flush
# Datatype: MPI_CHAR.
# Size          Latency (us)
1                       0.45
""", "osu_put_latency", {"size_bytes": "key", "latency_us": "less"}, ["1|0.45"]),
    "osu_allreduce -f": ("""
# OSU MPI Allreduce Latency Test v7.3
# Datatype: MPI_INT.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
4                       0.72              0.70              0.74        1000
""", "osu_allreduce_latency", {"size_bytes": "key", "avg_latency_us": "less",
                               "min_latency_us": "info", "max_latency_us": "info",
                               "iterations": "info"}, ["4|0.72|0.70|0.74|1000"]),
    "osu_barrier": ("""
# OSU MPI Barrier Latency Test v7.3
# Avg Latency(us)
             0.24
""", "osu_barrier_latency", {"size_bytes": "key", "avg_latency_us": "less"}, ["NA|0.24"]),
    "osu_iallreduce": ("""
# OSU MPI Non-blocking Allreduce Latency Test v7.3
# Datatype: MPI_INT.
# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait

# Size           Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)
4                       1.42              0.66              0.70              0.00
""", "osu_non_blocking_allreduce_latency",
                       {"size_bytes": "key", "overall_us": "info", "compute_us": "info",
                        "pure_comm_us": "less", "overlap_pct": "more"},
                       ["4|1.42|0.66|0.70|0.00"]),
    "imb": ("""#------------------------------------------------------------
#    Intel(R) MPI Benchmarks 2021.3, MPI-1 part
#------------------------------------------------------------
# Date                  : Mon Nov 23 12:00:00 2026
# MPI Version           : 4.0
# MPI_Datatype                   :   MPI_BYTE
#---------------------------------------------------
# Benchmarking PingPong
# #processes = 2
# ( 2 additional processes waiting in MPI_Barrier)
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         0.21         0.00
      4194304           10 out-of-mem.; needed X=   0.9 GB; use flag "-mem X"

#----------------------------------------------------------------
# Benchmarking Allreduce
# #processes = 4
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            4         1000         0.61         0.63         0.62

#---------------------------------------------------
# Benchmarking Barrier
# #processes = 2
#---------------------------------------------------
 #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         1000         0.31         0.33         0.32

#---------------------------------------------------
# Benchmarking Ibcast
# #processes = 2
#---------------------------------------------------
       #bytes #repetitions t_ovrl[usec] t_pure[usec]  t_CPU[usec]   overlap[%]
            8         1000         1.51         0.81         0.79        11.81

#---------------------------------------------------
# Benchmarking Unidir_Put
# #processes = 2
#---------------------------------------------------
#
#    MODE: AGGREGATE
#
       #bytes #repetitions      t[usec]   Mbytes/sec
            8         1000         0.50        16.00
""", "imb", {"test": "key", "processes": "key", "size_bytes": "key", "repetitions": "info",
             "t_us": "less", "rate_mbs": "more", "t_min_us": "info", "t_max_us": "info",
             "t_avg_us": "less", "t_ovrl_us": "info", "t_pure_us": "less", "t_cpu_us": "info",
             "overlap_pct": "more"},
            ["PingPong|2|0|1000|0.21|0.00|NA|NA|NA|NA|NA|NA|NA",
             "Allreduce|4|4|1000|NA|NA|0.61|0.63|0.62|NA|NA|NA|NA",
             "Barrier|2|NA|1000|NA|NA|0.31|0.33|0.32|NA|NA|NA|NA",
             "Ibcast|2|8|1000|NA|NA|NA|NA|NA|1.51|0.81|0.79|11.81",
             "Unidir_Put (aggregate)|2|8|1000|0.50|16.00|NA|NA|NA|NA|NA|NA|NA"]),
    "imb of groups": ("""#    Intel(R) MPI Benchmark Suite V3.2.2, MPI1 part
# Benchmarking Multi-PingPing
# ( 2 groups of 2 processes each running simultaneous )
# #processes = 4
        Group       #bytes #repetitions      t[usec]   Mbytes/sec
            0            0         1000         1.50         0.00
            1            0         1000         1.60         0.00
""", "imb", {"test": "key", "processes": "key", "size_bytes": "key", "group": "key",
             "repetitions": "info", "t_us": "less", "rate_mbs": "more"},
                      ["Multi-PingPing|4|0|0|1000|1.50|0.00", "Multi-PingPing|4|0|1|1000|1.60|0.00"]),
    "smb msgrate": ("""job size:   4
npeers:     2
niters:     4096
nmsgs:      128
nbytes:     8
cache size: 16777216
ppn:        1
single direction: 1234567.25
pair-based: 1100000.00
  pre-post: 1000000.50
 all-start: 900000.00
""", "smb_msgrate", foreign._MSGRATE_ROLES,
                    [f"{pattern}|4|2|4096|128|8|16777216|1|{rate}" for pattern, rate in (
                        ("single direction", "1234567.25"), ("pair-based", "1100000.00"),
                        ("pre-post", "1000000.50"), ("all-start", "900000.00"))]),
    "smb msgrate -o": ("4 2 4096 128 8 16777216 1 1234567.25 1100000.00 1000000.50 900000.00 \n",
                       "smb_msgrate", foreign._MSGRATE_ROLES,
                       ["single direction|4|2|4096|128|8|16777216|1|1234567.25",
                        "pair-based|4|2|4096|128|8|16777216|1|1100000.00",
                        "pre-post|4|2|4096|128|8|16777216|1|1000000.50",
                        "all-start|4|2|4096|128|8|16777216|1|900000.00"]),
    "smb mpi_overhead": ("""Calculating receive overhead
Message size is 8 bytes
work    iter_t       base_t
1       3.992        3.992
msgsize iterations  iter_t      work_t      overhead    base_t      avail(%)
8       1000        9.465       8.608       0.858       3.990       78.5
16      1000        9.400       8.600       0.800       3.990       -0.5
mpi_overhead: done
""", "smb_mpi_overhead", {"direction": "key", "msgsize": "key", "iterations": "info",
                          "iter_t": "info", "work_t": "info", "overhead": "less", "base_t": "less",
                          "avail(%)": "more"},
                         ["recv|8|1000|9.465|8.608|0.858|3.990|78.5",
                          "recv|16|1000|9.400|8.600|0.800|3.990|-0.5"]),
}


class Foreign(Case):
    @each("name", OUTPUTS)
    def test_outputs(self, name):
        text, benchmark, roles, rows = OUTPUTS[name]
        path = self.folder / "output.txt"
        path.write_text(text)
        with Result(str(path)) as result:
            assert ["|".join(cells) for cells in result.rows()] == rows
            assert (result.benchmark, result.roles) == (benchmark, roles)

    def test_settings_are_metadata(self):
        path = self.folder / "a"
        path.write_text(OUTPUTS["osu_put_latency"][0])
        with Result(str(path)) as result:
            assert result.value("window_creation") == "MPI_Win_allocate"
            assert result.value("synchronization") == "MPI_Win_flush"
            assert result.value("version") == "7.3"

    @each("text, said", [
        (LATENCY.format("0.21") + LATENCY.format("0.22"), "a second table begins"),
        (LATENCY[:60], "no rows"),
        (LATENCY.replace("{}", ""), "has 1 cells, where 2 columns are named")])
    def test_broken(self, text, said):
        path = self.folder / "a.txt"
        path.write_text(text)
        with self.assertRaisesRegex(ResultError, said):
            with Result(str(path)) as result:
                list(result.rows())

    def test_archive_as_base(self):
        """A folder of outputs is compared and summarized."""
        for side, latency in (("old", 1.0), ("new", 1.5)):
            (self.folder / side).mkdir()
            for run in range(10):
                (self.folder / side / f"{run}.txt").write_text(
                    LATENCY.format(latency + run / 1000))
        done = call([os.path.join(SCRIPTS, "bench_compare"), "old", "new"], cwd=str(self.folder))
        assert done.returncode == 1, done.stderr
        rows = [line.split("\t") for line in done.stdout.splitlines() if not line.startswith("#")]
        verdicts = {row[rows[0].index("size_bytes")]: row[rows[0].index("verdict")] for row in rows[1:]}
        assert verdicts == {"0": "same", "1": "slower", "1048576": "same"}
        text, _ = summarize.summarize([str(self.folder / "old")])
        assert "osu_latency\tsize_bytes=1\tavg_latency_us\tus\t1.00450\t" in text
        read = tables.Tables([str(self.folder / "new"), str(self.folder / "old")])
        assert read.kinds() == ["osu_latency"]

    @each("name", ['osu_"><img src=x>', "imb/../../x", "osu_\\1", "imb_sweep"])
    def test_names_that_are_none(self, name):
        """Only names that a reader here gives are another program's."""
        (self.folder / "a.tsv").write_text(f"# benchmark: {name}\n# columns: size_bytes=key x_us=less\n"
                                           "size_bytes\tx_us\n1\t2\n")
        with self.assertRaisesRegex(ResultError, "no results of benchmarks"):
            tables.Tables([str(self.folder)])
