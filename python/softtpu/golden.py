"""softtpu golden --cluster ADDRESS: recorded cases, replayed on the workers of a Dask cluster, a family at a time.

Each family's files travel with its task, so the workers need only softtpu.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import zlib

import numpy as np

from . import _native, sweep
from ._temporary import temporary_folder
from .errors import Error

_LOCAL = "local"  # instead of an address: this machine's processors


def _is_other_json(file):
    """Whole JSON without cases and without their bytes: an index, a table of instructions."""
    if file.with_suffix(".bin").exists():
        return False
    try:
        return "cases" not in json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        return False


def _families(paths):
    """The family files under the paths, as `softtpu golden` finds them."""
    found = []
    for path in map(pathlib.Path, paths):
        if not path.exists():
            raise Error(f"{path}: no such file or folder.")
        found += [file for file in sorted(path.rglob("*.json")) if not _is_other_json(file)] if path.is_dir() else [path]
    if not found:
        raise Error("there are no family files (*.json) under the paths.")
    return found


def _pack(file):
    return np.frombuffer(zlib.compress(file.read_bytes(), 1), np.uint8)


def _load(family):
    """A family's files as parameters: those of its name in its folder."""
    return {"folder": family.parent.name, "family": family.stem,
            "files": {file.name: _pack(file) for file in sorted(family.parent.glob(family.stem + ".*"))}}


def replay(folder, family, files, options):
    """Replays one family where this runs: what was printed, the counts, and the ledger."""
    with temporary_folder("softtpu-golden-") as place:
        home = place / folder
        home.mkdir()
        for name, packed in files.items():
            (home / name).write_bytes(zlib.decompress(packed.tobytes()))
        ledger = place / "ledger.json"
        done = subprocess.run([str(_native.program()), "golden", *options, "--ledger", str(ledger), str(home / f"{family}.json")],
                              capture_output=True, text=True, check=False)
        *lines, last = done.stdout.rstrip("\n").split("\n")
        counts = re.match(r"(\d+) passed, (\d+) failed, (\d+) skipped", last)
        if counts is None or done.returncode not in (0, 1):
            raise Error(f"softtpu golden ended with status {done.returncode}: {(done.stderr or done.stdout).strip()[-500:]}")
        return {"lines": lines, "counts": [int(count) for count in counts.groups()], "said": done.stderr, "status": done.returncode,
                "ledger": json.loads(ledger.read_text()) if ledger.exists() else {}}


def _add(ledger, more):
    for function, counts in more.items():
        known = ledger.setdefault(function, dict.fromkeys(counts, 0))
        for name, count in counts.items():
            known[name] = known.get(name, 0) + count


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="softtpu golden", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", nargs="+", help="family files (*.json) or folders of them")
    parser.add_argument("--cluster", required=True, metavar="ADDRESS", help='a Dask scheduler, "tcp://HOST:8786"; "local": this machine')
    parser.add_argument("--results", metavar="FILE", help="SQLite file that keeps what has ended; a second run goes on there")
    parser.add_argument("--ledger", metavar="FILE", help="write the counts for each function to this file (JSON)")
    parser.add_argument("-f", "--filter", help="only cases whose id contains this text")
    parser.add_argument("--function", help="only cases that call this function")
    parser.add_argument("--failures", type=int, help="failures shown for each function")
    parser.add_argument("-v", "--verbose", action="store_true", help="all of a failure")
    parser.add_argument("--skipped", action="store_true", help="list what is skipped")
    options = parser.parse_args(arguments)
    passed = [f"--{name}={getattr(options, name)}" for name in ("filter", "function", "failures") if getattr(options, name) is not None]
    passed += [f"--{name}" for name in ("verbose", "skipped") if getattr(options, name)]
    total, ledger, bad = [0, 0, 0], {}, False
    try:
        families = _families(options.path)
        for number, row in sweep.stream(replay, [_load(family) for family in families], constants=dict(options=passed),
                                        cluster=None if options.cluster == _LOCAL else options.cluster, results=options.results):
            if not row.ok:
                print(f"{families[number]}: {row.status}: {row.error}", file=sys.stderr)
                bad = True
                continue
            print("\n".join(row["lines"]), flush=True)
            sys.stderr.write(row["said"])
            total = [mine + more for mine, more in zip(total, row["counts"])]
            _add(ledger, row["ledger"])
            bad = bad or row["status"] != 0
    except Error as problem:
        print(f"softtpu golden: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("softtpu golden: interrupted", file=sys.stderr)
        return 130
    if options.ledger:
        try:
            pathlib.Path(options.ledger).write_text(json.dumps(ledger, indent=1, sort_keys=True) + "\n")
        except OSError as problem:
            print(f"softtpu golden: {problem}", file=sys.stderr)
            return 3
    print("{} passed, {} failed, {} skipped".format(*total))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
