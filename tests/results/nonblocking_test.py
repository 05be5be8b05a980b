"""What results say of going non-blocking: each sentence on results that were made by hand, where it
must come and where it must not."""

import re

from case import Case, each
from commcost.reading import tables
from commcost.saying import findings, nonblocking
from commcost.words import short
from made_results import GAIN, gain_cells, tsv

COLUMNS = [*GAIN[:4], "method", "local", "partitions", *GAIN[4:]]
SIZES = (8, 1024, 65536, 1 << 20)


def by_size(collective="iallreduce", half_width_us=0.2, **cells):
    """Rows of all SIZES: by_size(exposed_us=(...)) of blocking calls of 100 us."""
    exposed_us = cells.pop("exposed_us")
    return [gain_cells(size, 100, value, half_width_us, collective=collective, **cells)
            for size, value in zip(SIZES, exposed_us)]


class GainsCase(Case):
    def facts(self, *launches, threshold=2):
        """The Tables of results of overlap_*: facts(launch, launch, threshold=2), each launch a list of
        rows as dictionaries; a file for each collective and model."""
        files = {}
        for run, rows in enumerate(launches, 1):
            for row in rows:
                files.setdefault((row["collective"], row["model"]), []).append(
                    [run, *(row.get(column, "NA") for column in COLUMNS)])
        for path in self.folder.glob("*.tsv"):
            path.unlink()
        for (collective, model), rows in files.items():
            (self.folder / f"{collective}_{model}.tsv").write_text(tsv(
                f"overlap_{collective}", ["run", *COLUMNS], rows,
                metadata={} if threshold is None else {"threshold": threshold}))
        return tables.Tables([str(self.folder)])

    def said(self, rule, *launches, **how):
        return [finding.sentence for finding in rule(self.facts(*launches, **how))]

    def paid(self, *launches):
        return self.said(nonblocking.what_pays, *launches)

    def helped(self, *launches):
        return self.said(nonblocking.tests_that_help, *launches)

    def unsure(self, rule, rows):
        """what is said of what is not clear."""
        finding, = rule(self.facts(rows))
        assert finding.text.startswith("It is not clear ")
        return finding.text


# ---- does it pay? --------------------------------------------------------------------------------

