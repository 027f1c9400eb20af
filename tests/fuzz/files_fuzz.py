#!/usr/bin/env python3
"""Damaged files for the commands of compiled networks: networks, NumPy files, maps of tensors, and the signals that end a command. Each
command ends soon with a status that its help promises, says in plain lines what is wrong, takes little memory, leaves no process and no
temporary folder, and does not call an output equal to a reference that is not.

    tests/fuzz/files_fuzz.py --build build/dev [--runs 60] [--seed 1] [--keep FOLDER]
"""
import argparse
import io
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "networks")]
NETWORKS = HERE.parent / "golden-networks"
# 124 is an internal error, and what is above it belongs to `softtpu run`.
STATUSES = {0, 1, 2, 3, 120, 121, 122, 123}
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
MOST_BYTES = 3 << 30
WORDS = (b"\xff\xff\xff\xff", b"\0\0\0\0", b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"\x01\0\0\0", b"\xfe\xff\xff\xff")
VALUES = (None, True, -1, 0, 1 << 31, 1 << 63, 1e308, -1e308, "", "\x1b[31mred", "x" * 5000, "a/b", "..", "file", [], {}, [[]], "tensor<1x3x!quant.uniform<i8:f32, 0>>",
          "tensor<99999999999x1xf32>", "\ud800", "nan")


def damaged_bytes(chance, contents, first=0, last=None):
    contents, last = bytearray(contents), last or len(contents)
    for _ in range(chance.choice((1, 1, 1, 2, 4, 12))):
        at = min(chance.randrange(first, last), max(len(contents) - 1, 0))
        kind = chance.randrange(8)
        if kind == 0:
            del contents[at:]
        elif kind == 1:
            del contents[at:at + chance.randrange(1, 40)]
        elif kind == 2:
            contents[at:at] = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 12)))
        elif kind < 5:
            contents[at & ~3:(at & ~3) + 4] = chance.choice(WORDS)
        elif contents:
            contents[at] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, contents[at] ^ 1 << chance.randrange(8)))
    return bytes(contents)


def damaged_json(chance, text):
    if chance.randrange(4) == 0:
        return damaged_bytes(chance, text.encode())
    whole = json.loads(text)
    for _ in range(chance.choice((1, 1, 2, 5))):
        node = whole
        while True:  # down to some member, which is replaced or removed
            keys = list(node) if isinstance(node, dict) else list(range(len(node)))
            if not keys:
                break
            key = chance.choice(keys)
            if not isinstance(node[key], (dict, list)) or chance.randrange(4) == 0:
                if chance.randrange(3) == 0:
                    del node[key]
                else:
                    node[key] = chance.choice(VALUES)
                break
            node = node[key]
    return json.dumps(whole).encode(errors="surrogatepass")


