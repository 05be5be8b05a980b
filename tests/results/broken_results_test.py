"""Whatever a result holds, each command ends with a verdict or with one line that says what is
wrong: results that a fuzzer found, and good ones with bytes changed at random."""

import contextlib
import os
import random
import re
import sys

from case import Case, each
from commcost import command
from commcost.reading import summarize, tables
from commcost.saying import compare, page, report, scorecard
from commcost.reading.results import ResultError
from made_results import ALL, tsv

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
from foreign_test import OUTPUTS  # noqa: E402
from results_test import SHORT  # noqa: E402

CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus")
SEED = 3
CHANGED, CHANGED_FULL = 150, 5000


def changed(content, chance):
    """The bytes with some of them changed, left out, or taken from elsewhere."""
    content = bytearray(content)
    for _ in range(chance.randint(1, 8)):
        place = chance.randrange(len(content))
        kind = chance.randrange(4)
        if kind == 0:
            content[place] = chance.randrange(256)
        elif kind == 1:
            content[place] = chance.choice(b"\t\n\r#NA0123456789.-e=:")
        elif kind == 2:
            del content[place:place + chance.randint(1, 40)]
        else:
            other = chance.randrange(len(content))
            content[place:place] = content[other:other + chance.randint(1, 200)]
        if not content:
            return b""
    return bytes(content)


class BrokenResults(Case):
    def read_by_all(self, files):
        """Lets all commands read files, which are bytes; nothing else than a usage error may come of
        that, of one line."""
        for number, content in enumerate(files):
            folder = self.folder / ("base" if number == 0 else "new")
            folder.mkdir(exist_ok=True)
            (folder / f"{number}.tsv").write_bytes(content)
        paths = [str(self.folder / "new"), str(self.folder / "base")][:len(files)]
        if len(files) == 1:
            paths = [str(self.folder / "base")]
        for use in (lambda: compare.main([paths[-1], paths[0]]),
                    lambda: summarize.summarize(paths),
                    lambda: report.page_of(paths, tables.Tables(paths), {}).as_html(),
                    lambda: scorecard.text_of(scorecard.card_of(tables.Tables(paths)))):
            try:
                with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), \
                        contextlib.redirect_stderr(nowhere):
                    use()
            except (command.UsageError, ResultError) as error:
                assert "\n" not in command.plain(str(error))

    @each("name", sorted(os.listdir(CORPUS)))
    def test_corpus(self, name):
        with open(os.path.join(CORPUS, name), "rb") as stream:
            data = stream.read()
        # The first byte chose between files and folders.
        self.read_by_all(re.split(rb"(?m)^====.*\n?", data[1:])[:3])

    def test_changed_results(self):
        chance = random.Random(SEED)
        roles = {"_us": "less", "(%)": "more", "_per_s": "more"}
        for number in range(CHANGED_FULL if self.full else CHANGED):
            name = chance.choice(sorted(ALL))
            benchmark, columns, rows = ALL[name]
            said = " ".join(f"{column}={next((role for end, role in roles.items() if column.endswith(end)), 'key')}"
                            for column in columns)
            whole = (tsv(benchmark, columns, rows, metadata={"schema": 2, "columns": said}) +
                     f"# end: {len(rows)} rows, exit 0\n").encode()
            self.read_by_all([changed(whole, chance), whole][:1 + number % 2])

    def test_changed_outputs(self):
        """Short results, and what other programs print."""
        chance = random.Random(SEED)
        for number in range(CHANGED_FULL if self.full else CHANGED // 2):
            others = chance.choice(sorted(text for text, *_ in OUTPUTS.values()))
            whole = (others if number % 3 else SHORT).encode()
            self.read_by_all([changed(whole, chance), whole])