class DoesItPay(GainsCase):
    @each("exposed_us, half_width_us, said", [
        (120, 1, "pays with plenty of work: MPI_Iallreduce of 1MiB (120 µs (119 to 121) stay exposed, the blocking "
         "call takes 400 µs (399 to 401): a gain of 70.0 % (69.8 to 70.2)). One launch."),
        (500, 1, "loses even with plenty of work: MPI_Iallreduce of 1MiB (500 µs (499 to 501) stay exposed, the "
         "blocking call takes 400 µs (399 to 401): a gain of -25.0 % (-25.2 to -24.8)). One launch."),
        (399, 0.5, "makes no difference even with plenty of work: MPI_Iallreduce of 1MiB (399 µs (398 to 400) stay "
         "exposed, the blocking call takes 400 µs (400 to 400): a gain of 0.250 % (0.125 to 0.375)). One launch.")])
    def test_verdicts(self, exposed_us, half_width_us, said):
        """The number, its interval, what stays exposed, and of what."""
        assert self.paid([gain_cells(1 << 20, 400, exposed_us, half_width_us)]) == ["Going non-blocking " + said]

    @each("exposed_us, half_width_us", [
        (90, 6),      # 10 %, 4 to 16: the program says that it pays, but launches differ by more
        (97.5, 0.4),  # 2.5 %, so near to the threshold
        (102.5, 0.4), (101, 1)])
    def test_can_not_be_told(self, exposed_us, half_width_us):
        assert self.unsure(nonblocking.what_pays, [gain_cells(8, 100, exposed_us, half_width_us)]) == (
            "It is not clear whether going non-blocking pays for MPI_Iallreduce, because the intervals "
            f"of their gains are up to {short(2 * half_width_us)} points wide.")

    def test_no_interval(self):
        """Of too few samples."""
        row = gain_cells(8, 100, 50, gain_lo_pct="NA", gain_hi_pct="NA")
        assert "because their gains have no intervals" in self.unsure(nonblocking.what_pays, [row])

    def test_median_over_launches(self):
        """Six launches decide, whatever their own intervals and verdicts say."""
        launches = [[gain_cells(8, 100, 60 + run, 90)] for run in range(6)]
        sentence, = self.paid(*launches)
        assert sentence.startswith("Going non-blocking pays")
        assert sentence.endswith(": a gain of 37.5 % (35.0 to 40.0)).")
        # Of which one loses.
        launches[2] = [gain_cells(8, 100, 120, 0.1)]
        sentence, = self.paid(*launches)
        assert sentence.startswith("It is not clear")

    @each("threshold, words", [
        (2, "pays with"), (None, "pays with"), (20, "makes no difference")])
    def test_threshold(self, threshold, words):
        """That of the programs, or theirs by default."""
        sentence, = self.said(nonblocking.what_pays, [gain_cells(8, 100, 90, 0.1)], threshold=threshold)
        assert sentence.startswith(f"Going non-blocking {words}")

    @each("exposed_us, where", [
        ((50, 50, 50, 50), "pays with plenty of work: MPI_Iallreduce at every size that was measured ("),
        ((150, 150, 50, 50), "pays with plenty of work: MPI_Iallreduce from 64KiB on, loses below ("),
        ((50, 150, 150, 150), "pays with plenty of work: MPI_Iallreduce up to 8 bytes, loses above ("),
        ((150, 100, 50, 50),
         "pays with plenty of work: MPI_Iallreduce from 64KiB on, loses up to 8 bytes, is even at 1KiB"),
        ((99, 98, 50, 50), "pays with plenty of work: MPI_Iallreduce from 64KiB on, is even up to 8 bytes"
         ", is unsure at 1KiB"),
        ((50, 150, 50, 50), "pays with plenty of work: MPI_Iallreduce up to 8 bytes and from 64KiB on, "
         "loses at 1KiB"),
        ((150, 150, 100, 100), "loses even with plenty of work: MPI_Iallreduce up to 1KiB, is even "
         "above"),
        ((100, 100, 100, 100), "makes no difference even with plenty of work: MPI_Iallreduce at every "
         "size that was measured")])
    def test_sizes(self, exposed_us, where):
        sentence, = self.paid(by_size(exposed_us=exposed_us))
        assert sentence.startswith(f"Going non-blocking {where}"), sentence

    def test_largest_size_has_the_numbers(self):
        sentence, = self.paid(by_size(exposed_us=(150, 40, 50, 60)))
        assert "(of 1MiB: 60.0 µs (59.8 to 60.2) stay exposed, " in sentence
        assert "a gain of 40.0 % (39.8 to 40.2)" in sentence
        sentence, = self.paid(by_size(exposed_us=(50, 40, 150, 160)))
        assert "(of 1KiB: 40.0 µs" in sentence

    def test_many_operations(self):
        """Those with the largest gains first, three with numbers, and no more than six."""
        rows = [row for place in range(9)
                for row in by_size(f"iop{place}", exposed_us=4 * (90 - 10 * place,))]
        sentence, = self.paid(rows)
        assert re.findall(r"MPI_Iop(\d)", sentence) == ["8", "7", "6", "5", "4"]
        assert sentence.count("stay exposed") == 3
        assert sentence.endswith("; 4 more. One launch.")

    def test_time_driven(self):
        """Of what was measured over sizes, the size that takes a millisecond says nothing more."""
        rows = [gain_cells(1 << 20, 1000, 400, 1, model="time", elements=131072),
                gain_cells(0, 4, 2, 0.01, collective="ibarrier", model="time", elements="NA")]
        sentence, = self.paid(rows)
        assert sentence.startswith(
            "Going non-blocking pays with plenty of work: MPI_Iallreduce of 1MiB (400 µs (399 to 401) "
            "stay exposed, the blocking call takes 1000 µs (999 to 1001): a gain of 60.0 % (59.9 to "
            "60.1)); MPI_Ibarrier (2.00 µs")
        sentence, = self.paid(rows + by_size(exposed_us=(50, 50, 50, 50)))
        assert "400 µs" not in sentence
        assert "MPI_Iallreduce at every size" in sentence

    @each("cells, name", [
        ({"collective": "isend"}, "MPI_Isend"), ({"collective": "put"}, "MPI_Rput"),
        ({"collective": "sendrecv"}, "MPI_Isend with MPI_Irecv"),
        ({"collective": "ineighbor_alltoall"}, "MPI_Ineighbor_alltoall"),
        ({"form": "persistent"}, "MPI_Iallreduce (persistent)"),
        ({"collective": "partitioned", "partitions": 8}, "a message in 8 partitions"),
        ({"test_calls": 4}, "MPI_Iallreduce with calls of MPI_Test (4)"),
        ({"test_calls": "auto"}, "MPI_Iallreduce with calls of MPI_Test (auto)")])
    def test_names(self, cells, name):
        sentence, = self.paid([gain_cells(1024, 100, 50, 0.1, **cells)])
        assert f": {name} of 1KiB (" in sentence

    def test_halo(self):
        rows = [gain_cells(4800, 100, 50, 0.1, collective="halo", method=method, local="10x10x10")
                for method in ("packed", "persistent")]
        sentence, = self.paid(rows)
        assert "a halo swap by packed of box 10x10x10 (" in sentence
        assert "a halo swap by persistent of box 10x10x10 (" in sentence

    def test_usual_rows_decide(self):
        """Without calls of MPI_Test, and nonblocking, where it was measured so."""
        rows = [gain_cells(8, 100, 150, 0.1), gain_cells(8, 100, 50, 0.1, form="persistent"),
                gain_cells(8, 100, 40, 0.1, test_calls=4)]
        sentence, = self.paid(rows)
        assert sentence.startswith("Going non-blocking loses even with plenty of work: MPI_Iallreduce")

    def test_nothing_without_blocking_calls(self):
        """Nor of older results."""
        rows = [gain_cells(size, None, 50) for size in SIZES]
        for rule in (nonblocking.what_pays, nonblocking.tests_that_help, nonblocking.persistent_requests):
            assert not rule(self.facts(rows))
        old = [{name: cell for name, cell in row.items() if "gain" not in name and "exposed" not in name}
               for row in by_size(exposed_us=(50, 50, 50, 50))]
        for rule in (nonblocking.what_pays, nonblocking.tests_that_help, nonblocking.persistent_requests):
            assert not rule(self.facts(old))

    def test_wrong_data(self):
        assert not self.paid([gain_cells(8, 100, 50, 0.1, status="FAIL")])


