# SPDX-License-Identifier: BSD-3-Clause
"""The overlap suite as a user runs it: wrong usage, the environment variables, the data checks, the
defaults, the search for a size and for the amount of work, and what is gained: calls of MPI_Test,
forms, verdicts, messages, one-sided transfers and halos."""

import os
import re
import statistics

from case import also_many, by_ranks, Case, each, full, in_full, Near, within
from mpi_run import COLLECTIVES, OPERATIONS, PAIRS, WHOLE, number, read, read_tsv, run_raw

# One size, few samples: for tests that are not about the numbers.
SHORT = ["--data-driven", "--min-num-elts=64", "--max-num-elts=64", "--samples=5", "--warmup=1"]
IALLREDUCE = "overlap/overlap_iallreduce"


class OverlapCase(Case):
    def overlap(self, *options, collective="iallreduce", ranks=2, before=(), status=0, **variables):
        """Runs the program of a collective, with words before it and with variables; returns the process, which ended
        with this status."""
        if collective == "partitioned" and not os.path.exists(f"{self.build}/overlap/overlap_partitioned"):
            self.skipTest("the MPI library has no partitioned messages")
        program = [*before, self.built("overlap/overlap_" + collective), *options]
        done = run_raw(self.launcher, ranks, [*program, *WHOLE], variables)
        assert done.returncode == status, (done.args, done.stdout[-2000:], done.stderr[-2000:])
        return done

    def rows_of(self, *options, **how):
        """The rows of a run."""
        return read_tsv(self.overlap(*options, **how).stdout)


