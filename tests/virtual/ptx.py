# SPDX-License-Identifier: BSD-3-Clause
"""Runs kernels given as PTX text (NVIDIA, "Parallel Thread Execution ISA"), thread by thread: of its instructions those
that common/device/kernels.h uses, with registers of the types that they take. Memory is of 8-byte words."""

import re
import struct

def float32(value):
    return struct.unpack("f", struct.pack("f", value))[0]


class Kernel:
    """One .entry: its parameters, and its statements by label."""

    def __init__(self, text):
        head, body = text.split("{", 1)
        self.name = re.search(r"\.entry (\w+)\(", head)[1]
        self.parameters = re.findall(r"\.param \.u64 (\w+)", head)
        self.registers, self.code, self.labels = {}, [], {}
        for statement in re.findall(r"\w+:|[^;{}:]+;", body):
            statement = statement.strip()
            if statement.endswith(":"):
                self.labels[statement[:-1]] = len(self.code)
            elif statement.startswith(".reg"):
                _, kind, name = statement[:-1].split()
                base, count = re.fullmatch(r"(%[a-z]+)(?:(\d+)|<(\d+)>)", name).group(1, 3)
                names = [name] if count is None else [base + str(i) for i in range(int(count))]
                self.registers.update({name: kind for name in names})
            else:
                self.code.append(statement[:-1])

    def run(self, memory, arguments, groups=1, threads=1):
        """Returns the number of statements that the last thread executed."""
        assert len(arguments) == len(self.parameters), self.name
        for group in range(groups):
            for thread in range(threads):
                count = Thread(self, memory, dict(zip(self.parameters, arguments)), {
                    "%ctaid.x": group, "%ntid.x": threads, "%tid.x": thread, "%nctaid.x": groups}).run()
        return count


class Thread:
    def __init__(self, kernel, memory, arguments, special):
        self.kernel, self.memory, self.arguments = kernel, memory, arguments
        self.values, self.special = {}, special

    def read(self, word, kind):
        """A register of the type that the instruction takes, or a literal."""
        if word in self.special:
            return self.special[word]
        if word.startswith("%"):
            assert self.kernel.registers[word] in (kind, ".b" + kind[2:]), (self.kernel.name, word, kind)
            return self.values[word]
        return struct.unpack(">f", bytes.fromhex(word[2:]))[0] if word.startswith("0f") else int(word)

    def write(self, word, kind, value):
        assert self.kernel.registers[word] in (kind, ".b" + kind[2:]), (self.kernel.name, word, kind)
        self.values[word] = value if kind in (".f32", ".pred") else value & (2 ** int(kind[2:]) - 1)

    def run(self):
        at = count = 0
        while True:
            statement, count = self.kernel.code[at], count + 1
            at += 1
            if statement.startswith("@"):
                condition, statement = statement[1:].split(None, 1)
                if not self.read(condition, ".pred"):
                    continue
            name, _, rest = statement.partition(" ")
            words = [word.strip() for word in rest.split(",")]
            if name == "ret":
                return count
            if name == "bra":
                at = self.kernel.labels[words[0]]
            else:
                self.execute(name, words)

    def execute(self, name, words):
        kind = "." + name.split(".")[-1]
        if name == "ld.param.u64":
            self.write(words[0], kind, self.arguments[words[1][1:-1]])
        elif name == "ld.u64":
            self.write(words[0], kind, self.memory[self.read(words[1][1:-1], ".u64")])
        elif name in ("st.u64", "st.f32"):
            self.memory[self.read(words[0][1:-1], ".u64")] = self.read(words[1], kind)
        elif name in ("mov.u32", "mov.f32"):
            self.write(words[0], kind, self.read(words[1], kind))
        elif name == "cvt.u64.u32":
            self.write(words[0], ".u64", self.read(words[1], ".u32"))
        elif name == "mul.wide.u32":
            self.write(words[0], ".u64", self.read(words[1], kind) * self.read(words[2], kind))
        elif name in ("add.u64", "sub.u64", "shl.b64"):
            a, b = self.read(words[1], kind), self.read(words[2], kind)
            self.write(words[0], kind, {"add": a + b, "sub": a - b, "shl": a << b}[name[:3]])
        elif name in ("setp.ge.u64", "setp.ne.u64", "setp.eq.u64"):
            a, b = self.read(words[1], kind), self.read(words[2], kind)
            self.write(words[0], ".pred", {"ge": a >= b, "ne": a != b, "eq": a == b}[name[5:7]])
        elif name == "fma.rn.f32":
            a, b, c = (self.read(word, kind) for word in words[1:])
            self.write(words[0], kind, float32(a * b + c))
        else:
            raise ValueError("no such instruction: " + name)


def kernels(text):
    """By name."""
    found = [Kernel(part) for part in re.findall(r"\.visible \.entry.*?\n}", text, re.S)]
    return {kernel.name: kernel for kernel in found}