# ---- calls of MPI_Test ---------------------------------------------------------------------------

def by_calls(half_width_us=0.5, **exposed_us):
    """Rows of 1 MiB by calls of MPI_Test: by_calls(n0=300, n4=50, auto=50)."""
    return [gain_cells(1 << 20, 400, value, half_width_us,
                       test_calls=name if name == "auto" else int(name[1:]))
            for name, value in exposed_us.items()]


class CallsOfMPITest(GainsCase):
    def test_tests_help(self):
        assert self.helped(by_calls(n0=300, n1=200, n4=50, n16=90)) == [
            "With calls of MPI_Test during the work less stays exposed: MPI_Iallreduce of 1MiB, least at "
            "4 calls (50.0 µs (49.5 to 50.5), without 300 µs (300 to 300)). One launch."]

    def test_best_is_not_alone(self):
        sentence, = self.helped(by_calls(n0=300, n1=200, n4=50, n16=50.5))
        assert ", least at 4 or 16 calls (50.0 µs" in sentence
        sentence, = self.helped(by_calls(n0=300, n1=100))
        assert ", least at 1 call (100 µs" in sentence

    def test_auto(self):
        rows = by_calls(n0=300, auto=50)
        rows[1]["best_test_calls"] = 7
        sentence, = self.helped(rows)
        assert ", least at 7 (auto) calls (50.0 µs" in sentence

    def test_tests_turn_the_verdict(self):
        sentence, = self.helped(by_calls(n0=500, n4=100))
        assert sentence.endswith("; going non-blocking pays with them, loses without). One launch.")
        sentence, = self.helped([gain_cells(8, None, value, 0.5, test_calls=calls)
                           for calls, value in ((0, 500), (4, 100))])
        assert "pays" not in sentence

    def test_tests_cost(self):
        assert self.helped(by_calls(n0=50, n4=60, n16=90)) == [
            "Calls of MPI_Test during the work only cost time: MPI_Iallreduce of 1MiB (60.0 µs (59.5 to "
            "60.5) at best with calls, 50.0 µs (49.5 to 50.5) without). One launch."]

    def test_tests_unsure(self):
        assert self.unsure(nonblocking.tests_that_help, by_calls(20, n0=60, n4=50)).startswith(
            "It is not clear whether calls of MPI_Test help MPI_Iallreduce of 1MiB, because")

    def test_tests_of_launches(self):
        launches = [by_calls(200, n0=300 + run, n4=200 - run) for run in range(6)]
        sentence, = self.helped(*launches)
        assert "least at 4 calls (198 µs (195 to 200), without 302 µs (300 to 305))." in sentence
        assert "One launch" not in sentence

    @each("rows", [
        by_calls(n0=300), by_calls(n4=300), by_calls(n4=300, n16=50)])
    def test_nothing_of_tests(self, rows):
        """Where there is nothing to compare with."""
        assert not self.helped(rows)

    def test_largest_size_that_tests_help(self):
        rows = [gain_cells(size, 400, exposed, 0.5, test_calls=calls)
                for size, without, best in ((8, 10, 20), (1024, 100, 50), (65536, 300, 200))
                for calls, exposed in ((0, without), (4, best))]
        sentence, = self.helped(rows)
        assert "MPI_Iallreduce of 64KiB, least at 4 calls" in sentence


