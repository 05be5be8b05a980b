# SPDX-License-Identifier: BSD-3-Clause
"""Outputs of other benchmarks, read as results: they were written by hand after the
programs' documentation, every format that they have for these benchmarks."""

import os
import re

from case import Case, call, each
from commcost.compare import bench_compare, row_changes, side_differences
from commcost.result import summary_table, tables
from commcost.result.launches import Launches
from commcost.result.result_reader import Result, ResultError
from made_results import SCRIPTS
from mpi_run import read_tsv

LATENCY = """# OSU MPI Latency Test v7.3
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)
0                       0.20
1                       {}
1048576                88.50
"""
GOOD = LATENCY.format("0.21")

# Output, the benchmark's name, columns with roles, and the rows' cells.
_MSGRATE = {"pattern": "key", "job_size": "key", "npeers": "key", "nmsgs": "key", "nbytes": "key",
            "cache_size": "key", "ppn": "key", "niters": "info", "rate_per_s": "more"}
OUTPUTS = {
    "osu_latency": (GOOD, "osu_latency",
                    {"size_bytes": "key", "avg_latency_us": "less"},
                    ["0|0.20", "1|0.21", "1048576|88.50"]),
    "osu_latency with validation": ("""
# OSU MPI Latency Test v7.2
# Datatype: MPI_CHAR.
# Size          Latency (us)        Validation P50 Tail Lat(us)
8                       0.33              Pass             0.40
16                      0.34              Fail             0.41
""", "osu_latency", {"size_bytes": "key", "avg_latency_us": "less", "validation": "info",
                     "p50_tail_lat_us": "info", "status": "info"},
                                    ["8|0.33|Pass|0.40|ok", "16|0.34|Fail|0.41|FAIL"]),
    "osu_bw": ("""# OSU MPI Bandwidth Test v7.3
# Datatype: MPI_CHAR.
# Size      Bandwidth (MB/s)
4096                 5000.25
""", "osu_bandwidth", {"size_bytes": "key", "bandwidth_mbs": "more"}, ["4096|5000.25"]),
    "osu_put_latency": ("""# OSU MPI_Put Latency Test v7.3
# Window creation: MPI_Win_allocate
# Synchronization: MPI_Win_flush
# Datatype: MPI_CHAR.
# Size          Latency (us)
1                       0.45
""", "osu_put_latency", {"size_bytes": "key", "avg_latency_us": "less"}, ["1|0.45"]),
    "osu_mbw_mr of several windows": ("""# OSU MPI-CUDA Multiple Bandwidth / Message Rate Test v7.3
# [ pairs: 1 ] [ window size: varied ]

# Uni-directional Bandwidth (MB/sec)
#              8          16
1              1.00        2.00
2              3.00        4.00

# Message Rate Profile
#              8          16
1        1000000.00  2000000.00
2        1500000.00  2000000.00
""", "osu_cuda_multiple_bandwidth_message_rate",
                                      {"size_bytes": "key", "window": "key", "rate_mbs": "more",
                                       "messages_per_s": "more"},
                                      ["1|8|1.00|1000000.00", "1|16|2.00|2000000.00",
                                       "2|8|3.00|1500000.00", "2|16|4.00|2000000.00"]),
    "osu_bw of several data types": ("""# OSU MPI Bandwidth Test v7.3
# Datatype: MPI_CHAR.
# Size      Bandwidth (MB/s)
4                       10.1
# Datatype: MPI_INT.
# Size      Bandwidth (MB/s)
4                      101.1
""", "osu_bandwidth", {"datatype": "key", "size_bytes": "key", "bandwidth_mbs": "more"},
                                     ["MPI_CHAR|4|10.1", "MPI_INT|4|101.1"]),
    "osu_ibarrier, whose headings have no #": ("""# OSU MPI Non-blocking Barrier Latency Test v5.7.1
# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait

       Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)
             89.72             68.02             63.15             65.64
""", "osu_non_blocking_barrier_latency", {"size_bytes": "key", "overall_us": "info", "compute_us": "info",
                                          "pure_comm_us": "less", "overlap_pct": "more"},
                                               ["NA|89.72|68.02|63.15|65.64"]),
    "a title without a version": ("""# OMB-Py MPI Bandwidth Test
# Size (B)  Bandwidth (MB/s)
1     1.25
""", "osu_py_bandwidth", {"size_bytes": "key", "bandwidth_mbs": "more"}, ["1|1.25"]),
    "any version, Windows": ("\ufeff# OSU MPI Latency Test v7.0-abc1\r\n# Size  Latency (us)\r\n1  1.25\r\n",
                             "osu_latency", {"size_bytes": "key", "avg_latency_us": "less"}, ["1|1.25"]),
    "lines with ranks": ("".join(f"{label}{line}" for label, line in zip(
        ("[1,0]<stdout>:", "[1,0]<stdout>:", "[1,1]<stderr>:", "[1,0]<stdout>:"),
        ("# OSU MPI Latency Test v7.5\n", "# Size  Latency (us)\n", "a warning\n", "1  1.25\n"))),
                         "osu_latency", {"size_bytes": "key", "avg_latency_us": "less"}, ["1|1.25"]),
    "srun -l": ("00: # OSU MPI Latency Test v7.5\n00: # Size  Latency (us)\n00: 1  1.25\n",
                "osu_latency", {"size_bytes": "key", "avg_latency_us": "less"}, ["1|1.25"]),
    "a title behind much else": (2500 * "[0] MPI startup(): 0  17  node  {0,4}\n" + GOOD,
                                 "osu_latency", {"size_bytes": "key", "avg_latency_us": "less"},
                                 ["0|0.20", "1|0.21", "1048576|88.50"]),
    "osu_allreduce -f": ("""
# OSU MPI Allreduce Latency Test v7.3
# Datatype: MPI_INT.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
4                       0.72              0.70              0.74        1000
""", "osu_collective", {"operation": "key", "size_bytes": "key", "avg_latency_us": "less",
                        "min_latency_us": "info", "max_latency_us": "info",
                        "iterations": "info"}, ["4|allreduce|0.72|0.70|0.74|1000"]),
    "osu_alltoall of device buffers": ("""
# OSU MPI-CUDA All-to-All Personalized Exchange Latency Test v7.5
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)
1                      51.55
""", "osu_cuda_collective", {"operation": "key", "size_bytes": "key", "avg_latency_us": "less"}, ["1|alltoall|51.55"]),
    "osu_reduce_scatter": ("""
# OSU MPI Reduce_scatter Latency Test v7.5
# Datatype: MPI_INT.
# Size       Avg Latency(us)
4                       1.06
""", "osu_collective", {"operation": "key", "size_bytes": "key", "total_bytes": "key", "avg_latency_us": "less"},
                           ["NA|reduce_scatter|4|1.06"]),
    "osu_barrier": ("""
# OSU MPI Barrier Latency Test v7.3
# Avg Latency(us)
             0.24
""", "osu_collective", {"operation": "key", "size_bytes": "key", "avg_latency_us": "less"}, ["NA|barrier|0.24"]),
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
""", "imb", {"operation": "key", "test": "key", "processes": "key", "size_bytes": "key", "repetitions": "info",
             "t_us": "less", "rate_mbs": "more", "t_min_us": "info", "t_max_us": "info",
             "t_avg_us": "less", "t_ovrl_us": "info", "t_pure_us": "less", "t_cpu_us": "info",
             "overlap_pct": "more"},
            ["NA|PingPong|2|0|1000|0.21|0.00|NA|NA|NA|NA|NA|NA|NA",
             "allreduce|Allreduce|4|4|1000|NA|NA|0.61|0.63|0.62|NA|NA|NA|NA",
             "barrier|Barrier|2|NA|1000|NA|NA|0.31|0.33|0.32|NA|NA|NA|NA",
             "NA|Ibcast|2|8|1000|NA|NA|NA|NA|NA|1.51|0.81|0.79|11.81",
             "NA|Unidir_Put (aggregate)|2|8|1000|0.50|16.00|NA|NA|NA|NA|NA|NA|NA"]),
    "imb of groups": ("""#    Intel(R) MPI Benchmark Suite V3.2.2, MPI1 part
# Benchmarking Multi-PingPing
# ( 3 groups of 2 processes each running simultaneous )
# Group  0:     0    1
        Group       #bytes #repetitions      t[usec]   Mbytes/sec
            0            0         1000         1.50         0.00
            1            0         1000         1.60         0.00
            0            8 out-of-mem.; needed X=   0.9 GB; use flag "-mem X"
# Benchmarking Multi-PingPing
# ( 2 groups of 4 processes each running simultaneous )
        Group       #bytes #repetitions      t[usec]   Mbytes/sec
            0            0         1000         2.50         0.00
""", "imb", {"operation": "key", "test": "key", "processes": "key", "size_bytes": "key", "groups": "key",
             "group": "key", "repetitions": "info", "t_us": "less", "rate_mbs": "more"},
                      ["NA|Multi-PingPing|2|0|3|0|1000|1.50|0.00", "NA|Multi-PingPing|2|0|3|1|1000|1.60|0.00",
                       "NA|Multi-PingPing|4|0|2|0|1000|2.50|0.00"]),
    "imb of threads": ("""# Benchmarking AllreduceMT
# #processes = 2 (threads: 4)
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]      defects
            4         1000         1.00         1.00         8.10         0.00
            8         1000         1.00         1.00         8.20         3.00
           16 time-out.; Time limit (a * b) is over; use "-time X" or Y=X (f.h) to increase time limit.
           32 int-overflow.; The production rank*size caused int overflow for given sample
