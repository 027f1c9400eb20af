#!/usr/bin/env python3
"""Damaged files for the commands that read files: networks, NumPy files, maps of tensors, recorded cases (JSON), recorded launches; and the
signals that end a command. Each command ends soon with a status that its help promises, says in plain lines what is wrong, takes little
memory, leaves no process and no temporary folder, and does not call an output equal to a reference that is not.

    scripts/fuzz files                                     # or tests/fuzz/files_fuzz.py --build build/dev [--runs 60] [--seed 1]

A seed is a file: KIND-NAME.bmodel, .npz (an input), .json (KIND is "map" or "golden"). With "refused" in its name it must not be taken.
"""
import argparse
import hashlib
import io
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

import numpy as np

import programs

TESTS = programs.HERE.parent
sys.path[:0] = [str(TESTS / "networks")]
NETWORKS = TESTS / "golden-networks"
SOFTMAX = NETWORKS / "softmax_INT8.bmodel"
# Recorded cases that are small, and the bytes that belong to them.
FAMILIES = [TESTS / "golden/bm1684x2/fp_diff_abs.json", TESTS / "golden/bm1688/limits.json", TESTS / "golden/bm1690e/fp_add.json"]
# 124 is an internal error. 125: a recorded launch is not usable.
STATUSES = {"bmodel": {0, 1, 2, 3, 120, 121, 122, 123}, "golden": {0, 1, 2}, "replay": {0, 1, 120, 121, 122, 123, 125}}
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
MOST_BYTES = 1 << 30
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


KERNEL = """
#include <tpu_kernel.h>
typedef struct { unsigned long long out, in; } args_t;
void twice(const void* raw) {
  const args_t* args = raw;
  const dim4 shape = {1, 4, 1, 16};
  tpu_initialize();
  tpu_gdma_cpy_S2L(0, args->in, &shape, NULL, NULL, DT_FP32);
  tpu_bdc_fp_add(0x1000, 0, 0, &shape, NULL, NULL, NULL, DT_FP32);
  tpu_gdma_cpy_L2S(args->out, 0x1000, &shape, NULL, NULL, DT_FP32);
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(twice)
"""
PROGRAM = """
import numpy as np, softtpu
device = softtpu.Device()
device.compile("kernel.c").twice(device.empty(64, np.float32), device.array(np.ones(64, np.float32)))
"""


def damaged_record(chance, contents):
    """A recorded launch; mostly with sums that fit its bytes, because what does not fit is refused before anything else is looked at."""
    if chance.randrange(4) == 0:
        return damaged_bytes(chance, contents)
    plain = struct.Struct("<QIBQQ")
    magic, version, ended, launch_bytes, outcome_bytes = plain.unpack_from(contents)
    head = plain.size + 2 * (4 + 32) + 32
    launch, outcome = contents[head:head + launch_bytes], contents[head + launch_bytes:]
    if chance.randrange(4) == 0:
        outcome = damaged_bytes(chance, outcome, 0, 200)
    else:
        # Names and sizes, the module's headers, or the list of memories behind it.
        module = launch.index(b"\x7fELF")
        first = chance.choice((0, 0, module, max(len(launch) - 400, 0)))
        launch = damaged_bytes(chance, launch, first, min(first + 400, len(launch)))
    sums = b"".join(struct.pack("<I", 32) + hashlib.sha256(part).digest() for part in (launch, outcome))
    header = plain.pack(magic, version, ended, len(launch), len(outcome)) + sums
    assert head == len(header) + 32
    return header + hashlib.sha256(header).digest() + launch + outcome


