"""The launches of a trial, as rows of a file to which it appends, so that one that was interrupted
goes on."""

import os
import typing

from mpi_run import number, read, read_tsv


class Record:
    """The launches in a file."""

    __test__ = False

    def __init__(self, path, kind):
        """`kind` is of the launches: a NamedTuple of texts and numbers."""
        self.path, self.kind = path, kind
        self.launches = []
        if os.path.exists(path):
            self.launches = [
                kind(*(row[name] if of is str else number(row[name])
                       for name, of in typing.get_type_hints(kind).items()))
                for row in read_tsv(read(path))]

    def forget_older_than(self, programs):
        """Launches count no longer if a program was built anew since the first one."""
        begun = self.path + ".begun"
        newest = max(map(os.path.getmtime, programs))
        if self.launches and not (os.path.exists(begun) and os.path.getmtime(begun) >= newest):
            os.replace(self.path, self.path + ".old")
            self.launches = []

    def append(self, launch):
        new = not os.path.exists(self.path)
        if new:
            with open(self.path + ".begun", "w", encoding="utf-8"):
                pass
        with open(self.path, "a", encoding="utf-8") as stream:
            for line in ([self.kind._fields] if new else []) + [launch]:
                print(*("NA" if cell != cell else cell for cell in line), sep="\t", file=stream)
        self.launches.append(launch)