class Variables(OverlapCase):
    """Every variable of the specification works."""

    def rows(self, *options, **variables):
        """The rows on a model whose operations take 100 us, half of them overlapped."""
        return self.rows_of(*options, **{"MODEL_DURATION_US": 100, "MODEL_FRACTION": 0.5,
                                         **variables})

    def test_sizes_data_driven(self):
        found = self.rows("--max-time=0.05", OPENHPCA_DATA_DRIVEN_EXECUTION=1,
                          OPENHPCA_OVERLAP_MIN_NUM_ELTS=3, OPENHPCA_OVERLAP_MAX_NUM_ELTS=20)
        assert [row["elements"] for row in found] == ["3", "6", "12", "20"]
        assert {row["model"] for row in found} == {"data"}

    @each("sizes, elements", [("64,8,1,64:128,12", ["8", "1", "16", "2"]), ("0", ["1"])])
    def test_sizes(self, sizes, elements):
        """In bytes, in their order, each once, rounded up, whatever the options of elements."""
        found = self.rows(f"--sizes={sizes}", "--max-time=0.05", OPENHPCA_OVERLAP_MIN_NUM_ELTS=100)
        assert [row["elements"] for row in found] == elements
        assert {row["model"] for row in found} == {"data"}

    def test_command_line_beats_environment(self):
        found = self.rows("--max-time=0.05", "--max-num-elts=4", "--min-num-elts=4",
                          OPENHPCA_DATA_DRIVEN_EXECUTION="yes", OPENHPCA_OVERLAP_MIN_NUM_ELTS=100)
        assert [row["elements"] for row in found] == ["4"]
        found = self.rows("--max-time=0.05", "--data-driven-execution=no", "--max-num-elts=4",
                          OPENHPCA_DATA_DRIVEN_EXECUTION="yes")
        assert [row["model"] for row in found] == ["time"]

    @each("variables, elements", [
        ({}, "16384"), ({"OPENHPCA_OVERLAP_CUTOFF_TIME": 0.2}, "4096")])
    def test_time_driven_finds_the_size(self, variables, elements):
        """10 ns a byte: 80 ns an element. The first power of two that takes 1 ms is 16384, 0.2 ms
        4096, set by its variable."""
        found = self.rows("--max-time=0.3", MODEL_DURATION_US=0, MODEL_PER_BYTE_NS=10, **variables)
        assert [(row["model"], row["elements"]) for row in found] == [("time", elements)]

    @each("option, elements", [("--max-num-elts=1000", "1000"), ("--min-num-elts=1000", "131072")])
    def test_limited_sizes_do_not_reach_the_cutoff(self, option, elements):
        row, = self.rows("--max-time=0.2", option, MODEL_DURATION_US=50)
        assert (row["model"], row["elements"], row["status"]) == ("time", elements, "max-size")

    @each("program, options, elements", [
        (IALLREDUCE, [], ["128", "8192", "131072"]),
        ("overlap/overlap_partitioned", ["--partitions=8"], ["128", "8192", "131072"]),
        ("overlap/overlap_partitioned", ["--partitions=3"], ["129", "8193"]),
        ("overlap/overlap_partitioned", ["--partitions=256"], ["256", "8192", "131072"])])
    def test_no_size_takes_the_cutoff(self, program, options, elements):
        """Three sizes are measured as data-driven rows, whose elements are a key, and one note names the cutoff."""
        done = self.overlap(*options, "--max-time=0.1", "--metadata=full", "--cutoff-time=1.5",
                            collective=program.partition("_")[2], MODEL_DURATION_US=50, MODEL_LATENCY_US=50)
        rows = read_tsv(done.stdout)
        assert [row["elements"] for row in rows][:len(elements)] == elements
        assert {row["model"] for row in rows} == {"data"}
        assert {row["status"] for row in rows} <= {"ok", "budget"}
        assert re.findall("# note: (no size.*)", done.stdout) == [
            "no size takes the cutoff time of 1.5 ms: --data-driven measures more"]
        assert " elements=key " in done.stdout
        assert "less than half of --cutoff-time" not in done.stdout

    @each("value", [0, 1])
    def test_verbose(self, value):
        text = self.overlap(*SHORT, OPENHPCA_OVERLAP_VERBOSE=value).stdout
        # Remarks, in addition to the option's value among the metadata.
        assert bool(re.search(r"# verbose: (?!(yes|no)\b)", text)) == bool(value)

    @each("name", ["OPENHPCA_OVERLAP_DEFAULT_TDM_N_ITERS",
                   "OVERLAP_DEFAULT_TDM_N_ITERS_ENVVAR"])
    def test_iterations(self, name):
        row, = self.rows("--max-num-elts=1", **{name: 25})
        assert row["samples"] == "25"

    @each("name", ["OPENHPCA_OVERLAP_MAX_TDM_ITERS",
                   "OVERLAP_MAX_TDM_ITERS_ENVVAR"])
    def test_max_iterations(self, name):
        row, = self.rows("--max-num-elts=1", "--precision=0.001", "--visits=1", MODEL_LATE_SHARE=0.33,
                         MODEL_LATE_US=50, **{name: 50})
        assert row["samples"] == "50"

    @each("percent, low, high", [(0.5, 0, 0.01), (20, 0.02, 0.2)])
    def test_acceptance_threshold(self, percent, low, high):
        """The search ends when its bracket is within this share of the work."""
        output = self.overlap("--data-driven", "--max-num-elts=1", "--verbose", "--visits=1",
                              MODEL_DURATION_US=200, MODEL_FRACTION=0.5,
                              OPENHPCA_OVERLAP_ACCEPTANCE_THRESHOLD=f"{percent}%").stdout
        fits, exceeds = map(float, re.search(r"([\d.]+) us fits, ([\d.]+) us does not", output).groups())
        assert low < (exceeds - fits) / exceeds <= high

    @each("steps", [0, 4])
    def test_validation_steps(self, steps):
        """Work as long as the operation never fits, half as much does: the first amount fails
        once, and once more for each validation step."""
        text = self.overlap("--max-num-elts=1", "--visits=1", MODEL_DURATION_US=100, MODEL_FRACTION=0.8,
                            OPENHPCA_OVERLAP_DEBUG=1, OPENHPCA_OVERLAP_VALIDATION_STEPS=steps).stdout
        fits = [not line.endswith("does not fit") for line in text.splitlines()
                if line.startswith("# debug: trial")]
        assert fits, text
        assert fits.index(True) == steps + 1


@each("collective", COLLECTIVES)
class Data(OverlapCase):
    """--check: right data passes, wrong data fails, for every collective."""

    def test_right_data(self, collective):
        rows = self.rows_of("--check", "--root=1", "--max-time=0.2", *SHORT, "--visits=1",
                            collective=collective, ranks=3)
        assert rows[0]["status"] in ("ok", "budget")

    @each("corrupt", [0, 1])
    def test_wrong_data(self, collective, corrupt):
        row, = self.rows_of("--check", *SHORT, collective=collective, status=corrupt,
                            MODEL_DURATION_US=20, MODEL_FRACTION=1, MODEL_DATA=1, MODEL_CORRUPT=corrupt)
        assert row["status"] == ("FAIL" if corrupt else "ok")


