#!/usr/bin/env python3
"""Estimates of networks beside what physics allows: no launch is faster than its operations at the peak of their types, or than its bytes
at the rate of the DDR's pins. Whatever kind of layer the fit has not seen, an estimate below that is wrong. What is far above it is printed.

    tests/timing/bounds.py --softtpu build/dev/bin/softtpu FILE-or-FOLDER..."""
import argparse
import json
import pathlib
import sys
import tempfile

import fit

# GB/s of all memory of a chip, by its pins.
PINS = {"BM1684": 34.1, "BM1684X": 68.3, "BM1688": 34.1, "CV186X": 34.1, "BM1690": 546}
FAR = 20  # times the bound: worth a look
ABSURD = 64
LEAST_US = 10  # what a network below that takes is the start of its commands


def networks_in(places, folder):
    for place in places:
        for path in sorted(place.rglob("*.bmodel*")) if place.is_dir() else [place]:
            if path.suffix == ".xz":
                target = folder / "_".join(path.with_suffix("").parts[-2:])
                fit.unpack(path, target)
                path = target
            yield path


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--softtpu", type=pathlib.Path, default=fit.ROOT / "build/dev/bin/softtpu")
    parser.add_argument("places", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    wrong, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        files = list(networks_in(options.places, pathlib.Path(folder)))
        rows = json.loads(fit.ask(options.softtpu, "--json", *files))
    for row in rows:
        if "ideal_us" not in row:  # of a language model as a whole
            continue
        count += 1
        computing = row["ideal_us"] / row["cores"]
        moving = (row["ddr_read_bytes"] + row["ddr_write_bytes"]) / PINS[row["chip"]] / 1e3
        bound = max(computing, moving)
        own = row["us"] - row["spent_us"].get("launch", 0)
        starts = row["spent_us"].get("command start-up", 0)
        name = f"{row['chip']} {'/'.join(pathlib.Path(row['file']).parts[-2:])} {row['network']}, stage {row['stage']}"
        line = f"{name}: {own:.1f} us beside the launch, {starts:.1f} us of them start-up; bound {bound:.1f} us"
        if own < bound:
            wrong.append(f"faster than the chip can be: {line}")
        if bound > LEAST_US and own > ABSURD * bound:
            wrong.append(f"absurd: {line}")
        elif own > FAR * bound and bound > 0:
            print(f"{own / bound:.0f} times the bound: {line}")
    print(f"{count} estimates, {len(wrong)} wrong")
    sys.exit("\n".join(wrong) if wrong or count == 0 else 0)


if __name__ == "__main__":
    main()
