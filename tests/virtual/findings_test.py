"""What a report says in sentences of launches whose truth is known."""

import re
import typing

import virtual
from launches import Folder
from commcost.reading import tables
from commcost.saying import findings, nonblocking

ONE_SIZE = ("--data-driven", "--min-num-elts=8", "--max-num-elts=8", "--max-time=0.3")


class Case(typing.NamedTuple):
    """What a rule must say of a program, and a number in it: of which pattern, the truth, and how
    near to that."""

    rule: typing.Callable
    program: str
    options: tuple
    variables: dict
    words: str
    number: tuple = ()
    disturbed: str = ""  # what is true, too, and said where not all is sure


def hidden(fraction, words):
    return Case(findings.hidden_work, "overlap_iallreduce", ("--max-time=0.3",),
                {"MODEL_DURATION_US": 1200, "MODEL_FRACTION": fraction}, words,
                (r"iallreduce ([0-9.]+)", 100 * fraction, 0.1))


def sizes(fraction, words, disturbed=""):
    return Case(findings.sizes_that_hide, "overlap_ibcast",
                ("--data-driven", "--max-num-elts=8", "--max-time=0.3"),
                {"MODEL_DURATION_US": 200, "MODEL_FRACTION": fraction}, words, disturbed=disturbed)


def pays(fraction, words, gain_pct):
    """A blocking call takes 150 us."""
    return Case(nonblocking.what_pays, "overlap_iallreduce", ONE_SIZE,
                {"MODEL_DURATION_US": 200, "MODEL_FRACTION": fraction, "MODEL_BLOCKING_US": 150},
                words, (r"a gain of (-?[0-9.]+) %", gain_pct, 0.2))


def tests(calls, variables, words, exposed_us, disturbed=""):
    return Case(nonblocking.tests_that_help, "overlap_iallreduce", (*ONE_SIZE, "--test-calls=" + calls),
                {"MODEL_DURATION_US": 200, "MODEL_BLOCKING_US": 200, **variables}, words,
                (r"(?:without |, )([0-9.]+)(?: µs)?(?: \([^)]*\))?(?: without)?\)", exposed_us, 0.3), disturbed)


CASES = [
    hidden(0.9, "at least 50 % of their time can be used for work"),
    hidden(0, "starting them early gains less than 10 % of their time"),
    sizes(0.9, "^At least half of their time can be used for work: ibcast from 8 bytes on.",
          "^At least half of their time can be used for work: ibcast from [0-9]+ bytes on."),
    sizes(0.1, "^Less than half of their time can be used for work at any size that was measured: "
               "ibcast."),
    pays(0.5, "^Going non-blocking pays with plenty of work: MPI_Iallreduce ", 33.3),
    pays(0, "^Going non-blocking loses even with plenty of work: MPI_Iallreduce ", -33.4),
    # Stages of 50 us under 400 us of work: a call in the middle starts the second one.
    tests("0,1,15", {"MODEL_FRACTION": 1, "MODEL_PROGRESS_SHARE": 0.25},
          "^With calls of MPI_Test during the work less stays exposed: MPI_Iallreduce of 64 bytes, "
          r"least at 15 calls \(", 150.1,
          "^With calls of MPI_Test during the work less stays exposed: MPI_Iallreduce of 64 bytes, "
          r"least at (?:[0-9]+ or )+15 calls \("),
    # Two calls of 20 us until one completes the operation.
    tests("0,4", {"MODEL_FRACTION": 0.75, "MODEL_TEST_US": 20},
          r"^Calls of MPI_Test during the work only cost time: MPI_Iallreduce of 64 bytes \(", 50.1),
    Case(findings.message_cost, "mpi_overhead", ("--msgsize=8,64K", "--max-time=0.4"),
         {"MODEL_POST_US": 3, "MODEL_LATENCY_US": 20, "MODEL_PER_BYTE_NS": 1},
         "from 64KiB on more than 90 % of the transfer's time is free for other work",
         (r"sending a message takes ([0-9.]+)", 3, 0.05)),
    Case(findings.barrier_cost, "syncbench", ("--types=MPI barrier", "--max-time=0.3"),
         {"MODEL_BARRIER_US": 25}, "^A barrier of 2 processes costs ",
         (r"costs ([0-9.]+)", 25, 0.1)),
    # 128 receives are posted in 12.8 us, then 128 messages come 2 us apart, and as many go.
    Case(findings.message_rate, "msgrate", ("-p", "1", "-c", "0", "--max-time=0.1"),
         {"MODEL_LATENCY_US": 2, "MODEL_GAP_US": 2}, "^With warm caches ",
         (r"a process exchanges ([0-9.]+)", 952381, 2000)),
    Case(findings.put_against_send, "pingpong",
         ("--patterns=put,MPI Send", "--arrangements=single", "--coarray-sync=all",
          "--max-ndata=1", "--max-time=0.3"),
         {"MODEL_LATENCY_US": 20, "MODEL_SYNC_US": 40, "MODEL_BARRIER_US": 30},
         "^A put takes, .* times as long as MPI_Send", (r"and ([0-9.]+) µs", 20, 0.3)),
    Case(findings.cheapest_halo, "halo",
         ("--local=4", "--methods=put,isend/irecv packed", "--coarray-sync=all", "--max-time=0.3"),
         {"MODEL_LATENCY_US": 20, "MODEL_SYNC_US": 100},
         r"^A halo is swapped quickest by isend/irecv packed for 4x4x4 \("),
    Case(findings.lost_time, "syncbench", ("--types=MPI barrier", "--max-time=0.5"),
         {"MODEL_BARRIER_US": 25, "DISTURB": "10000:50"}, "^In 1 row the system took"),
    Case(findings.lost_time, "syncbench", ("--types=MPI barrier", "--max-time=0.5"),
         {"MODEL_BARRIER_US": 25, **virtual.CONDITIONS["cloud"]}, "^$"),
]