@full
class Defaults(OverlapCase):
    """With its defaults each program ends with rows."""

    @each("collective", [*OPERATIONS, "partitioned"])
    def test_all(self, collective):
        rows = self.rows_of(collective=collective)
        assert len(rows) >= 1
        for row in rows:
            assert number(row["ref_us"]) > 0.0
            assert row["status"] in ("ok", "budget")
            assert int(row["samples"]) >= 6
            assert "NA" not in (row["gain_lo_us"], row["exposed_hi_us"], row["verdict"])


class Mean(OverlapCase):
    """--estimator=mean is the specification to the letter."""

    def mean(self, **variables):
        """The row, the samples of the first phase in us, and all that was printed."""
        path = self.folder / "samples"
        text = self.overlap("--estimator=mean", "--data-driven", "--max-num-elts=1", "--samples=400", "--verbose",
                            f"--dump-samples={path}", MODEL_DURATION_US=200, **variables).stdout
        row, = read_tsv(text)
        return row, [float(sample["value_ns"]) / 1000 for sample in read_tsv(read(path))
                     if sample["quantity"] == "reference_phase"], text

    def test_mean_and_deviation_of_the_first_phase(self):
        row, reference, _ = self.mean(MODEL_FRACTION=0.5)
        assert len(reference) == 400
        assert number(row["ref_us"]) == within(statistics.mean(reference), 0.1)
        assert number(row["ref_sd_us"]) == within(statistics.stdev(reference), 0.01)

    def test_outliers_make_any_work_fit(self):
        row, reference, said = self.mean(MODEL_FRACTION=0, MODEL_LATE_SHARE=0.05, MODEL_LATE_US=2000)
        assert statistics.stdev(reference) > 200
        # As much work as the reference takes, the first amount that is tried, fits.
        assert re.search("phases 3 and 4: 1 trials, [0-9.]+ us fits, inf us does not", said)
        assert number(row["overlap_pct"]) > 95.0


class Growth(OverlapCase):
    """The search for a size that takes the cutoff time."""

    def search(self, **variables):
        """The row, the sizes that were tried with their times in us, and whether there is a
        warning."""
        text = self.overlap("--verbose", "--max-time=0.5", "--max-num-elts=131072", **variables).stdout
        tried = [(int(elements), float(time_us)) for elements, time_us in re.findall(
            r"(?m)^# verbose: (\d+) elements: ([\d.]+) us, cutoff 1000.000 us$", text)]
        row, = read_tsv(text)
        return row, tried, "less than half of --cutoff-time" in text

    def test_a_size_takes_it_twice(self):
        row, tried, warned = self.search(MODEL_DURATION_US=2000)
        assert (row["elements"], [size for size, _ in tried], warned) == ("1", [1, 1], False)
        row, tried, warned = self.search(MODEL_DURATION_US=200)
        assert (row["elements"], row["status"], warned) == ("131072", "max-size", False)

    def test_found_by_mistake(self):
        """Operations that are late by chance: of a few their median is, too. What two in a row show
        is believed, and the row then shows the mistake."""
        mistakes = once = 0
        for seed in range(60):
            row, tried, warned = self.search(MODEL_DURATION_US=200, MODEL_LATE_SHARE=0.33,
                                             MODEL_LATE_US=2000, MODEL_SEED=seed)
            found = row["status"] != "max-size"
            assert warned == (found and number(row["ref_us"]) < 500.0)
            if found:
                assert tried[-1][0] == tried[-2][0]
                assert min(tried[-1][1], tried[-2][1]) >= 1000.0
            # Who takes it once and not again is passed over.
            for (size, first_us), (again, us), (then, _) in zip(tried, tried[1:], tried[2:]):
                if size == again:
                    assert first_us >= 1000.0
                    assert us < 1000.0
                    assert then == min(2 * size, 131072)
                    once += 1
            mistakes += warned
            if mistakes >= 3 and once >= 3:
                return
        self.fail(f"the model was not late enough: {mistakes} {once}")


# ---- what is gained ------------------------------------------------------------------------------

PUT, HALO, PARTITIONED = ("overlap/overlap_" + name for name in ("put", "halo", "partitioned"))

# Of halo's methods those that bring right data with every MPI library.
METHODS = "--methods=isend/irecv types,isend/irecv packed,persistent"
FINE_CUTS = "the smallest sizes have too little work for --test-calls: some calls have no work between them"

# Variables with which the model MPI moves data of an operation, in messages or one-sided.
MOVES = {"isend": "MODEL_P2P", "irecv": "MODEL_P2P", "sendrecv": "MODEL_P2P", "halo": "MODEL_P2P",
         "partitioned": "MODEL_P2P", "put": "MODEL_RMA", "get": "MODEL_RMA"}


