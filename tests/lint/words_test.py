# SPDX-License-Identifier: BSD-3-Clause
"""Texts that people read are standard technical English: words.txt lists what is avoided.

Texts are comments, docstrings, string literals, documents and scripts. A comment or docstring doesn't begin with What or
Whether, has no line of one word left over by reflowing, and a document has no sentence of more than 30 words.

usage: words_test.py [PATH]...   prints every hit in these files and folders (default: all)
"""

import io
import os
import re
import sys
import tokenize

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from case import Case, each  # noqa: E402

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDERS = ["", "checkup", "common", "collective", "halo", "linkmap", "mpi_overhead", "msgrate", "noise", "overlap", "pingpong",
           "syncbench", "monitor", "run_scripts", "integrations", "docs", "cmake", "tests"]
SENTENCE_WORDS = 30
IN_C = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
IN_SCRIPT = re.compile(r"[^\n]+")
OPENING = re.compile(r'^(/\*+|//+|#+|[rbf]*"+)\s*')


def avoided():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "words.txt"), encoding="utf-8") as stream:
        lines = [line.rstrip("\n") for line in stream if not line.startswith("#")]
    return [(re.compile(words, re.I), instead) for words, instead in (re.split(r"\s{3,}", line) for line in lines)]


AVOIDED = avoided()


def texts_in_python(source):
    begins = True
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            yield token.start[0], token.string, begins or token.type == tokenize.COMMENT
        begins = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.NL, tokenize.COMMENT)


def texts_of(path, source):
    """Yields each comment, string, or line of a document or script: its first line's number, text, and if it is a comment
    or docstring."""
    if path.endswith(".py"):
        yield from texts_in_python(source)
        return
    pattern = IN_C if path.endswith((".c", ".h", ".def", ".in")) else IN_SCRIPT
    for match in pattern.finditer(source):
        yield source.count("\n", 0, match.start()) + 1, match.group(), match.group()[0] in "/#"


def hits_in_text(first, text, is_comment):
    """Yields line number, line and reason of each hit in a text that begins at line `first`."""
    lines = text.split("\n")
    if is_comment and re.match(r"(What|Whether)\b", OPENING.sub("", lines[0])):
        yield first, lines[0], "begins with What or Whether"
    for number, line in enumerate(lines):
        for words, instead in AVOIDED:
            if words.search(line):
                yield first + number, line, instead
        if is_comment and 0 < number < len(lines) - 1 and re.fullmatch(r"(\*|//|#)?\s?[a-z][\w',;-]*[^.:\s]?", line.strip()) \
                and re.search(r"\w", lines[number - 1]) and re.search(r"\w", lines[number + 1]):
            yield first + number, line, "a line of one word left over"


def paragraphs_of(document):
    """Yields line number and text of each paragraph and list item; no headings, tables and code."""
    first, held, in_code = 0, [], False
    for number, line in enumerate(document.split("\n") + [""], 1):
        in_code ^= line.lstrip().startswith("```")
        begins = re.match(r"\s*([-*]|\d+\.)\s", line)
        if in_code or not line.strip() or begins or re.match(r"\s*(#|\||```|    )", line):
            if held:
                yield first, " ".join(held)
            held = []
        if not in_code and line.strip() and not re.match(r"\s*(#|\||```)", line):
            first = first if held else number
            held.append(line.strip())


def long_sentences(document):
    for first, paragraph in paragraphs_of(document):
        for sentence in re.split(r"(?<=[.!?:;])[)*\"`]*\s+", re.sub(r"`[^`]*`", "x", paragraph)):
            if len(re.findall(r"[\w'’-]+", sentence)) > SENTENCE_WORDS:
                yield first, sentence, f"a sentence of more than {SENTENCE_WORDS} words"


def hits_in(path):
    with open(path, encoding="utf-8") as stream:
        source = stream.read()
    for first, text, is_comment in texts_of(path, source):
        yield from hits_in_text(first, text, is_comment)
    if path.endswith(".md"):
        yield from long_sentences(source)


def files_in(folder):
    """Lists the texts in a folder of the source; the top folder without its subfolders."""
    for parent, folders, names in os.walk(os.path.join(TOP, folder)):
        folders[:] = [] if not folder else [name for name in folders if not name.startswith((".", "build"))]
        yield from (os.path.join(parent, name) for name in sorted(names)
                    if name.endswith((".c", ".h", ".def", ".in", ".md", ".py", ".sh", ".ini", ".list", ".cmake",
                                      "CMakeLists.txt")))


class Words(Case):
    @each("folder", FOLDERS)
    def test_words(self, folder):
        files = list(files_in(folder))
        assert files
        found = [(os.path.relpath(path, TOP), *hit) for path in files for hit in hits_in(path)]
        assert found == [], found


def main(paths):
    for path in paths or FOLDERS:
        for name in [path] if os.path.isfile(path) else files_in(os.path.relpath(path, TOP) if path else ""):
            for number, line, reason in hits_in(name):
                print(f"{os.path.relpath(name)}:{number}: {reason}: {line.strip()}")


if __name__ == "__main__":
    main([os.path.abspath(path) for path in sys.argv[1:]])