""", "imb", {"operation": "key", "test": "key", "processes": "key", "size_bytes": "key", "threads": "key",
             "repetitions": "info", "t_min_us": "info", "t_max_us": "info", "t_avg_us": "less", "defects": "info", "status": "info"},
                                        ["NA|AllreduceMT|2|4|4|1000|1.00|1.00|8.10|0.00|ok",
                                         "NA|AllreduceMT|2|8|4|1000|1.00|1.00|8.20|3.00|FAIL"]),
    "imb Reduce_scatter of all blocks": ("""#    Intel(R) MPI Benchmarks 2018 Update 1, MPI-1 part
# Benchmarking Reduce_scatter
# #processes = 3
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
           12         1000         0.61         0.63         0.62
           16         1000         0.61         0.63         0.62
""", "imb", {"operation": "key", "test": "key", "processes": "key", "size_bytes": "key", "repetitions": "info",
             "t_min_us": "info", "t_max_us": "info", "t_avg_us": "less"},
                                         [f"reduce_scatter|Reduce_scatter|3|{size}|1000|0.61|0.63|0.62"
                                          for size in ("4", "5.33333")]),
    "imb Reduce_scatter of a block": ("""#    Intel(R) MPI Benchmarks 2021.3, MPI-1 part
# Benchmarking Reduce_scatter
# #processes = 3
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
           12         1000         0.61         0.63         0.62
