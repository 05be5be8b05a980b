"""Command lines and environments by a seed: good ones, ones with a single fault, and ones that are
anything. They are made from the programs' own tables of options, which bad_lines prints.

usage: lines.py BAD_LINES SEED COUNT    has bad_lines judge COUNT lines, of the programs in turn
"""

import collections
import math
import random
import re
import subprocess
import sys
from typing import NamedTuple

WORDS_MAX = 32  # with the program's name: judge.h
LONG = 100 * 1024
SUFFIXES = ((b"K", 10), (b"k", 10), (b"M", 20), (b"G", 30), (b"g", 30))

# Texts that some options take and others refuse.
TEXTS = [
    b"", b" ", b"\t", b"\n", b"0", b"-0", b"+0", b"1", b"-1", b"8,1K,1M", b"1:4M", b"0,2:4M", b"1:9E", b"0,2:4M,,",
    b"4M:1", b"9223372036854775807", b"9223372036854775808", b"-9223372036854775808", b"18446744073709551616",
    b"1e308", b"1e-400", b"4.9e-324", b"inf", b"nan", b"0x10", b"1,5", b"1.000,5", b"\xd9\xa3", b"yes", b"no",
    b"false", b"all", b"auto", b"llc", b"--", b"-", b"--help", b"-h", b"=", b"a=b", b"\xff\xfe\xfd", b"\xc3\x28",
    b"\xe2\x80\xa8", b"\x1b[31m", b"$(reboot)", b"`id`", b"%s%n%s", b"%99999999s", b"'", b"\"", b"a b", b"#", b"|",
    b"16M", b"2x1x1", b"0x0x0", b"4294967296x4294967296x1", b"9223372036854775807x2x0", b"100x20x30", b"1,2,3",
    b"put,get", b"sync all", b"MPI_Send", b"de_DE.UTF-8", b"99999x99999x99999", b"2147483648x1x1", b"x", b"xx", b"1x",
    b",", b",,", b"all,", b"4611686018427387904x4611686018427387904x4"]
PIECES = [b"9", b"1,", b"a", b"\xff", b"1:4M,", b"put,", b"\xc3\xa4"]
# What no option takes that wants a number, a list of sizes, or anything at all.
BAD_NUMBERS = [
    b"", b" ", b" 5", b"5 ", b"0x10", b"1,5", b"5T", b"5KB", b"1.5K", b"9223372036854775807K", b"8589934592G", b"9E",
    b"1e", b"e5", b"nan", b"NaN", b"inf", b"-inf", b"infinity", b"1_000", b"1'000", b"--5", b"++5", b"5%%",
    b"\xd9\xa3", b"\xff", b"1\n", b"0b1", b"5;", b"five", b"1e999", b"-1e999", b"0x1p3", b"1.2.3", b"9 9", b"$((1))",
    b"99999999999999999999G", b"K", b"%", b"."]
BAD_LISTS = [
    b"1:9E", b"0,2:4M,,", b"4M:1", b":", b",", b"1:", b":4", b"0:8", b"1,2,", b",1", b"1:9223372036854775807",
    b"1:9223372036854775808", b"1;2", b"1 ,2", b"1, 2", b"1:2:3", b"-1", b"1-4", b"8,1K,1T", b"1:4M\n", b"[1,2]"]
BAD_WORDS = [
    b"--no-such-option", b"--no-such-option=1", b"-Z", b"stray", b"", b"--", b"--\xff\xfe", b"--=", b"-=", b"--max-",
    b"--max", b"---precision=2", b"\xe2\x80\xa8", b"-\xff", b"file.tsv", b"--precision\n=2", b"-"]


class Option(NamedTuple):
    """A row of a table (common/run/options.h), in bytes; empty where there is none."""

    name: bytes
    kind: bytes
    short: bytes
    alias: bytes
    help: bytes
    word: bytes
    text: bytes  # the default of a text
    variables: list
    words: list  # of a choice or a list of names
    min: float
    max: float


def read_options(bad_lines):
    """The options of each program, by its name."""
    fields = iter(subprocess.run([bad_lines, "--options"], stdout=subprocess.PIPE, check=True).stdout.split(b"\0"))
    options = {}
    for program in iter(lambda: next(fields), b""):
        options[program] = [
            Option(*(next(fields) for _ in range(7)), next(fields).split(), next(fields).split(b"|"),
                   float(next(fields)), float(next(fields))) for _ in range(int(next(fields)))]
    return options