class Fuzzer:
    def __init__(self, options, folder):
        self.options, self.folder, self.chance = options, folder, random.Random(options.seed)
        self.softtpu = str((options.build / "bin/softtpu").resolve())
        # Each command's temporary files, and the mark by which its processes are found.
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("SOFTTPU_")}
        self.environment.update(TMPDIR=str(self.temporary), XDG_RUNTIME_DIR=str(folder), SOFTTPU_PYTHON=sys.executable, SOFTTPU_TIMEOUT="20",
                                SOFTTPU_LAUNCH_LIMIT="30", PYTHONDONTWRITEBYTECODE="1")
        self.plain = [NETWORKS / "softmax_INT8.bmodel", NETWORKS / "addtwoioalone_F16.bmodel", *sorted(NETWORKS.glob("dynamic/*.bmodel"))[:4],
                      *sorted(NETWORKS.glob("bm1688/*.bmodel"))[:1], *sorted(NETWORKS.glob("bm1690_8/*.bmodel"))[:1]]
        self.layered()

    def layered(self):
        """A network with a map, a reference of its layers, and one of its outputs."""
        import layered_network
        tools = argparse.Namespace(program=self.softtpu, flatc=self.options.flatc, build=self.options.build)
        self.network = self.folder / "layered.bmodel"
        self.map_text = layered_network.write(tools, self.network).read_text()
        x = np.random.default_rng(3).uniform(-1, 1, layered_network.SHAPE).astype(np.float32)
        packed = io.BytesIO()
        np.savez_compressed(packed, **layered_network.reference(x))
        plain = io.BytesIO()
        np.savez(plain, **layered_network.reference(x))
        self.references = [packed.getvalue(), plain.getvalue()]
        self.outputs = self.folder / "outputs.npz"
        subprocess.run([self.softtpu, "bmodel", "run", self.network, "--output", self.outputs], check=True, capture_output=True, timeout=100, env=self.environment)
        self.right = self.arrays(self.outputs)

    @staticmethod
    def arrays(path):
        try:
            with np.load(path, allow_pickle=False) as loaded:
                return {name: loaded[name].tobytes() for name in loaded.files}
        except Exception:  # NumPy's reader has many kinds
            return None

    def write(self, name, contents):
        path = self.folder / name
        path.write_bytes(contents)
        return path

    def damaged_network(self):
        contents = self.chance.choice([*self.plain, self.network]).read_bytes()
        # Tables in front, instructions and lists of layers behind them.
        tables = min(64 + int.from_bytes(contents[8:12], "little"), len(contents))
        kind = self.chance.randrange(4)
        return self.write("damaged.bmodel", damaged_bytes(self.chance, contents, 0 if kind else tables, tables if kind else None))

    def make(self):
        """A command line, and whether it may succeed."""
        chance, kind = self.chance, self.chance.randrange(8)
        if kind == 0:
            return ["info", "--json", self.damaged_network()], None
        if kind == 1:
            return ["time", *chance.choice(([], ["--json"], ["--csv"], ["--layers", "5"])), self.damaged_network()], None
        if kind == 2:
            shutil.rmtree(self.folder / "layers", ignore_errors=True)
            return ["run", self.damaged_network(), "--dump-layers", self.folder / "layers"], None
        if kind == 3:
            return ["run", self.network, "--input", self.write("damaged.npz", damaged_bytes(chance, chance.choice(self.references)))], None
        if kind == 4:
            reference = self.write("damaged.npz", damaged_bytes(chance, self.outputs.read_bytes()))
            return ["compare", self.network, "--reference", reference], self.arrays(reference) == self.right
        if kind == 5:
            return ["compare", self.network, "--npz", self.write("damaged.npz", damaged_bytes(chance, chance.choice(self.references)))], None
        reference = self.write("whole.npz", self.references[0])
        if kind == 6:
            return ["compare", self.network, "--npz", reference, "--map", self.write("damaged.json", damaged_json(chance, self.map_text))], None
        return ["compare", self.damaged_network(), "--npz", reference], None

    def left_behind(self):
        """Processes of a command that has ended, and its temporary files."""
        mark, found = f"TMPDIR={self.temporary}".encode(), []
        for _ in range(100):
            found = []
            for process in pathlib.Path("/proc").iterdir():
                try:
                    if process.name.isdigit() and mark in (process / "environ").read_bytes().split(b"\0"):
                        found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:200])
                except OSError:
                    continue
            if not found:
                break
            time.sleep(0.1)
        files = sorted(file.name for file in self.temporary.iterdir())
        for file in files:
            shutil.rmtree(self.temporary / file, ignore_errors=True)
        return found + files

    def judge(self, status, output, may_succeed):
        if status not in STATUSES:
            return f"status {status}"
        if re.search(rb"terminate called|what\(\):|Sanitizer|runtime error|Traceback|internal error", output):
            return "an exception that nothing catches, or a sanitizer's report"
        if re.search(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]", output):
            return "a control character in its output"
        if status not in (0, 120) and not output.strip():
            return "it does not say why"
        if status == 0 and may_succeed is False:
            return "it says that outputs are equal to a reference that is not what they are"
        if resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 > MOST_BYTES:
            return "it takes much memory"
        left = self.left_behind()
        return f"it leaves {left}" if left else None

    def run(self, number):
        words, may_succeed = self.make()
        command = [self.softtpu, "bmodel", *map(str, words)]
        ended = None
        if self.chance.randrange(10) == 0:
            words, may_succeed = ["compare", self.network, "--npz", self.write("whole.npz", self.references[0])], None
            command, ended = [self.softtpu, "bmodel", *map(str, words)], self.chance.choice(SIGNALS)
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=self.folder, env=self.environment)
        try:
            if ended:
                time.sleep(self.chance.uniform(0.05, 1.5))
                process.send_signal(ended)
            output = process.communicate(timeout=100)[0]
            status = process.returncode
            if ended and (status in (-ended, 128 + ended) or (ended == signal.SIGINT and b"KeyboardInterrupt" in output)):
                # Before Python is ready, the signal itself ends it.
                status, output = 1, b"ended"
            wrong = self.judge(status, output, may_succeed)
        except subprocess.TimeoutExpired:
            process.kill()
            output, wrong = process.communicate()[0], "it does not end"
        if wrong:
            print(f"run {number} of seed {self.options.seed}: {wrong}\n  {words!r}{f' and signal {ended}' if ended else ''}\n  {output[-700:]!r}", flush=True)
            if self.options.keep:
                self.options.keep.mkdir(parents=True, exist_ok=True)
                for name in ("damaged.bmodel", "damaged.npz", "damaged.json"):
                    if (self.folder / name).is_file() and any(str(word).endswith(name) for word in words):
                        shutil.copy(self.folder / name, self.options.keep / f"{self.options.seed}-{number}-{name}")
        return bool(wrong), status if not wrong else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--flatc", default="flatc")
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=0, help="as many runs as fit, in place of --runs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, help="folder that gets the inputs with which something was wrong")
    options = parser.parse_args()
    counts, bad, number, start = {}, 0, 0, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        fuzzer = Fuzzer(options, pathlib.Path(folder))
        while number < options.runs if not options.seconds else time.monotonic() - start < options.seconds:
            wrong, status = fuzzer.run(number)
            bad += wrong
            counts[status] = counts.get(status, 0) + 1
            number += 1
    print(f"{number} commands in {time.monotonic() - start:.0f} s, {bad} wrong; by status {dict(sorted((k, v) for k, v in counts.items() if k is not None))}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
