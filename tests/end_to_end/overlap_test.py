"""The overlap suite as a user runs it: wrong usage, the environment variables, the data checks, the
defaults, the search for a size and for the amount of work."""

import math
import os
import re
import statistics
import time

import pytest

from mpi_run import COLLECTIVES, number, read, read_tsv, run_raw

# One size, few samples: for tests that are not about the numbers.
SHORT = ["--data-driven", "--min-num-elts=64", "--max-num-elts=64", "--samples=5", "--warmup=1"]
IALLREDUCE = "overlap/overlap_iallreduce"


@pytest.fixture
def overlap(built, launcher, model):
    """Runs the program of a collective, with words before it and with variables, on the model if
    those are its; what has ended, with the status it must end with."""
    def start(*options, collective="iallreduce", ranks=2, before=(), status=0, **variables):
        if any(name.startswith("MODEL_") for name in variables):
            variables["LD_PRELOAD"] = model
        program = [*before, built("overlap/overlap_" + collective), *options]
        done = run_raw(launcher, ranks, program, variables)
        assert done.returncode == status, (done.args, done.stdout[-2000:], done.stderr[-2000:])
        return done
    return start


@pytest.fixture
def rows_of(overlap):
    """The rows of a run."""
    def start(*options, **how):
        return read_tsv(overlap(*options, **how).stdout)
    return start


@pytest.fixture
def sampled(overlap, tmp_path):
    """The row of a run, its samples in us by quantity, and all that it printed."""
    def start(*options, **how):
        path = tmp_path / "samples"
        text = overlap(*options, f"--dump-samples={path}", **how).stdout
        samples = {}
        for sample in read_tsv(read(path)):
            samples.setdefault(sample["quantity"], []).append(float(sample["value_ns"]) / 1000)
        row, = read_tsv(text)
        return row, samples, text
    return start


class Usage:
    """What is refused of their own options, and of the variables."""

    @pytest.mark.parametrize("option, values", [
        ("--min-num-elts", ("abc", "-1", "0", "", "1.5", "0x10", "9" * 40, "1T", "8589934592G",
                            " 5")),
        ("--cutoff-time", ("-1", "nan", "inf", "1e999", "ms")),
        ("--acceptance-threshold", ("0", "101%"))])
    def test_values(self, refused, option, values):
        for value in values:
            refused(IALLREDUCE, f"{option}={value}", named=option)

    @pytest.mark.parametrize("collective, options", [
        ("iallreduce", ["--min-num-elts=8", "--max-num-elts=4"]),
        ("ialltoall", ["--max-num-elts=2147483647"]),
        ("ibcast", ["--root=2"]),
        ("iallreduce", ["--default-tdm-n-iters=9", "--max-tdm-iters=8"])])
    def test_combinations(self, refused, collective, options):
        refused("overlap/overlap_" + collective, *options, named=options[0].split("=")[0])

    @pytest.mark.parametrize("name, value", [
        ("OPENHPCA_OVERLAP_MIN_NUM_ELTS", "few"), ("OPENHPCA_OVERLAP_MAX_NUM_ELTS", "0"),
        ("OPENHPCA_OVERLAP_VALIDATION_STEPS", "x"), ("OPENHPCA_OVERLAP_CUTOFF_TIME", "0"),
        ("OPENHPCA_OVERLAP_ACCEPTANCE_THRESHOLD", "-5"),
        ("OPENHPCA_OVERLAP_DEFAULT_TDM_N_ITERS", "y"), ("OVERLAP_MAX_TDM_ITERS_ENVVAR", "z")])
    def test_variables(self, refused, name, value):
        refused(IALLREDUCE, named=name, environment={name: value})