class Line:
    """What a program is given, and what is known of it (enum expectation of judge.h)."""

    def __init__(self, program):
        self.program, self.words, self.variables = program, [], {}
        self.expectation, self.culprit = b"good", b""

    def __str__(self):
        shown = [repr(word[:80]) for word in self.words]
        return " ".join([repr(self.variables)[:300], self.program.decode(), *shown])

    def fields(self):
        """For bad_lines."""
        named = [field for variable in self.variables.items() for field in variable]
        return [self.program, self.expectation, self.culprit, b"%d" % len(self.words), *self.words,
                b"%d" % len(self.variables), *named]

    def add(self, *words):
        """False if the line is full."""
        if len(self.words) + len(words) >= WORDS_MAX:
            return False
        self.words += words
        return True


class Maker(random.Random):
    """Makes a line of a program with these options. A tame line names no file outside of the working
    folder, and its good values are small, so that a run with them ends soon."""

    def __init__(self, program, options, tame, seed):
        super().__init__(seed)
        self.options, self.tame, self.line = options, tame, Line(program)

    def one_in(self, count):
        return self.randrange(count) == 0

    # ---- values ------------------------------------------------------------------------------

    def any_text(self):
        way = self.randrange(16)
        if way < 2:
            return bytes(self.randrange(1, 256) for _ in range(self.randrange((40, 2000)[way])))
        if way > 2:
            return self.choice(TEXTS)
        return repeat(self.choice(PIECES), LONG) if self.one_in(8) else b"%d" % self.randrange(-1 << 63, 1 << 63)

    def likely_text(self, option):
        """A word of the option's help, or its default."""
        way = self.randrange(9)
        if way < 3 or not option.text:
            return self.any_text()
        if way < 5:
            return option.text
        words = option.help.replace(b";", b",").replace(b"/", b"," if self.tame else b"/").split()
        return self.choice(words).strip(b",:()").split(b",")[0]

    def good_number(self, option):
        """In the option's limits, as often small as large."""
        enough = min(option.max, max(4 * max(option.min, 0), 64)) if self.tame else option.max
        way = self.randrange(8)
        if way < 2:
            return (option.min, enough)[way]
        return min(enough, option.min + math.expm1(self.random() * math.log1p(enough - option.min)))

    def good_integer(self, option):
        return min(max(math.floor(self.good_number(option)), math.ceil(option.min)), (1 << 63) - 1)

    def good_size(self, option):
        value = self.good_integer(option)
        suffix, shift = self.choice(SUFFIXES)
        rounded = value >> shift << shift
        return b"%d" % value if rounded < max(1, option.min) else b"%d%s" % (value >> shift, suffix)

    def good_list(self, option):
        if not self.tame and option.max >= 2147483647 and self.one_in(8):
            return b",".join([b"2147483647"] * 3000)
        count = 1 + self.randrange(4 if self.tame else self.choice((40,) * 7 + (400,)))
        sizes = [self.good_size(option) for _ in range(count)]
        return b",".join(sizes + [self.choice((b"2:64", b"3:1000", b"5:5"))][:self.one_in(3)])

    def good_name(self, option):
        """Case, spaces, dashes and underscores don't count."""
        changed = bytearray(self.choice(option.words))
        for i, byte in enumerate(changed):
            if self.one_in(4):
                changed[i] = self.choice(b" -_") if byte in b" -_" else ord(chr(byte).upper())
        return bytes(changed)

    def good_names(self, option):
        first = b"all" if self.one_in(4) else self.good_name(option)
        return b",".join([first] + [self.good_name(option) for _ in range(self.randrange(3))])

    def good_value(self, option):
        if option.word and self.one_in(3):
            return option.word
        return {b"flag": lambda: self.choice((b"yes", b"no", b"0", b"1", b"", b"FALSE", b"No", b"x")),
                b"integer": lambda: b"%d" % self.good_integer(option),
                b"real": lambda: b"%.17g" % self.good_number(option),
                b"percent": lambda: b"%.17g%s" % (self.good_number(option), b"%"[:self.randrange(2)]),
                b"size": lambda: self.good_size(option), b"list": lambda: self.good_list(option),
                b"choice": lambda: self.choice(option.words), b"names": lambda: self.good_names(option),
                b"text": lambda: self.likely_text(option)}[option.kind]()

    def out_of_range(self, option):
        """A number beyond the option's limits."""
        if option.kind in (b"real", b"percent"):
            below = option.min / 2 if option.min > 0 else option.min - 1
            return b"%.17g" % self.choice((below, option.max * 1.0001 + 1e-6))
        below, above = int(option.min) - 1, int(option.max) + (1 if option.max < 1e15 else 4096)
        return b"%d" % self.choice((below, above if option.max < 4e18 else below))

    def bad_value(self, option):
        if option.kind == b"choice":  # no word is the beginning of another one
            word = self.good_value(option)
            return self.choice((b"", word + b"x", b" " + word, word + b"|" + word, word[:-1]))
        if option.kind == b"names":
            name = self.good_name(option)
            return self.choice((b"", name + b"x", name + b",", b"," + name, name + b";" + name,
                                b"all," + name + b",none such"))
        is_list = option.kind == b"list"
        if self.one_in(6 if is_list else 3):
            return self.out_of_range(option)
        if self.one_in(30):  # a list of too many, and nothing behind the last comma
            return repeat(b"1,2,", 10000) if is_list else repeat(b"x9", LONG)
        return self.choice(BAD_LISTS if is_list else BAD_NUMBERS)

    # ---- words -------------------------------------------------------------------------------

    def name(self, option):
        """A name by which the option is found: its own, its alias, or the beginning of one of these."""
        name = option.alias if option.alias and self.one_in(2) else option.name
        start = name[:1 + self.randrange(len(name))]
        ambiguous = any(of.name.startswith(start) or (of.alias and of.alias.startswith(start))
                        for of in self.options if of is not option)
        return b"--" + (start if self.one_in(4) and not ambiguous else name)

    def is_set(self, option):
        return any(variable in self.line.variables for variable in option.variables)

    def give(self, option, value):
        """The option with the value, in one of the ways there are. False if the line is full."""
        line, flag = self.line, option.kind == b"flag"
        if option.variables and not self.is_set(option) and self.one_in(3):
            line.variables[self.choice(option.variables[:2])] = value
            return True
        short = option.short and self.one_in(2)
        name = b"-" + option.short if short else self.name(option)
        if flag and (short or self.one_in(2)):
            return line.add(name)
        if not flag and (self.one_in(3) or (short and not value)):
            return line.add(name, value)
        return line.add(name + (b"" if short else b"=") + value)

    def is_left_alone(self, option):
        """Whether its value ends the line before it is judged, or says where something goes."""
        return option.name in (b"help", b"version", b"usage") or (
            self.tame and option.name in (b"output", b"dump-samples"))

    def any_option(self):
        return self.choice([option for option in self.options if not self.is_left_alone(option)])

    def add_good_ones(self):
        for _ in range(self.randrange(6)):
            option = self.any_option()
            self.give(option, self.good_value(option))
        # Short options without values may share a word.
        bundle = b"".join(option.short for option in self.options if option.kind == b"flag" and option.short and
                          not self.is_left_alone(option) and self.one_in(4))
        if bundle:
            self.line.add(b"-" + bundle[:7])

    def add_bad_value(self):
        option = self.choice([option for option in self.options if has_bad_values(option) and
                              not self.is_set(option)])
        if self.give(option, self.bad_value(option)):
            self.line.expectation, self.line.culprit = b"option", option.name

    def add_bad_word(self):
        """A word that no program takes, or an option without its value."""
        option = self.choice([option for option in self.options if option.kind != b"flag"])
        word = self.choice((b"--" + option.name + b"x=1", b"--" + option.name, *self.sample(BAD_WORDS, 4)))
        if self.line.add(*((word, b"stray") if word == b"--" else (word,))):
            self.line.expectation = b"line"

    def add_anything(self):
        self.line.expectation = b"anything"
        for _ in range(1 + self.randrange(6)):
            option = self.any_option() if self.tame else self.choice(self.options)
            way = self.randrange(8)
            if way == 0:
                self.line.add(self.any_text())
            elif way == 1:
                self.give(option, self.good_value(option))
            elif way == 2 and has_bad_values(option):
                self.give(option, self.bad_value(option))
            # Whatever is a number may be a large one.
            elif not self.tame or option.kind in (b"flag", b"text", b"choice", b"names"):
                self.give(option, self.any_text())

    def make(self):
        way = self.randrange(100)
        if way >= 75:
            self.add_anything()
            return self.line
        self.add_good_ones()
        if way >= 62:
            self.add_bad_word()
        elif way >= 30:
            self.add_bad_value()
        return self.line


def repeat(piece, count):
    return (piece * count)[:count]


def has_bad_values(option):
    return option.kind not in (b"flag", b"text")


def make_lines(bad_lines, seed, count, tame):
    """Each line has random numbers of its own, so that any can be made again alone."""
    programs = list(read_options(bad_lines).items())
    return [Maker(*programs[number % len(programs)], tame, f"{seed} {number}").make() for number in range(count)]


def main(bad_lines, seed, count):
    lines = make_lines(bad_lines, seed, int(count), tame=False)
    data = b"".join(field + b"\0" for line in lines for field in line.fields())
    done = subprocess.run([bad_lines], input=data, stdout=subprocess.PIPE, check=False)
    print(done.stdout.decode(), collections.Counter(line.expectation.decode() for line in lines))
    for number in re.findall(rb"(?m)^wrong: (\d+)", done.stdout):
        print(f"line {int(number)}: {lines[int(number)]}")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