class Fuzzer:
    def __init__(self, options, folder):
        self.options, self.folder, self.chance = options, folder, None
        self.softtpu = str((options.build / "bin/softtpu").resolve())
        # Each command's temporary files, and the mark by which its processes are found.
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("SOFTTPU_")}
        self.environment.update(TMPDIR=str(self.temporary), XDG_RUNTIME_DIR=str(folder), SOFTTPU_PYTHON=sys.executable, SOFTTPU_TIMEOUT="5",
                                SOFTTPU_LAUNCH_LIMIT="30", PYTHONDONTWRITEBYTECODE="1")
        self.environment.update(PYTHONPATH=str(TESTS.parent / "python"), SOFTTPU_PREFIX=str(options.build.resolve()), XDG_CACHE_HOME=str(folder / "cache"))
        self.plain = [SOFTMAX, NETWORKS / "addtwoioalone_F16.bmodel", *sorted(NETWORKS.glob("dynamic/*.bmodel"))[:4],
                      *sorted(NETWORKS.glob("bm1688/*.bmodel"))[:1], *sorted(NETWORKS.glob("bm1690_8/*.bmodel"))[:1]]
        self.layered()
        self.record = self.recorded()

    def recorded(self):
        self.write("kernel.c", KERNEL.encode())
        path = self.folder / "whole.record"
        subprocess.run([self.softtpu, "run", "--record", path, "--", sys.executable, "-c", PROGRAM], check=True, timeout=100, env=self.environment, cwd=self.folder)
        subprocess.run([self.softtpu, "replay", path], check=True, capture_output=True, timeout=100, env=self.environment)
        return path.read_bytes()

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

    def family(self, text, contents=None):
        """A folder with recorded cases of this text."""
        folder = self.folder / "family"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        shutil.copy(text.with_suffix(".bin"), folder)
        (folder / text.name).write_bytes(text.read_bytes() if contents is None else contents)
        return folder

    def of_seed(self, name, contents):
        """The command lines for the file."""
        kind, path = name.split("-")[0], self.write("damaged" + pathlib.Path(name).suffix, contents)
        if name.endswith(".bmodel"):
            return [["bmodel", command, path] for command in ("info", "disasm", "time", "run")]
        if name.endswith(".npz"):
            return [["bmodel", "run", SOFTMAX, "--input", path], ["bmodel", "compare", SOFTMAX, "--reference", path]]
        if kind == "map":
            return [["bmodel", "compare", self.network, "--npz", self.write("whole.npz", self.references[0]), "--map", path]]
        return [["golden", self.family(next(file for file in FAMILIES if file.parent.name == kind.removeprefix("golden_")), contents)]]

    def make(self):
        """A command line, and whether it may succeed."""
        chance, kind = self.chance, self.chance.randrange(10)
        if kind == 0:
            return ["bmodel", "info", "--json", self.damaged_network()], None
        if kind == 1:
            return ["bmodel", "time", *chance.choice(([], ["--json"], ["--csv"], ["--layers", "5"])), self.damaged_network()], None
        if kind == 2:
            shutil.rmtree(self.folder / "layers", ignore_errors=True)
            return ["bmodel", "run", self.damaged_network(), "--dump-layers", self.folder / "layers"], None
        if kind == 3:
            return ["bmodel", "run", self.network, "--input", self.write("damaged.npz", damaged_bytes(chance, chance.choice(self.references)))], None
        if kind == 4:
            reference = self.write("damaged.npz", damaged_bytes(chance, self.outputs.read_bytes()))
            return ["bmodel", "compare", self.network, "--reference", reference], self.arrays(reference) == self.right
        if kind == 5:
            return ["bmodel", "compare", self.network, "--npz", self.write("damaged.npz", damaged_bytes(chance, chance.choice(self.references)))], None
        if kind == 6:
            text = chance.choice(FAMILIES)
            return ["golden", self.family(text, damaged_json(chance, text.read_text()))], None
        if kind == 7:
            return ["replay", self.write("damaged.record", damaged_record(chance, self.record))], None
        reference = self.write("whole.npz", self.references[0])
        if kind == 8:
            return ["bmodel", "compare", self.network, "--npz", reference, "--map", self.write("damaged.json", damaged_json(chance, self.map_text))], None
        return ["bmodel", "compare", self.damaged_network(), "--npz", reference], None

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

    def judge(self, command, status, output, may_succeed):
        if status not in STATUSES[command]:
            return f"status {status}"
        if re.search(rb"terminate called|what\(\):|Sanitizer|runtime error|Traceback|internal error", output):
            return "an exception that nothing catches, or a sanitizer's report"
        if re.search(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]", output):
            return "a control character in its output"
        if status not in (0, 120) and not output.strip():
            return "it does not say why"
        if status == 0 and may_succeed is False:
            return "it is taken, or called equal to what it is not"
        if resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 > MOST_BYTES:
            return "it takes much memory"
        left = self.left_behind()
        return f"it leaves {left}" if left else None

    def run_seed(self, name, contents):
        for words in self.of_seed(name, contents):
            # What only shows a network's tables need not look at the sizes in them.
            wrong = self.run(words, False if "refused" in name and words[1] not in ("info", "disasm", "time") else None)
            if wrong:
                return wrong
        return None

    def run_changed(self, chance):
        self.chance = chance
        if chance.randrange(10) != 0:
            return self.run(*self.make())
        whole = ["bmodel", "compare", self.network, "--npz", self.write("whole.npz", self.references[0])]
        return self.run(whole, None, chance.choice(SIGNALS), chance.uniform(0.05, 1.5))

    def run(self, words, may_succeed, ended=None, after=0.0):
        process = subprocess.Popen([self.softtpu, *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=self.folder,
                                   env=self.environment)
        try:
            if ended:
                time.sleep(after)
                process.send_signal(ended)
            output = process.communicate(timeout=100)[0]
            status = process.returncode
            if ended and (status in (-ended, 128 + ended) or (ended == signal.SIGINT and b"KeyboardInterrupt" in output)):
                # Before Python is ready, the signal itself ends it.
                status, output = 1, b"ended"
            wrong = self.judge(words[0], status, output, may_succeed)
        except subprocess.TimeoutExpired:
            process.kill()
            output, wrong = process.communicate()[0], "it does not end"
        if wrong and self.options.keep:
            self.options.keep.mkdir(parents=True, exist_ok=True)
            for file in self.folder.glob("damaged.*"):
                if any(str(word) == str(file) for word in words):
                    shutil.copy(file, self.options.keep / f"{self.options.seed}-{time.time_ns()}-{file.name}")
        return wrong and f"{wrong}\n  {list(map(str, words))!r}{f' and signal {ended}' if ended else ''}\n  {output[-700:]!r}"


def main():
    made = programs.parser(__doc__, 60)
    made.add_argument("--flatc", default="flatc")
    options = made.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        fuzzer = Fuzzer(options, pathlib.Path(folder))
        return programs.fuzz(options, programs.read_seeds("files"), fuzzer.run_seed, fuzzer.run_changed)


if __name__ == "__main__":
    sys.exit(main())