class Variables:
    """Every variable of the specification does what it says."""

    @pytest.fixture
    def rows(self, rows_of):
        """The rows on a model whose operations take 100 us, half of them overlapped."""
        def start(*options, **variables):
            return rows_of(*options, **{"MODEL_DURATION_US": 100, "MODEL_FRACTION": 0.5,
                                        **variables})
        return start

    def test_sizes_data_driven(self, rows):
        found = rows("--max-time=0.05", OPENHPCA_DATA_DRIVEN_EXECUTION=1,
                     OPENHPCA_OVERLAP_MIN_NUM_ELTS=3, OPENHPCA_OVERLAP_MAX_NUM_ELTS=20)
        assert [row["elements"] for row in found] == ["3", "6", "12", "20"]
        assert {row["model"] for row in found} == {"data"}

    def test_command_line_beats_environment(self, rows):
        found = rows("--max-time=0.05", "--max-num-elts=4", "--min-num-elts=4",
                     OPENHPCA_DATA_DRIVEN_EXECUTION="yes", OPENHPCA_OVERLAP_MIN_NUM_ELTS=100)
        assert [row["elements"] for row in found] == ["4"]
        found = rows("--max-time=0.05", "--data-driven-execution=no",
                     OPENHPCA_DATA_DRIVEN_EXECUTION="yes")
        assert [row["model"] for row in found] == ["time"]

    @pytest.mark.parametrize("value, expected", [
        ("", "time"), ("0", "time"), ("no", "time"), ("false", "time"), ("true", "data")])
    def test_boolean_variables(self, rows, value, expected):
        found = rows("--max-time=0.02", "--max-num-elts=1", OPENHPCA_DATA_DRIVEN_EXECUTION=value)
        assert {row["model"] for row in found} == {expected}

    @pytest.mark.parametrize("variables, elements", [
        ({}, "16384"), ({"OPENHPCA_OVERLAP_CUTOFF_TIME": 0.2}, "4096")])
    def test_time_driven_finds_the_size(self, rows, variables, elements):
        """10 ns a byte: 80 ns an element. The first power of two that takes 1 ms is 16384, 0.2 ms
        4096; for the latter by its variable."""
        found = rows("--max-time=0.3", MODEL_DURATION_US=0, MODEL_PER_BYTE_NS=10, **variables)
        assert [(row["model"], row["elements"]) for row in found] == [("time", elements)]

    def test_cutoff_not_reached(self, rows):
        row, = rows("--max-time=0.2", MODEL_DURATION_US=50)
        assert (row["elements"], row["status"]) == ("131072", "max-size")

    @pytest.mark.parametrize("name", ["OPENHPCA_OVERLAP_DEFAULT_TDM_N_ITERS",
                                      "OVERLAP_DEFAULT_TDM_N_ITERS_ENVVAR"])
    def test_iterations(self, rows, name):
        row, = rows("--max-num-elts=1", **{name: 25})
        assert row["samples"] == "25"

    @pytest.mark.parametrize("name", ["OPENHPCA_OVERLAP_MAX_TDM_ITERS",
                                      "OVERLAP_MAX_TDM_ITERS_ENVVAR"])
    def test_max_iterations(self, rows, name):
        row, = rows("--max-num-elts=1", "--precision=0.001", "--visits=1", MODEL_LATE_SHARE=0.4,
                    MODEL_LATE_US=50, **{name: 50})
        assert row["samples"] == "50"

    def test_acceptance_threshold(self, overlap):
        """The search ends when its bracket is within this share of the work, mostly: where stops
        hide what fits, its time may be up before."""
        def bracket(percent):
            output = overlap("--data-driven", "--max-num-elts=1", "--verbose", "--visits=1",
                             MODEL_DURATION_US=200, MODEL_FRACTION=0.5,
                             OPENHPCA_OVERLAP_ACCEPTANCE_THRESHOLD=f"{percent}%").stdout
            fits, exceeds = re.search(r"([\d.]+) us fits, ([\d.]+) us does not", output).groups()
            return (float(exceeds) - float(fits)) / float(exceeds)

        assert statistics.median(bracket(0.5) for _ in range(3)) < 0.01
        assert 0.02 < statistics.median(bracket(20) for _ in range(3)) <= 0.2

    @pytest.mark.parametrize("steps", [0, 4])
    def test_validation_steps(self, overlap, steps):
        """Work as long as the operation never fits, half as much does: the first amount fails
        once, and once more for each validation step."""
        text = overlap("--max-num-elts=1", "--visits=1", MODEL_DURATION_US=100, MODEL_FRACTION=0.8,
                       OPENHPCA_OVERLAP_DEBUG=1, OPENHPCA_OVERLAP_VALIDATION_STEPS=steps).stdout
        fits = [not line.endswith("does not fit") for line in text.splitlines()
                if line.startswith("# debug: trial")]
        assert fits, text
        assert fits.index(True) == steps + 1

    @pytest.mark.parametrize("value", [0, 1])
    @pytest.mark.parametrize("name", ["VERBOSE", "DEBUG"])
    def test_verbose_and_debug(self, overlap, name, value):
        text = overlap(*SHORT, **{"OPENHPCA_OVERLAP_" + name: value}).stdout
        # Remarks, but not the option's value among the metadata.
        said = re.search(rf"# {name.lower()}: (?!(yes|no)\b)", text)
        assert bool(said) == bool(value)


@pytest.mark.parametrize("collective", COLLECTIVES)
class Data:
    """--check: right data passes, wrong data fails, for every collective."""

    def test_right_data(self, rows_of, collective):
        rows = rows_of("--check", "--root=1", "--max-time=0.2", *SHORT, collective=collective,
                       ranks=3)
        assert rows[0]["status"] in ("ok", "budget")

    @pytest.mark.parametrize("corrupt", [0, 1])
    def test_wrong_data(self, rows_of, collective, corrupt):
        row, = rows_of("--check", *SHORT, collective=collective, status=corrupt,
                       MODEL_DURATION_US=20, MODEL_FRACTION=1, MODEL_DATA=1, MODEL_CORRUPT=corrupt)
        assert row["status"] == ("FAIL" if corrupt else "ok")