class Refused(OverlapCase):
    """Refused calls, forms, partitions and boxes, and the remedies."""

    # Work that is short on a busy machine, too.
    LITTLE = ["--plenty=0.01"]

    def test_calls_for_given_sizes(self):
        """The number that would do does, if the operation then is as quick."""
        sizes = ["--data-driven", "--min-num-elts=8", "--max-num-elts=8", *self.LITTLE]
        line = self.refused(IALLREDUCE, "--test-calls=0,1000000", *sizes, named="--test-calls")
        most = int(re.search(r"use at most (\d+), or larger sizes", line).group(1))
        row, = self.rows_of(f"--test-calls={most // 4}", *sizes, "--samples=1")
        assert row["test_calls"] == str(most // 4)

    @each("collective, options", [
        ("iallreduce", ["--data-driven", "--max-num-elts=2"]), ("halo", [METHODS])])
    def test_calls_for_default_sizes(self, collective, options):
        """A note reports it, and rows come; without too many calls there is none."""
        options = [*options, "--samples=1", "--warmup=0"]
        in_virtual_time = {"collective": collective, "MODEL_DURATION_US": 20, "MODEL_LATENCY_US": 20}
        said = self.overlap("--test-calls=0,10000", *options, *self.LITTLE, **in_virtual_time).stdout
        assert FINE_CUTS in said
        assert [row["test_calls"] for row in read_tsv(said)][:2] == ["0", "10000"]
        assert FINE_CUTS not in self.overlap("--test-calls=4", *options, **in_virtual_time).stdout

    @each("options, would_do", [
        (["--form=persistent", "--methods=isend/irecv packed"], "--form=nonblocking"),
        (["--form=persistent", "--methods=isend/irecv types,neighbor_alltoallw"],
         "--form=nonblocking"),
        (["--form=nonblocking", "--methods=persistent"], "--form=persistent")])
    def test_methods_without_the_form(self, options, would_do):
        line = self.refused(HALO, *options, named="--form")
        assert f"{options[0].split('=')[1]}: none of the methods '{options[1].split('=')[1]}'" in line
        assert f"use {would_do}" in line



class Partitions(OverlapCase):
    """overlap_partitioned: its options, its key, and its costs."""

    def setUp(self):
        super().setUp()
        if not os.path.exists(f"{self.build}/{PARTITIONED}"):
            self.skipTest("the MPI library has no partitioned messages")

    @each("options, message", [
        (["--partitions=8", "--min-num-elts=12"], "12 elements can't be cut"),
        (["--partitions=8", "--max-num-elts=20"], "20 elements can't be cut"),
        (["--partitions=4,6", "--min-num-elts=8"], "multiples of 12 elements"),
        (["--partitions=8", "--sizes=1K,40"], "5 elements can't be cut"),
        (["--partitions=3,7,65536"], "use fewer, or larger sizes")])
    def test_parts_that_dont_divide(self, options, message):
        assert message in self.refused(PARTITIONED, "--data-driven", *options, named="--partitions")

    @each("sizes, partitions", [
        (["--min-num-elts=1", "--max-num-elts=1"], "1"),
        (["--min-num-elts=1", "--max-num-elts=2"], "1"),
        (["--min-num-elts=12", "--max-num-elts=24"], "6"), (["--max-num-elts=20"], "5"),
        (["--min-num-elts=16", "--max-num-elts=24"], "8")])
    def test_default_parts_divide(self, sizes, partitions):
        """A note reports it if there are fewer."""
        said = self.overlap("--data-driven", *sizes, "--samples=1", "--warmup=0",
                            collective="partitioned").stdout
        assert {row["partitions"] for row in read_tsv(said)} == {partitions}
        assert (f"# note: {partitions} partition" in said) == (partitions != "8")
        assert f"# partitions: {partitions}\n" in said


class Forms(OverlapCase):
    """Keys of rows: which there are, and in which order."""

    @each("collective", ["iallreduce", "sendrecv"])
    def test_all(self, collective):
        rows = self.rows_of("--form=all", "--test-calls=0,2", "--data-driven", "--min-num-elts=8",
                            "--max-num-elts=16", "--samples=2", "--warmup=0", collective=collective)
        assert [(row["elements"], row["form"], row["test_calls"]) for row in rows] == [
            (elements, form, calls) for elements in ("8", "16")
            for form in ("nonblocking", "persistent") for calls in ("0", "2")]
        assert {(row["collective"], row["best_test_calls"]) for row in rows} == {
            (collective, "NA")}

    @each("form, methods", [
        ("all", ["isend/irecv types", "isend/irecv packed", "persistent"]),
        ("nonblocking", ["isend/irecv types", "isend/irecv packed"]),
        ("persistent", ["persistent"])])
    def test_halo(self, form, methods):
        """Its methods have their forms."""
        rows = self.rows_of(f"--form={form}", "--local=2,4x3x2", METHODS, "--test-calls=0,1",
                            "--samples=2", "--warmup=0", collective="halo")
        assert [(row["local"], row["method"], row["form"], row["test_calls"]) for row in rows] == [
            (local, method, "persistent" if method == "persistent" else "nonblocking", calls)
            for local in ("2x2x2", "4x3x2") for method in methods for calls in ("0", "1")]
        assert {(row["local"], row["elements"], row["size_bytes"]) for row in rows} == {
            ("2x2x2", "24", "192"), ("4x3x2", "52", "416")}

    @each("form, methods, left_out", [
        ("persistent", [METHODS], ["isend/irecv types", "isend/irecv packed"]),
        ("nonblocking", ["--methods=persistent,isend/irecv types"], ["persistent"]),
        ("persistent", [], []), ("nonblocking", [], []), ("all", [METHODS], [])])
    def test_halo_notes(self, form, methods, left_out):
        """Of methods that the user named and that lack the form; nothing else of methods that are
        left out."""
        said = self.overlap(f"--form={form}", "--local=2", *methods, "--samples=1", "--warmup=0",
                            collective="halo").stdout
        notes = re.findall("# note: no rows of (.*): it has no (.*) form\n", said)
        assert notes == [(name, form) for name in left_out]
        if form == "persistent":
            assert "# note: neighbor_alltoallw" not in said
            assert "# note: no neighbor_alltoallw" not in said


class Gains(OverlapCase):
    """Against the blocking counterpart, on a model whose operations take 200 us, half of them
    overlapped, so that about 100 us are exposed."""

    ONE = ["--data-driven", "--min-num-elts=64", "--max-num-elts=64", "--max-time=0.4"]

    def gained(self, blocking_us, *options, **how):
        """The row with a blocking counterpart of this time."""
        row, = self.rows_of(*self.ONE, *options, **{
            "MODEL_DURATION_US": 200, "MODEL_FRACTION": 0.5,
            "MODEL_BLOCKING_US": blocking_us, **how})
        return row

    @each("estimator", ["median", "mean"])
    def test_without_the_counterpart(self, estimator):
        path = self.folder / "samples"
        said = self.overlap(*self.ONE, "--no-blocking", f"--dump-samples={path}",
                            f"--estimator={estimator}", MODEL_DURATION_US=200,
                            MODEL_FRACTION=0.5, MODEL_BLOCKING_US=150).stdout
        row, = read_tsv(said)
        values = {name: row[name] for name in row
                  if name.startswith(("blocking_", "gain_")) or name == "verdict"}
        assert len(values) == 10
        assert set(values.values()) == {"NA"}
        assert number(row["exposed_us"]) == within(100, 5)
        assert "NA" not in (row["exposed_lo_us"], row["exposed_hi_us"], row["overlap_pct"])
        assert "blocking" not in {sample["quantity"] for sample in read_tsv(read(path))}

    def test_too_few_samples(self):
        """Without an interval there is no verdict, and no half of an interval; no share, either."""
        row, = self.rows_of(*SHORT, "--samples=1", MODEL_DURATION_US=200)
        assert {row[name] for name in ("exposed_lo_us", "exposed_hi_us", "gain_pct", "gain_hi_pct", "verdict",
                                       "ref_sd_us", "overlap_pct", "overlap_lo_pct")} == {"NA"}
        assert "NA" not in (row["samples"], row["exposed_us"], row["blocking_us"], row["gain_us"])

    def test_visits_without_rounds(self):
        """Once --max-samples is reached, the visits that follow have no rounds and don't count."""
        row = self.gained(150, "--visits=8", "--max-samples=5")
        assert row["samples"] == "5"
        assert number(row["blocking_us"]) == Near(150, 0.1)
        assert "NA" not in (row["gain_us"], row["gain_lo_pct"], row["verdict"])

    def test_plenty(self):
        """With half of the work that the operation hides, half of its hidden time is exposed, too."""
        row, = self.rows_of(*self.ONE, "--plenty=0.25", MODEL_DURATION_US=200, MODEL_FRACTION=0.5)
        assert number(row["exposed_us"]) == Near(150, 0.05)

    @each("collective", ["iallreduce", "put", "halo"])
    def test_samples(self, collective):
        path = self.folder / "samples"
        sizes = ["--local=4", METHODS] if collective == "halo" else SHORT[:3]
        self.overlap(*sizes, "--samples=5", f"--dump-samples={path}", collective=collective)
        quantities = {}
        for sample in read_tsv(read(path)):
            quantities.setdefault(sample["row"], []).append(sample["quantity"])
        assert set(quantities) == ({"1", "2", "3"} if collective == "halo" else {"1"})
        for found in quantities.values():
            assert set(found) == {"reference_phase", "reference", "total", "work", "beside",
                                  "blocking", "exposed"}
            assert found.count("exposed") == found.count("blocking") == 5


class Calls(OverlapCase):
    """Calls of MPI_Test, on a model that makes progress in calls only."""

    ONE = ["--data-driven", "--min-num-elts=16K", "--max-num-elts=16K", "--max-time=0.6"]
    # Four stages, three of which a call must start; a call takes 5 us.
    STAGES = {"MODEL_DURATION_US": 200, "MODEL_FRACTION": 1, "MODEL_PROGRESS_SHARE": 0.25,
              "MODEL_TEST_US": 5}

    @each("share, fraction, calls, message", [
        (1, 1, "0", "asynchronous progress: work hides "),
        (1, 0, "0", " bytes: try --test-calls=0,4,16"),
        (1, 0, "0,4", "little or no progress before the wait: "),
        (0.25, 1, "0,4", "some asynchronous progress, more in calls: work hides 2"),
        (0.125, 1, "0,4", "progress in calls only: work hides 1")])
    def test_progress(self, share, fraction, calls, message):
        output = self.overlap(f"--test-calls={calls}", *self.ONE, **{
            **self.STAGES, "MODEL_PROGRESS_SHARE": share, "MODEL_FRACTION": fraction}).stdout
        notes = [line for line in output.splitlines() if "work hides" in line]
        assert len(notes) == 1, notes
        assert notes[0].startswith("# note: ")
        assert message in notes[0]

    @each("calls", ["1,7", "auto"])
    @each("collective", ["sendrecv", "put", "halo"])
    def test_data(self, collective, calls):
        """Tests that complete requests do no harm, in no form."""
        sizes = ["--local=4", METHODS] if collective == "halo" else SHORT[:3]
        form = "nonblocking" if collective == "put" else "all"
        rows = self.rows_of("--check", f"--test-calls={calls}", *sizes, f"--form={form}",
                            "--samples=3", collective=collective)
        assert {row["status"] for row in rows} <= {"ok", "budget"}


@also_many
@each("ranks", by_ranks([2], [3, *in_full(4)]))
@each("collective", [*PAIRS, "halo", "partitioned"])
class Messages(OverlapCase):
    """--check of messages, one-sided transfers and halos, with partners and without."""

    def rows(self, collective, ranks, *options, **how):
        """The rows of a short run; short of time where ranks share processors."""
        sizes = ["--local=3", METHODS] if collective == "halo" else SHORT[:3]
        samples = 5 if ranks <= os.cpu_count() else 1
        return self.rows_of("--check", *sizes, f"--samples={samples}", "--warmup=0", "--visits=1",
                            *options, collective=collective, ranks=ranks, **how)

    def test_right_data(self, collective, ranks):
        form = "nonblocking" if collective in ("put", "get", "partitioned") else "all"
        found = self.rows(collective, ranks, f"--form={form}")
        assert len(found) == {"all": 2, "nonblocking": 1}[form] + (collective == "halo")
        assert {row["status"] for row in found} <= {"ok", "budget"}
        works = {"sendrecv": ranks - ranks % 2, "halo": ranks}.get(collective, ranks // 2)
        # Ranks are in their own order on one node; the last one of an odd number rests.
        for row in found:
            assert 0 <= int(row["slowest_rank"]) < works

    @each("corrupt", [0, 1])
    def test_wrong_data(self, collective, ranks, corrupt):
        for row in self.rows(collective, ranks, status=corrupt, **{MOVES[collective]: 1}, MODEL_LATENCY_US=20,
                             MODEL_FRACTION=1, MODEL_DATA=1, MODEL_CORRUPT=corrupt):
            assert row["status"] == "FAIL" if corrupt else row["status"] in ("ok", "budget")
