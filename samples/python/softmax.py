#!/usr/bin/env python3
"""Softmax on the emulated chip, from Python: written, checked, tuned over 48 variants, and drawn."""
import argparse
import os
import pathlib

import numpy as np

import softtpu
from softtpu import sweep

HERE = pathlib.Path(__file__).resolve().parent
KERNEL = HERE / "softmax_tiles.c"
ROWS, COLUMNS = 2048, 128
SPACE = dict(ROWS=[16, 32, 64, 128, 256, 512, 1024, 2048], BUFFERS=[1, 2], NORMALISE=[0, 1, 2])


def inputs():
    """Numbers up to 120 in size: their exponentials do not fit into fp32."""
    return (np.random.default_rng(7).standard_normal((ROWS, COLUMNS)) * 30).astype(np.float32)


def softmax(x):
    """The right result, in double precision."""
    powers = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def is_close(output, wanted):
    return bool(np.all(np.abs(output - wanted) <= 2e-6))


def arguments(dev, **_):
    return {"in": dev.array(inputs()), "out": dev.empty((ROWS, COLUMNS)), "rows": ROWS, "columns": COLUMNS}


def first_run():
    """One variant, with all checks: the result, its estimate, and what was found."""
    with softtpu.Device(check="all", time=True) as dev:
        mod = dev.compile(KERNEL, flags=["-DROWS=64", "-DBUFFERS=1", "-DNORMALISE=0"])
        args = arguments(dev)
        result = mod.softmax(**args)
        right = is_close(args["out"].numpy(), softmax(inputs()))
        print(f"{mod.softmax}\n{result}\nright: {right}")
        return right and not result.findings


def tune(cluster=None, results=None):
    """All variants: which is right, and which of those the fastest."""
    case = sweep.KernelCase(KERNEL, "softmax", arguments, "out")
    return sweep.tune(case, SPACE, reference=softmax(inputs()), equal=is_close, cluster=cluster, results=results, timeout=120)


def draw(tuning, path):
    """Estimated time by rows of a tile, a line for each way to normalise and number of buffers."""
    lines = {}
    for row in tuning.accepted:
        lines.setdefault((row["BUFFERS"], row["NORMALISE"]), []).append((row["ROWS"], row["estimated_us"]))
    try:
        import matplotlib
    except ImportError:
        print(f"{path} is not drawn: matplotlib is not installed")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(7, 4))
    for (buffers, normalise), points in sorted(lines.items()):
        points.sort()
        axes.plot(*zip(*points), marker="o", label=f"{buffers} buffer{'s' * (buffers > 1)}, {['divide', 'multiply'][normalise]}")
    axes.set(xscale="log", yscale="log", xlabel="rows of a tile", ylabel="estimated us", title=f"softmax of {ROWS} x {COLUMNS}, {tuning.chip}")
    axes.set_xticks(SPACE["ROWS"], map(str, SPACE["ROWS"]))
    axes.legend()
    figure.tight_layout()
    figure.savefig(path)
    print(f"drawn: {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cluster", help="address of a Dask scheduler; default: this machine's processors")
    parser.add_argument("--results", help="SQLite file that keeps results; a second run goes on where the first one ended")
    parser.add_argument("--picture", default="softmax.svg", help="file of the drawing (default: %(default)s)")
    options = parser.parse_args()
    ok = first_run()
    tuning = tune(options.cluster, options.results)
    print(tuning)
    refused = {row["verdict"] for row in tuning.table if row["NORMALISE"] == 2}
    ok = ok and tuning.best is not None and refused == {"wrong result"} and len(tuning.accepted) == 32
    if not ok:
        print(tuning.table)
    draw(tuning, os.fspath(options.picture))
    return 0 if ok else 1


if __name__ == "__main__":
    raise SystemExit(main())
