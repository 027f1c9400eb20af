#!/usr/bin/env python3
"""Damaged files of sweeps' results (SQLite): each is read, or refused by an error of softtpu that names the file.

    scripts/fuzz sweep                                     # or tests/fuzz/sweep_fuzz.py --build build/dev [--runs 300] [--seed 1]

A seed is such a file. With a name that begins with "refused" it must not be taken.
"""
import pathlib
import sys
import tempfile
import zlib

import programs

sys.path[:0] = [str(programs.HERE.parent.parent / "python")]

from softtpu import Error
from softtpu.sweep import OK
from softtpu.sweep.child import Outcome
from softtpu.sweep.store import Store
from softtpu.sweep.values import to_plain

import numpy as np

KEYS = [f"key {number}" for number in range(40)]


def whole_file(path):
    store = Store(path)
    for number, key in enumerate(KEYS):
        value = to_plain({"rows": number, "sums": np.arange(number, dtype=np.float32)})
        store.keep(key, {"rows": number}, Outcome(OK, value, "", 0.5), 1)
    store.close()
    return path.read_bytes()


def damaged(chance, contents):
    """As a disk, an editor or an attacker leaves a file: changed, cut, or of another kind."""
    kind = chance.randrange(6)
    if kind == 0:
        return contents[:chance.randrange(len(contents))]
    if kind == 1:
        return bytes(chance.randrange(256) for _ in range(chance.randrange(200)))
    changed = bytearray(contents)
    for _ in range(1 + chance.randrange(30)):
        # Headers of the file and of its pages are what its reader follows.
        at = chance.randrange(len(changed)) if kind < 4 else chance.randrange(len(changed) // 4096) * 4096 + chance.randrange(128)
        changed[at] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
    return bytes(changed)


class Fuzzer:
    def __init__(self, options, seeds, folder):
        self.options, self.at, self.refused = options, folder / "damaged.db", 0
        whole = whole_file(folder / "whole.db")
        assert self.run(whole, may_be_refused=False) is None
        self.files = [whole, whole, *(contents for contents in seeds.values() if len(contents) >= 4096)]

    def run(self, contents, may_be_taken=True, may_be_refused=True):
        for file in self.at.parent.glob("damaged.db*"):
            file.unlink()
        self.at.write_bytes(contents)
        store, wrong, taken = None, None, False
        try:
            store = Store(self.at)
            for outcome, _ in store.load(KEYS).values():
                store.value_of(outcome)
            store.keep("another", {"rows": 1}, Outcome(OK, 1, "", 0.5), 1)
            taken = True
        except Error as problem:
            self.refused += 1
            if str(self.at) not in str(problem):
                wrong = f"the error does not name the file: {problem}"
        except Exception as problem:  # whatever it is, it is not the error that was promised
            wrong = f"{type(problem).__name__}: {problem}"
        finally:
            if store is not None:
                store.close()
        if wrong is None and not (may_be_taken if taken else may_be_refused):
            wrong = "it is taken" if taken else "it is refused"
        if wrong and self.options.keep:
            self.options.keep.mkdir(parents=True, exist_ok=True)
            (self.options.keep / f"{zlib.crc32(contents):08x}.db").write_bytes(contents)
        return wrong


def main():
    options = programs.parser(__doc__, 300).parse_args()
    seeds = programs.read_seeds("sweep")
    with tempfile.TemporaryDirectory() as folder:
        fuzzer = Fuzzer(options, seeds, pathlib.Path(folder))
        status = programs.fuzz(options, seeds, lambda name, contents: fuzzer.run(contents, not name.startswith("refused")),
                               lambda chance: fuzzer.run(damaged(chance, chance.choice(fuzzer.files))))
        # Else the inputs would be too tame.
        if fuzzer.refused == 0:
            print("no file was refused")
            return 1
        return status


if __name__ == "__main__":
    sys.exit(main())