@pytest.mark.full
class Defaults:
    """With its defaults each program ends within 20 s with a row."""

    @pytest.fixture(autouse=True)
    def in_time(self):
        start_s = time.monotonic()
        yield
        assert time.monotonic() - start_s < 20.0

    @pytest.mark.parametrize("collective", COLLECTIVES)
    def test_all(self, rows_of, collective):
        rows = rows_of(collective=collective)
        assert len(rows) >= 1
        assert number(rows[0]["ref_us"]) > 0.0
        assert rows[0]["status"] in ("ok", "budget", "max-size")

    def test_data_driven(self, rows_of):
        rows = rows_of("--data-driven")
        assert [row["elements"] for row in rows] == [str(2 ** i) for i in range(18)]

    def test_slow_operations(self, rows_of):
        """Rows are never dropped, however slow the operation is."""
        rows = rows_of("--data-driven", MODEL_DURATION_US=90000, MODEL_FRACTION=0.5)
        assert len(rows) == 18
        assert {row["status"] for row in rows} == {"budget"}
        for row in rows:
            assert int(row["samples"]) >= 1
            if int(row["samples"]) < 6:
                assert (row["overlap_lo_pct"], row["overlap_hi_pct"]) == ("NA", "NA")
            assert number(row["ref_us"]) > 89999
        # One sample a row may be late; the middle of 18 is not.
        for name, expected, within in (("ref_us", 90000, 900), ("overlap_pct", 50, 2)):
            middle = statistics.median(number(row[name]) for row in rows)
            assert middle == pytest.approx(expected, abs=within), name


class Oversubscribed:
    """Where ranks share a processor the harness's own collectives are non-blocking, too; the model
    must not take them for the operation."""

    def test_harness_is_not_measured(self, overlap):
        processor = str(min(os.sched_getaffinity(0)))
        text = overlap("--data-driven", "--max-num-elts=1", "--max-time=2",
                       before=["taskset", "-c", processor], MODEL_DURATION_US=20000,
                       MODEL_FRACTION=1).stdout
        assert "# warning: oversubscribed" in text
        row, = read_tsv(text)
        assert int(row["samples"]) >= 1
        assert number(row["ref_us"]) > 19900

    def test_one_sample_tells_no_share(self, rows_of):
        row, = rows_of("--data-driven", "--max-num-elts=1", "--samples=1")
        names = ("samples", "ref_sd_us", "overlap_pct", "overlap_lo_pct")
        assert [row[name] for name in names] == ["1", "NA", "NA", "NA"]


class Mean:
    """--estimator=mean is the specification to the letter."""

    @pytest.fixture
    def mean(self, sampled):
        """The row, the samples of the first phase, and all that was printed."""
        def start(**variables):
            row, samples, text = sampled(
                "--estimator=mean", "--data-driven", "--max-num-elts=1", "--samples=400",
                "--verbose", MODEL_DURATION_US=200, **variables)
            return row, samples["reference_phase"], text
        return start

    def test_mean_and_deviation_of_the_first_phase(self, mean):
        row, reference, _ = mean(MODEL_FRACTION=0.5)
        assert len(reference) == 400
        assert number(row["ref_us"]) == pytest.approx(statistics.mean(reference), abs=0.1)
        assert number(row["ref_sd_us"]) == pytest.approx(statistics.stdev(reference), abs=0.01)

    def test_outliers_make_any_work_fit(self, mean):
        row, reference, said = mean(MODEL_FRACTION=0, MODEL_LATE_SHARE=0.05, MODEL_LATE_US=2000)
        assert statistics.stdev(reference) > 200
        # As much work as the reference takes, the first amount that is tried, fits. What it takes
        # when it is timed may be a little less, where the processor's clock rate changed.
        assert re.search("phases 3 and 4: 1 trials, [0-9.]+ us fits, inf us does not", said)
        assert number(row["overlap_pct"]) > 95.0


class Growth:
    """The search for a size that takes the cutoff time."""

    @pytest.fixture
    def search(self, overlap):
        """The row, the sizes that were tried with their times in us, and whether there is a
        warning."""
        def start(**variables):
            text = overlap("--verbose", "--max-time=0.5", **variables).stdout
            tried = [(int(elements), float(time_us)) for elements, time_us in re.findall(
                r"(?m)^# verbose: (\d+) elements: ([\d.]+) us, cutoff 1000.000 us$", text)]
            row, = read_tsv(text)
            return row, tried, "and the cutoff time when its size" in text
        return start

    def test_a_size_takes_it_twice(self, search):
        row, tried, warned = search(MODEL_DURATION_US=2000)
        assert (row["elements"], [size for size, _ in tried], warned) == ("1", [1, 1], False)
        row, tried, warned = search(MODEL_DURATION_US=200)
        assert (row["elements"], row["status"], warned) == ("131072", "max-size", False)

    def test_found_by_mistake(self, search):
        """Operations that are late by chance: of a few their median is, too. What two in a row say
        is believed, and the row then shows the mistake."""
        mistakes = once = 0
        for seed in range(20):
            row, tried, warned = search(MODEL_DURATION_US=200, MODEL_LATE_SHARE=0.3,
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
        pytest.fail(f"the model was not late enough: {mistakes} {once}")