""", "imb", {"operation": "key", "test": "key", "processes": "key", "size_bytes": "key", "repetitions": "info",
             "t_min_us": "info", "t_max_us": "info", "t_avg_us": "less"},
                                      ["reduce_scatter|Reduce_scatter|3|12|1000|0.61|0.63|0.62"]),
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
""", "smb_msgrate", _MSGRATE,
                    [f"{pattern}|4|2|128|8|16777216|1|4096|{rate}" for pattern, rate in (
                        ("single direction", "1234567.25"), ("pair-based", "1100000.00"),
                        ("pre-post", "1000000.50"), ("all-start", "900000.00"))]),
    "smb msgrate -o": ("4 2 4096 128 8 16777216 1 1234567.25 1100000.00 1000000.50 900000.00 \n",
                       "smb_msgrate", _MSGRATE,
                       ["single direction|4|2|128|8|16777216|1|4096|1234567.25",
                        "pair-based|4|2|128|8|16777216|1|4096|1100000.00",
                        "pre-post|4|2|128|8|16777216|1|4096|1000000.50",
                        "all-start|4|2|128|8|16777216|1|4096|900000.00"]),
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


def on(line, text=GOOD):
    """An output with another line, about buffers."""
    return text.replace("# Datatype: MPI_CHAR.", f"# {line}")


# Of perftest: headings of another program that look like those of Intel's.
PERFTEST = """------------------------------------------------------------------
                    RDMA_Write Latency Test
Inline data is used up to 400 bytes message
Connection type : RC
------------------------------------------------------------------
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]
 2       1000           1.16           2.83         1.18
 4       1000           1.16           2.90         1.18
------------------------------------------------------------------
"""


