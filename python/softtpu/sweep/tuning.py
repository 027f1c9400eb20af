"""Tuning: the variant of a kernel that is estimated to be the fastest, among those that are right."""
import hashlib
import os
import pathlib

import numpy as np

from .. import runner
from ..report import Result, to_json
from .table import Table

# What a variant costs, besides time: the smaller the better.
METRICS = ("estimated_us", "local_bytes", "global_bytes")
ACCEPTED, WRONG, FOUND, FAILED = "accepted", "wrong result", "findings", "failed"


class KernelCase:
    """A kernel with parameters, as a case for `tune` and `run`: compiles it with the parameters as macros, launches it, and gives
    the launch's result and the output.

    source    file of the kernel
    kernel    its name
    args      function(dev, **parameters) that gives the arguments: a dictionary by member name, arrays among them
    output    name of the member whose array is the output
    defines   names of the parameters that are macros of the source; None: all of them
    launch    names of parameters that are options of the launch, `cores` for example
    """

    def __init__(self, source, kernel, args, output, *, defines=None, launch=(), flags=()):
        self.source, self.kernel, self.args, self.output = pathlib.Path(source).absolute(), kernel, args, output
        self.defines, self.launch, self.flags = defines, tuple(launch), tuple(flags)

    def identity(self):
        """What its results depend on: kept results are used only for the same source."""
        return f"{self.kernel} {hashlib.sha256(self.source.read_bytes()).hexdigest()} {self.flags} {self.output}"

    def __call__(self, dev, **parameters):
        options = {name: parameters[name] for name in self.launch if name in parameters}
        macros = [name for name in parameters if name not in options] if self.defines is None else self.defines
        flags = [*self.flags, *(f"-D{name}={parameters[name]}" for name in macros)]
        module = dev.compile(self.source, flags=flags)
        args = self.args(dev, **parameters)
        result = module.kernel(self.kernel)(**args, **options)
        return result, args[self.output]


class _Trial:
    """What a task of a tuning does: runs the case, compares, and gives what the table needs."""

    def __init__(self, case, reference, equal):
        self.case, self.reference, self.equal = case, reference, equal

    def __repr__(self):
        return f"the tuned case {getattr(self.case, '__qualname__', None) or getattr(self.case, 'source', self.case)}"

    def identity(self):
        own = getattr(self.case, "identity", None)
        return own() if callable(own) else getattr(self.case, "__qualname__", repr(type(self.case)))

    def __call__(self, dev, **parameters):
        given = self.case(dev, **parameters)
        result, output = given if isinstance(given, tuple) else (given, None)
        if not isinstance(result, Result):
            raise TypeError("a case gives the launch's Result, or (Result, output)")
        row = costs(result)
        wanted = {}
        if self.reference is not None:
            if output is None:
                raise TypeError("the case gives no output that the reference could be compared with: return (result, output)")
            wanted["output"] = self.reference(**parameters) if callable(self.reference) else self.reference
        verdict, differences = runner.judge(result, {"output": output}, wanted, self.equal)
        row["verdict"] = {runner.OK: ACCEPTED, runner.FINDINGS: FOUND, runner.WRONG: WRONG}[verdict]
        row["why"] = differences["output"].text if differences else "; ".join(
            dict.fromkeys(finding.rule for finding in runner.grave(result.findings)))
        return row


def costs(result):
    """What a launch costs by its estimate: microseconds, bytes of local memory in use, bytes moved to and from global memory."""
    time = result.time
    if time is None:
        raise ValueError("the launch has no estimate: the device has to be made with time=True")
    return {"estimated_us": time["total_us"], "bound": time["bound"],
            "local_bytes": max((block["end"] for block in time["blocks"]), default=0),
            "global_bytes": sum(amount for path, amount in time["bytes"].items() if path.startswith("DDR")),
            "parameters": time["chip"]["parameters"]}


