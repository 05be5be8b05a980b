# SPDX-License-Identifier: BSD-3-Clause
"""Commands that scripts tell their users: each is pasted as it stands, into a shell in another folder."""

import re
import shlex

from case import call, each
from made_results import GAIN, gain_cells, gain_roles, tsv
from mpi_run import read
from pretended_suite import LAUNCHER, SCRIPTS, write_program
from suite_test import SuiteCase
from tune_test import MPICH, PROGRAM, VARIABLE

# A benchmark whose few launches make nothing clear.
OVERLAP = r"""#!/bin/sh
for output; do :; done
[ -e "$STARTED.once" ] || { touch "$STARTED.once"; exit 3; }
exec >"${output#--output=}"
echo "# date: $(date +%s.%N)"
for variable in $(echo "$COMMCOST_VARIABLES" | tr -d =); do
    eval "[ -z \"\${$variable+x}\" ] || echo \"# mpi_variable: $variable=\$$variable\""
done
cat <<'END'
TABLE
END
echo "# end: 1 row, exit 0"
"""
TABLE = tsv("overlap_iallreduce", GAIN, [[gain_cells(8, 100.0, 90.0)[name] for name in GAIN]],
            metadata={"columns": gain_roles(GAIN), "date": "NA"}).replace("# date: NA\n", "").strip()


class Pasted(SuiteCase):
    """With blanks and quotes in all paths, and with a build, hosts and a launcher that a results folder isn't asked for."""

    def setUp(self):
        super().setUp()
        odd = self.suite.folder / "it's \"odd\" $(id)"
        (odd / "elsewhere").mkdir(parents=True)
        (odd / "CMakeLists.txt").touch()
        (odd / "run_scripts").symlink_to(SCRIPTS)
        self.odd, self.results = odd, odd / "the results"
        self.build = odd / "build of mine"
        write_program(self.build / "overlap/overlap_iallreduce", OVERLAP.replace("TABLE", TABLE))
        write_program(self.build / "collective/collective", PROGRAM)
        self.launcher_path = odd / "a bin/mpirun"
        write_program(self.launcher_path, LAUNCHER.replace('while [ "${1#/}" = "$1" ]', 'while ! [ -x "$1" ]').replace(
            "VERSION", "HYDRA build details:"))
        self.place = [f"--build={self.build}", "--launcher=../a bin/mpirun", "--hosts=a,b"]

    def start(self, script, *words, status=0):
        """A script of the tree, in a folder of it."""
        done = call(["sh", self.odd / "run_scripts" / script, *words], cwd=self.odd / "elsewhere",
                    env=self.suite.environment)
        assert done.returncode == status, done.stdout + done.stderr
        return done

    def paste(self, said, before, status=0):
        """Runs the command that stands behind these words."""
        told, = re.findall(f"(?m)^(?: *|.*: |.*\\. ){before}:\\s+(.*)$", said)
        done = call(["sh", "-c", told], cwd="/", env=self.suite.environment)
        assert done.returncode == status, told + "\n" + done.stdout + done.stderr
        return done

    def suite_words(self, *more):
        return [*self.place, f"--output={self.results}", "--benchmarks=overlap_iallreduce", "--runs=2", *more]

    def test_suite(self):
        said = self.start("run_suite.sh", *self.suite_words(), status=1).stderr
        said = self.paste(said, "To repeat failed launches").stderr
        assert "2 of 2 launches have their result" in said
        assert self.paste(said, "To make a page").stdout == f"{self.results}/report.html\n"
        for text in (self.paste(said, "To read it").stdout, read(self.results / "report.html")):
            assert re.search('To settle ("|&quot;)not clear', text)
        said = self.paste(self.paste(said, "To read it").stdout, 'To settle "not clear"(?: [(][^)]*[)])?').stderr
        assert "6 of 6 launches have their result" in said

    @each("varied, launches", [([], 2), (["--vary=build:../build of mine,../other", "--vary=A=1,it's"], 8)])
    def test_suite_that_is_left(self, varied, launches):
        (self.odd / "other").symlink_to(self.build)
        (self.suite.folder / "started.once").touch()
        said = self.start("run_suite.sh", *self.suite_words("--budget=0", *varied), status=1).stderr
        assert f"{launches} of {launches} launches have their result" in self.paste(said, "To resume").stderr

    def test_defaults(self):
        """Nothing but defaults was given: here those of a tree, with its build."""
        (self.odd / "build").symlink_to(self.build)
        self.suite.environment["PATH"] = f"{self.launcher_path.parent}:{self.suite.environment['PATH']}"
        said = self.start("run_suite.sh", "--budget=0", status=1).stderr
        assert "The budget is used up: 0 of 24" in said and said.count(" --") == 1, said
        (self.suite.folder / "started.once").touch()
        assert "24 of 24 launches have their result" in self.paste(said, "To resume").stderr

    def test_another_plan(self):
        """The hint leads back to the options that it was begun with."""
        (self.suite.folder / "started.once").touch()
        self.start("run_suite.sh", *self.suite_words())
        done = self.start("run_suite.sh", *self.suite_words("--ranks=4"), status=1)
        assert "begun with another plan" in done.stderr
        assert "2 of 2 launches have their result" in self.paste(done.stderr, "With its own options").stderr

    def test_what_is_to_be_given_again(self):
        (self.suite.folder / "started.once").touch()
        self.start("run_suite.sh", *self.suite_words())
        done = self.start("run_suite.sh", f"--resume={self.results}", status=2)
        again, = re.findall("--resume: (.*) is not taken", done.stderr)
        done = call(["sh", "-c", f"{shlex.quote(str(self.odd / 'run_scripts/run_suite.sh'))} "
                     f"--resume={shlex.quote(str(self.results))} {again}"], cwd="/", env=self.suite.environment)
        assert done.returncode == 0, done.stderr

    def test_tune(self):
        """The library lies in a path with blanks, too; the page's command for its file is for a shell."""
        (self.odd / "a lib").mkdir()
        (self.odd / "a lib/libmpi.so.12").write_text(MPICH)
        write_program(self.suite.folder / "bin/ldd", f"""#!/bin/sh
cat <<'END'
\tlinux-vdso.so.1 (0x00007ffd2a5f2000)
\tlibmpi.so.12 => {self.odd}/a lib/libmpi.so.12 (0x00007f1c3e200000)
\tlibc.so.6 => /lib/libc.so.6 (0x00007f1c3e000000)
END
""")
        words = [*self.place, "--ranks=4", "--launches=12", "--sizes=8", f"{VARIABLE}recursive_doubling", f"--output={self.results}"]
        said = self.start("tune.sh", *words, "--budget=0", status=1).stderr
        done = self.paste(said, "To resume")
        assert f"Evidence: {self.results}/evidence.tsv" in done.stdout
        told, = re.findall("(?m)^ *(export MPIR_.*)$", done.stdout)
        file = call(["sh", "-c", f'{told}; printf %s "$MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE"'], cwd="/")
        assert file.stdout == f"{self.results}/rules.json", told

    def test_launcher_hint(self):
        write_program(self.launcher_path, LAUNCHER)
        done = self.start("run_suite.sh", *self.suite_words(), status=2)
        again = shlex.split(done.stderr.partition(" like ")[2])
        assert again == [f"--launcher={self.launcher_path} -n {{ranks}}"]