class Foreign(Case):
    @each("name", OUTPUTS)
    def test_outputs(self, name):
        text, benchmark, roles, rows = OUTPUTS[name]
        path = self.folder / "output.txt"
        path.write_text(text)
        with Result(str(path)) as result:
            assert ["|".join(cells) for cells in result.rows()] == rows
            assert (result.benchmark, result.roles) == (benchmark, roles)

    @each("title, headings, benchmark, columns", [
        ("OSU MPI Latency Test v5.3.2", "Size          Latency (us)",
         "osu_latency", "size_bytes=key avg_latency_us=less"),
        ("# OSU MPI Multiple Bandwidth / Message Rate Test v7.3", "# Size          MB/s    Messages/s",
         "osu_multiple_bandwidth_message_rate", "size_bytes=key rate_mbs=more messages_per_s=more"),
        ("# OSU MPI Neighborhood Allgather Latency Test v7.5", "# Size       Avg Latency(us)",
         "osu_neighborhood_allgather_latency", "size_bytes=key avg_latency_us=less"),
        ("# OSU MPI Non-blocking Allreduce Latency Test v7.3",
         "# Size   Overall(us)  Compute(us)  Pure Comm.(us)  Overlap(%)",
         "osu_non_blocking_allreduce_latency",
         "size_bytes=key overall_us=info compute_us=info pure_comm_us=less overlap_pct=more")])
    def test_headings_of_osu(self, title, headings, benchmark, columns):
        path = self.folder / "output.txt"
        path.write_text(f"\n{title}\n{headings}\n{' 8' * len(columns.split())}\n")
        with Result(str(path)) as result:
            assert (result.benchmark, result.value("columns")) == (benchmark, columns)

    @each("name, operation", [("Broadcast", "bcast"), ("All-to-Allv Personalized Exchange", "alltoallv"),
                              ("All-to-Allw Personalized Exchange", "alltoallw")])
    def test_collectives_of_osu(self, name, operation):
        path = self.folder / "output.txt"
        path.write_text(f"# OSU MPI {name} Latency Test v5.6.3\n# Size       Avg Latency(us)\n1        1.05\n")
        with Result(str(path)) as result:
            assert (result.benchmark, list(result.rows())) == ("osu_collective", [["1", operation, "1.05"]])

    @each("text, key, value", [
        (OUTPUTS["osu_put_latency"][0], "window_creation", "MPI_Win_allocate"),
        (OUTPUTS["osu_put_latency"][0], "program", "OSU Micro-Benchmarks 7.3"),
        (OUTPUTS["imb"][0], "program", "Intel MPI Benchmarks 2021.3"),
        (GOOD, "datatype", "MPI_CHAR"), (GOOD, "version", None),
        ("# Number of Receiver threads: 8\n" + GOOD, "number_of_receiver_threads", "8"),
        ("# job: 8\n" + GOOD, "job", None), (GOOD.replace("Datatype", "Schema"), "schema", None),
        (GOOD, "memory", "host:host"), (OUTPUTS["osu_alltoall of device buffers"][0], "memory", "NA"),
        (on("Send Buffer on DEVICE (D) and Receive Buffer on HOST (H)"), "memory", "device:host"),
        (on("Rank 0 Memory on HOST (H) and Rank 1 Memory on DEVICE (D)"), "memory", "host:device"),
        (on("Rank 0 Memory on MANAGED (M) and Rank 1 Memory on MANAGED (M)"), "memory", "managed:managed"),
        (on("Send Buffer on MANAGED-DEVICE (MD) and Receive Buffer on MANAGED-HOST (MH)"), "memory",
         "managed_device:managed_host"),
        (on("Memory on DEVICE"), "memory", "device"),
        (OUTPUTS["imb"][0].replace("# MPI_Datatype ", "# MPI_Op : MPI_MAX\n# MPI_Datatype "), "mpi_op", "MPI_MAX"),
        (OUTPUTS["imb"][0].replace("# MPI_Datatype ", "# MPI_Datatype for reductions "), "reduction_datatype",
         "MPI_BYTE"),
        (OUTPUTS["imb"][0].replace("# Date  ", "# Calling sequence was:\n\n# IMB-MPI1 -npmin 36\n# Date  "),
         "calling_sequence", "IMB-MPI1 -npmin 36")])
    def test_settings_are_metadata(self, text, key, value):
        path = self.folder / "a"
        path.write_text(text)
        with Result(str(path)) as result:
            assert result.value(key) == value

    @each("text, message", [
        (GOOD + GOOD, "line 7: a second title: use one launch per file .csplit"),
        (GOOD + "# SU MPI Bandwidth Test v5.6.2\n# Size  Bandwidth (MB/s)\n1  11.00\n", "line 7: a second title"),
        (GOOD + "# Size  Bandwidth (MB/s)\n1  11.00\n", "line 7: other columns under the same title"),
        (GOOD + "0  0.22\n", "line 7: a second row of size_bytes 0"),
        (GOOD[:60], "no rows under known headings"),
        ("# OSU MPI Init Test v5.6.2\nnprocs: 4, min: 67 ms\n", "no rows under known headings"),
        (GOOD.replace("0.20", ""), "line 4: '0' is no row of the columns size_bytes, avg_latency_us"),
        (GOOD.replace("0.20", "0.20  1"), "line 4: "), (GOOD.replace("0.20", "0,20"), "line 4: "),
        (GOOD + "2 [n1:17] *** Process received signal ***\n", "line 7: "),
        (GOOD + "1.5  0.22\n", "line 7: "), (GOOD + "12:00:01 3.5\n", "line 7: "), (GOOD + "00: 2  0.22\n", "line 7: "),
        (OUTPUTS["imb"][0] + OUTPUTS["imb"][0], "line 47: a second title"),
        (OUTPUTS["imb of threads"][0] + "2024-05-01 12:00 1 1 8.1 0\n", "line 8: "),
        (OUTPUTS["imb of threads"][0] + "0: Error Allreduce,size = 8,sample #0\n", "line 8: "),
        (OUTPUTS["imb of threads"][0] + " 4 1 1.00 1.00 8.10 0.00\n", "line 8: a second row of test "),
        (OUTPUTS["smb msgrate"][0] + "all-start: 900001.00\n", "line 12: a second row of pattern all-start"),
        (OUTPUTS["smb msgrate -o"][0] + "4 2 4096\n", "line 2: '4 2 4096' is no row"),
        (OUTPUTS["smb mpi_overhead"][0] + "8  1000  1.0  1.0  1.0  1.0  1.0\n", "line 9: a second row of direction"),
        (OUTPUTS["smb mpi_overhead"][0] + "32  1000  1.0\n", "line 9: "),
        (PERFTEST, "unknown output"), ("".join(OUTPUTS["imb of threads"][0].partition("   ")[1:]),
                                                "unknown output"),
        ("# Benchmarking\n" + PERFTEST, "unknown output"), ("some text\n", "unknown output"),
        ("# a comment\n1  2.5\n", "unknown output")])
    def test_broken(self, text, message):
        """A broken output is refused, with the line of the file."""
        path = self.folder / "a.txt"
        path.write_text(text)
        with self.assertRaisesRegex(ResultError, message):
            with Result(str(path)) as result:
                list(result.rows())

    @each("text, remarks", [
        (GOOD, []), (GOOD + "8  0.2", ["line 7 was cut off and doesn't count"]), (GOOD + "# end", []),
        (OUTPUTS["imb of threads"][0],
         ["line 6: the program left out a size of AllreduceMT: time-out",
          "line 7: the program left out a size of AllreduceMT: int-overflow"])])
    def test_what_is_missing_is_said(self, text, remarks):
        path = self.folder / "a.txt"
        path.write_text(text)
        launches = Launches()
        launches.add(0, str(path))
        launches.finish()
        assert launches.warnings == [f"{path}: {remark}" for remark in remarks]
        table, = tables.Tables([str(path)]).tables
        assert [remark.text for remark in table.remarks] == remarks