def name_of(case):
    return "{} of {}: {}".format(case.rule.__name__, case.program, case.words)


class Findings(virtual.Test):
    target = "as its numbers are rounded"

    def folders(self, case, *options, **how):
        """Those of launches, and the one that has them all."""
        folder = Folder(self)
        return folder.launches("runs", case.program, *case.options, *options,
                               **{**case.variables, **how}), folder.path

    @staticmethod
    def said(case, folder):
        """All sentences of the rule."""
        facts = tables.Tables([folder])
        return " | ".join(finding.sentence for finding in case.rule(facts))

    def check(self, case, sentence, factor=1.0):
        self.assertRegex(sentence, case.words)
        if case.number:
            pattern, truth, target = case.number
            found = re.search(pattern, sentence)
            self.assertTrue(found, sentence)
            self.near(float(found.group(1)), truth, factor * target, sentence)

    def test_one_launch(self):
        for case in CASES:
            with self.subTest(name_of(case)):
                _, folder = self.folders(case)
                sentence = self.said(case, folder)
                self.check(case, sentence)
                self.assertTrue(sentence.endswith(" One launch.") or not sentence, sentence)

    def test_launches(self):
        """Ten that differ by a percent: numbers are their medians."""
        for case in CASES[:-2][::virtual.by_tier(plain=6, run=2, all=1)]:
            with self.subTest(name_of(case)):
                _, folder = self.folders(case, launches=10, MODEL_LAUNCH_SPREAD=0.01)
                sentence = self.said(case, folder)
                self.check(case, sentence, 1 + abs(0.01 * case.number[1] / case.number[2])
                           if case.number else 1)
                self.assertNotIn("One launch", sentence)

    def test_disturbed(self):
        """Each launch says what is true, that it is not clear, or nothing."""
        for case in CASES[:-2][1::virtual.by_tier(plain=8, run=3, all=1)]:
            with self.subTest(name_of(case)):
                told = 0
                folders, _ = self.folders(case, launches=virtual.by_tier(plain=10, run=10, all=30),
                                          MODEL_LAUNCH_SPREAD=0.01, **virtual.CONDITIONS["cloud"])
                for folder in folders:
                    sentence = self.said(case, folder)
                    told += bool(re.search(case.words, sentence))
                    if sentence and not sentence.startswith("It is not clear"):
                        self.assertRegex(sentence, "|".join(filter(None, (case.words, case.disturbed))))
                virtual.say("{}: {} of {} launches tell".format(name_of(case), told, len(folders)))
                self.assertGreater(told, 0)

    def test_wrong_data(self):
        """Only where there is any."""
        case = Case(findings.wrong_data, "halo",
                    ("--local=4", "--methods=isend/irecv packed", "--check", "--max-time=0.1"),
                    {"MODEL_LATENCY_US": 5}, "^Wrong data came in 1 row: ")
        _, folder = self.folders(case)
        self.assertEqual(self.said(case, folder), "")
        _, folder = self.folders(case, status=1, MODEL_CORRUPT=1)
        self.check(case, self.said(case, folder))


if __name__ == "__main__":
    virtual.main()