class Tuning:
    """What `tune` has found.

    best      the row of the accepted variant with the smallest objective; None when no variant is accepted
    table     all variants, `verdict` and `why` among the columns
    pareto    the accepted variants that no other dominates (see `pareto`)
    trust     how far the estimates can be believed, in a sentence
    """

    def __init__(self, table, objective, metrics, chip):
        self.table, self.objective, self.metrics, self.chip = table, objective, metrics, chip
        accepted = table.ok
        accepted = Table(row for row in accepted if row["verdict"] == ACCEPTED).sorted(objective)
        self.accepted = accepted
        self.best = accepted[0] if accepted else None
        self.pareto = pareto(accepted, metrics)
        self.trust = trust(chip, next((row["parameters"] for row in table.ok), None))
        for row in table:
            row.pop("parameters", None)
            row.setdefault("verdict", FAILED)
            row.setdefault("why", row.error.split("\n", 1)[0])

    def as_dict(self):
        """Plain data: {"format", "version", "chip", "objective", "metrics", "trust", "best", "pareto", "variants"}, the last two lists of rows."""
        return {"format": "softtpu-tuning", "version": 1, "chip": self.chip, "objective": self.objective, "metrics": list(self.metrics),
                "trust": self.trust, "best": self.best.as_dict() if self.best is not None else None, "pareto": self.pareto.as_dicts(),
                "variants": self.table.as_dicts()}

    def to_json(self, indent=1):
        """`as_dict()` as a text in JSON."""
        return to_json(self.as_dict(), indent)

    def __str__(self):
        refused = len(self.table) - len(self.accepted)
        lines = [f"{len(self.table)} variants, {len(self.accepted)} accepted, {refused} refused"]
        if self.best is not None:
            lines.append(f"best by {self.objective}: {self.best.parameters}, {self.best[self.objective]:.4g}")
        return "\n".join([*lines, self.trust, "", str(self.pareto)])

    def _repr_html_(self):
        best = f"best by {self.objective}: {self.best.parameters}" if self.best is not None else "no variant is accepted"
        return f"<p><b>{best}</b><br>{self.trust}</p>{self.pareto._repr_html_()}"


def pareto(rows, metrics=METRICS):
    """The rows that no other row dominates, the best by the first metric first. A row dominates another when it is at least as good in
    every metric and better in one.

    >>> rows = Table([dict(a=1, b=5), dict(a=2, b=2), dict(a=3, b=3)])
    >>> [row["a"] for row in pareto(rows, ("a", "b"))]
    [1, 2]
    """
    def beats(other, row):
        mine, theirs = [row[m] for m in metrics], [other[m] for m in metrics]
        return all(t <= m for t, m in zip(theirs, mine)) and theirs != mine
    kept = [row for row in rows if not any(beats(other, row) for other in rows)]
    return Table(sorted(kept, key=lambda row: [row[m] for m in metrics]))


def trust(chip, parameters):
    """What the chip's timing parameters are founded on (docs/time.md)."""
    if parameters is None:
        return f"no variant ran, so nothing is known about estimates for {chip}."
    measured, vendor, guess = (parameters[name] for name in ("measured", "vendor", "guess"))
    text = f"estimates for {chip}: of {measured + vendor + guess} timing parameters {measured} are measured, {vendor} the vendor's, {guess} guessed; "
    if measured > vendor + guess:
        return text + "times of kernels like those measured can be believed, others compare variants."
    return text + "they compare variants of a kernel, and promise no times."


def tune(case, space, *, reference=None, objective="estimated_us", metrics=METRICS, equal=None, samples=None, seed=0, chip=None,
         check="all", **options):
    """Tries the variants of a space, and finds the fastest by estimate among those whose output is right.

    case        function(dev, **parameters) that launches the variant and returns (Result, output), or a `KernelCase`
    space       a dictionary of lists or a list of dictionaries, as `grid` of `run`
    reference   the right output: an array, or function(**parameters). A variant is refused when its output differs in a bit,
                when it has findings (notes do not count) and when it fails. With `equal`, that function(output, reference) compares.
    objective   the column to minimise; `metrics` are those of the Pareto table
    samples     tries only this many variants, chosen at random with `seed`

    Other options are those of `run`. Returns a `Tuning`.
    """
    from . import grid_of, run
    variants = grid_of(space)
    if samples is not None and samples < len(variants):
        chosen = np.random.default_rng(seed).permutation(len(variants))[:samples]
        variants = [variants[i] for i in sorted(chosen)]
    device = {"check": check, "time": True, **(options.pop("device", None) or {})}
    if chip is not None:
        device["chip"] = chip
    table = run(_Trial(case, reference, equal), variants, device=device, **options)
    return Tuning(table, objective, tuple(metrics), chip or _chip_name(device))


def _chip_name(device):
    return device.get("chip") or os.environ.get("SOFTTPU_CHIP") or os.environ.get("CHIP_ARCH") or "bm1684x"