# ---- persistent requests -------------------------------------------------------------------------

def forms(half_width_us=0.05, **cells):
    """Rows of 8 bytes in both forms: forms(nonblocking=2, persistent=1)."""
    return [gain_cells(8, 10, cells[form], half_width_us, form=form)
            for form in ("nonblocking", "persistent")]


class PersistentRequests(GainsCase):
    def test_persistent(self):
        assert self.said(nonblocking.persistent_requests, forms(nonblocking=2, persistent=1)) == [
            "With persistent requests less stays exposed, the most so of: MPI_Iallreduce of 8 bytes "
            "(1.00 µs (0.950 to 1.05), nonblocking 2.00 µs (1.95 to 2.05)). One launch."]
        sentence, = self.said(nonblocking.persistent_requests, forms(nonblocking=1, persistent=2))
        assert sentence.startswith("With persistent requests more stays exposed")

    def test_persistent_turns_the_verdict(self):
        sentence, = self.said(nonblocking.persistent_requests, forms(nonblocking=12, persistent=5))
        assert "; going non-blocking pays with them, loses without)" in sentence

    def test_persistent_unsure(self):
        found = nonblocking.persistent_requests(self.facts(forms(1, nonblocking=2, persistent=1.5)))
        assert [finding.text[:16] for finding in found] == ["It is not clear "]
        assert "whether persistent requests leave less exposed of MPI_Iallreduce" in found[0].text

    def test_nothing_of_one_form(self):
        for row in forms(nonblocking=2, persistent=1):
            assert not nonblocking.persistent_requests(self.facts([row]))
        # Other calls of MPI_Test are not alike.
        rows = forms(nonblocking=2, persistent=1)
        rows[0]["test_calls"] = 4
        assert not nonblocking.persistent_requests(self.facts(rows))


# ---- other rules ---------------------------------------------------------------------------------

class OtherRules(GainsCase):
    def test_overlapped_halo(self):
        rows = [gain_cells(4800, 100, exposed_us, 0.1, collective="halo", method=method,
                           local="10x10x10", form="persistent" if method == "persistent" else
                           "nonblocking")
                for method, exposed_us in (("packed", 5), ("persistent", 4), ("types", 9))]
        sentence, = self.said(findings.cheapest_overlapped_halo, rows)
        assert sentence == ("With plenty of work a halo swap leaves the least exposed by persistent for "
                            "10x10x10 (4.00 µs (3.90 to 4.10)). One launch.")
        rows[0].update(exposed_us=4.1, exposed_lo_us=4.0, exposed_hi_us=4.2)
        self.unsure(findings.cheapest_overlapped_halo, rows)
        assert not findings.cheapest_overlapped_halo(self.facts(rows[:1]))

    def test_overlap_is_of_usual_rows(self):
        """A row for each form and number of tests doesn't count as an operation of its own."""
        ends = {"overlap_lo_pct": 79, "overlap_hi_pct": 81}
        rows = [gain_cells(8, 10, 5, model=model, form=form, test_calls=calls, overlap_pct=value, **ends)
                for model in ("time", "data")
                for form, calls, value in (("nonblocking", 4, 10), ("persistent", 0, 20),
                                           ("nonblocking", 0, 80))]
        sentence, = self.said(findings.hidden_work, rows)
        assert sentence.startswith("In 1 of 1 collective at the size that takes about a millisecond, at "
                                   "least 50 %")
        sentence, = self.said(findings.sizes_that_hide, rows)
        assert "iallreduce from 8 bytes on" in sentence

    def test_every_rule_has_its_sentence(self):
        """Where there are too many, those that are second of their rules give way."""
        groups = [["a1", "a2", "a3"], [], ["b1", "b2"], ["c1"]]
        assert findings.shared_out(groups, 9) == ["a1", "a2", "a3", "b1", "b2", "c1"]
        assert findings.shared_out(groups, 4) == ["a1", "a2", "b1", "c1"]
        assert findings.shared_out(groups, 2) == ["a1", "b1"]