class Archive(Case):
    """Folders of outputs."""

    def written(self, side, *texts, name=""):
        """A folder with these outputs."""
        (self.folder / side).mkdir(exist_ok=True)
        for number, text in enumerate(texts):
            (self.folder / side / f"{name}{number}.txt").write_text(text)
        return str(self.folder / side)

    def launches(self, side, *texts):
        """The Launches of such a folder."""
        read = Launches()
        read.add(0, self.written(side, *texts))
        read.finish()
        return read

    def compared(self, *words, status=bench_compare.EXIT_TOO_FEW):
        """The rows of a comparison of the folders old and new, and its warnings."""
        done = call([os.path.join(SCRIPTS, "bench_compare"), "old", "new", *words], cwd=str(self.folder))
        assert done.returncode == status, done.stdout + done.stderr
        warnings = [line[len("# warning: "):] for line in done.stdout.splitlines() if line.startswith("# warning: ")]
        return read_tsv(done.stdout), warnings

    def test_archive_as_base(self):
        """A folder of outputs is compared and summarized."""
        for side, latency in (("old", 1.0), ("new", 1.5)):
            self.written(side, *(LATENCY.format(latency + run / 1000) for run in range(10)))
        rows, warnings = self.compared(status=1)
        assert {row["size_bytes"]: row["verdict"] for row in rows} == {"0": "same", "1": "slower", "1048576": "same"}
        assert warnings == []
        text, _ = summary_table.summarize([str(self.folder / "old")])
        assert "osu_latency\t1\tavg_latency_us\tus\t1.00450\t" in text
        read = tables.Tables([str(self.folder / "new"), str(self.folder / "old")])
        assert read.kinds() == ["osu_latency"]

    @each("old, new", [("HOST (H) and Rank 1 Memory on HOST (H)", "DEVICE (D) and Rank 1 Memory on DEVICE (D)"),
                       ("HOST (H) and Rank 1 Memory on HOST (H)", "HOST (H) and Rank 1 Memory on DEVICE (D)"),
                       ("HOST (H) and Rank 1 Memory on HOST (H)", "")])
    def test_memories(self, old, new):
        """Results of other buffers are refused, also if an output lost its buffer line, and are apart in one folder."""
        text = OUTPUTS["osu_put_latency"][0].replace("MPI_Put", "MPI_Put-CUDA")
        texts = [text.replace("# Datatype: MPI_CHAR.", f"# Rank 0 Memory on {memory}" if memory else "#")
                 for memory in (old, new)]
        for side, one in zip(("old", "new"), texts):
            self.written(side, one)
        done = call([os.path.join(SCRIPTS, "bench_compare"), "old", "new"], cwd=str(self.folder))
        assert done.returncode == 2 and "memory is host:host in old/0.txt" in done.stderr, done.stdout + done.stderr
        if new:
            rows = read_tsv(summary_table.summarize([self.written("both", *texts)])[0])
            assert [row["memory"] for row in rows] == ["host:host", ":".join(
                word.lower() for word in re.findall("HOST|DEVICE", new))]

    def test_equal_text_is_no_copy(self):
        """Outputs have few digits and no date; only the same file is read twice."""
        for side, latencies in (("old", 6 * ["2.00"]), ("new", 6 * ["2.20"])):
            self.written(side, *(OUTPUTS["osu_barrier"][0].replace("0.24", latency) for latency in latencies))
        os.link(self.folder / "new/0.txt", self.folder / "new/link.txt")
        os.symlink("0.txt", self.folder / "new/symlink.txt")
        (row,), (warning,) = self.compared(status=1)
        assert (row["verdict"], row["base_launches"], row["new_launches"]) == ("slower", "6", "6")
        assert row["p_uncorrected"] == "0.00216"  # 2 of 924
        assert warning.startswith("2 launches were read twice and count once")
        read = tables.Tables([str(self.folder / "new")])
        assert (len(read.tables), len(read.left)) == (6, 2)

    @each("broken, message", [
        (GOOD[:60], "no rows"), (GOOD + "2 [n1:17] *** signal ***\n", "line 7: "), (GOOD + GOOD, "line 7: ")])
    def test_broken_in_a_folder(self, broken, message):
        """It is named and left out, by comparison and report alike; it is refused where nothing else is there."""
        for side in ("old", "new"):
            self.written(side, GOOD, broken, GOOD)
        rows, warnings = self.compared()
        assert [(row["base_launches"], row["new_launches"]) for row in rows] == 3 * [("2", "2")]
        assert [warning.startswith(f"{side}/1.txt: {message}") for side, warning in zip(("old", "new"), warnings)] == [
            True, True]
        read = tables.Tables([str(self.folder / "new")])
        assert len(read.tables) == 2
        assert [f"new/1.txt: {message}" in text for text in read.left] == [True]
        with self.assertRaisesRegex(ResultError, f"new/1.txt: {message}"):
            Launches().add(0, str(self.folder / "new/1.txt"))
        with self.assertRaisesRegex(ResultError, f"bad/0.txt: {message}"):
            self.launches("bad", broken)

    def test_unknown_files_are_named_once(self):
        folder = self.written("old", GOOD)
        for name in ("a.log", "job.o17", "b.tsv", "report.html"):
            (self.folder / "old" / name).write_text("nothing that is known\n")
        message = f"{folder}/a.log and {folder}/job.o17: unknown, left out"
        assert [text for text in self.launches("old").warnings if "unknown, left out" in text] == [message]
        assert [text for text in tables.Tables([folder]).left if "unknown, left out" in text] == [message]

    def test_fewer_rows_than_others(self):
        """The launch that lacks a size of most others is named; what has another test isn't compared with it."""
        table = OUTPUTS["imb of threads"][0]
        short = "".join(GOOD.splitlines(True)[:-1])
        other = table.replace("AllreduceMT", "BcastMT").replace("            4 ", "            2 ")
        read = self.launches("old", GOOD, short, GOOD + "8  0.3\n", GOOD, table, table, other)
        assert [text for text in read.warnings if "missing" in text] == [
            f"osu_latency: rows of most launches are missing in {self.folder}/old/1.txt"]

    def test_a_program_is_missing(self):
        self.written("old", GOOD, OUTPUTS["osu_bw"][0])
        self.written("new", OUTPUTS["osu_bw"][0])
        rows, warnings = self.compared()
        assert warnings == ["the new side has no results of osu_latency"]
        assert [row["verdict"] for row in rows] == 3 * ["missing"] + ["not clear"]
        assert self.compared("--fail-on=missing", status=1) == (rows, warnings)

    @each("old, new, refused, named", [
        (GOOD, GOOD.replace("CHAR", "INT"), "osu_latency: datatype is MPI_CHAR in .*, MPI_INT in ", None),
        ("# Number of Sender threads: 1\n" + GOOD, "# Number of Sender threads: 2\n" + GOOD,
         "number_of_sender_threads is 1", None),
        (GOOD, GOOD.replace("# Datatype: MPI_CHAR.\n", ""), None, None),
        (GOOD, GOOD.replace("7.3", "7.5"), None, "program is OSU Micro-Benchmarks 7.3"),
        ("# Calling sequence was:\n# IMB -npmin 2\n" + OUTPUTS["imb"][0],
         "# Calling sequence was:\n# IMB -npmin 4\n" + OUTPUTS["imb"][0], None, "calling_sequence is IMB -npmin 2")])
    def test_settings(self, old, new, refused, named):
        """Outputs whose measurements differ aren't compared, nor put together; another version or calling is named."""
        paths = [[self.written("old", old)], [self.written("new", new)]]
        for sentences, message in zip(side_differences.differences(row_changes.read_all(paths)), (refused, named)):
            assert len(sentences) == (message is not None)
            if message:
                self.assertRegex(str(sentences[0]), message)
        files = [os.path.join(folder, "0.txt") for folder in sum(paths, [])]
        text, remarks = summary_table.summarize(files)
        warned = [remark for remark in remarks if "rows mix both" in remark]
        assert len(warned) == (named is not None)
        assert {row["launches"] for row in read_tsv(text)} == {"1" if refused else "2"}

    def test_tables_of_one_program_in_files(self):
        """A report shows the columns and keys of all files, whichever comes first."""
        folder = self.written("old", OUTPUTS["imb of threads"][0], OUTPUTS["imb of groups"][0])
        rows = tables.rows_by_key(tables.Tables([folder]), "imb")
        assert [(row.keys["threads"], row.keys["groups"], row.texts("t_us"), row.texts("t_avg_us"))
                for row in rows] == [
            ("4", "NA", [], ["8.10"]), ("4", "NA", [], []), ("NA", "3", ["1.50"], []), ("NA", "3", ["1.60"], []),
            ("NA", "2", ["2.50"], [])]

    @each("name", ['osu_"><img src=x>', "imb/../../x", "osu_\\1", "imb_sweep"])
    def test_names_that_are_none(self, name):
        """Only names that a reader here gives are another program's."""
        (self.folder / "a.tsv").write_text(f"# benchmark: {name}\n# columns: size_bytes=key x_us=less\n"
                                           "size_bytes\tx_us\n1\t2\n")
        with self.assertRaisesRegex(ResultError, "no results of benchmarks"):
            tables.Tables([str(self.folder)])
