"""What `softtpu try`, the plug-in of pytest and sweeps have in common: one launch, and the verdict on it.

A verdict is one of VERDICTS, the most severe first. `judge` compares a result with its reference; `run_kernel` launches a kernel with numpy's arrays
and judges what comes out.
"""
import math
import operator
import time

import numpy as np

from . import _api, types
from .array import Array
from .errors import LaunchError

OK, UNSUPPORTED, FINDINGS, WRONG, LAUNCH, TIMEOUT, COMPILE = "ok", "unsupported", "findings", "wrong", "launch", "timeout", "compile"
VERDICTS = (COMPILE, TIMEOUT, LAUNCH, WRONG, FINDINGS, UNSUPPORTED, OK)
BITS = "bits"  # the tolerance that allows nothing, by name
_VERDICT_OF_STATUS = {_api.BM_ERR_TIMEOUT: TIMEOUT, _api.BM_NOT_SUPPORTED: UNSUPPORTED}
_SEVERITIES = {"error": 0, "warning": 1, "note": 2}


class Output:
    """An argument of a case: an array that the kernel fills. `shape` and `dtype` as of `Device.empty`."""

    def __init__(self, shape, dtype=np.float32):
        try:
            self.shape = tuple(operator.index(extent) for extent in (shape if np.iterable(shape) else (shape,)))
        except TypeError:
            raise TypeError(f"Output({shape!r}): a shape is whole numbers") from None
        self.dtype = dtype

    def __repr__(self):
        return f"softtpu.Output({self.shape!r}, {self.dtype!r})"


class Typed:
    """An argument of a case: an array in one of the types that numpy lacks, "bfloat16", "float8_e4m3" or "float8_e5m2". Numbers are rounded to it."""

    def __init__(self, values, dtype):
        self.values, self.dtype = values, dtype


def grave(findings):
    """Those that make a launch not right: notes do not."""
    return [finding for finding in findings if finding.severity != "note"]


def ordered(findings):
    """The causes first: the most severe, and of these the earliest; what follows from a cause comes later in a launch."""
    return sorted(findings, key=lambda finding: _SEVERITIES.get(finding.severity, 0))


class Difference:
    """Where an output is not what the reference says.

    count, size   how many elements differ, of how many        first, index  the first one: flat, and by dimension
    got, wanted   its value and the reference's                most          the largest absolute difference, None where no number has one
    text          the same as a sentence
    """

    def __init__(self, text, count=0, size=0, first=None, index=None, got=None, wanted=None, most=None):
        self.text, self.count, self.size, self.first, self.index = text, count, size, first, index
        self.got, self.wanted, self.most = got, wanted, most

    def as_dict(self):
        """All of it, as plain data."""
        return {name: getattr(self, name) for name in ("text", "count", "size", "first", "index", "got", "wanted", "most")}


def difference(output, wanted, tolerance=None):
    """None when the output is right, else a `Difference`. `tolerance` None or "bits": every bit has to be the same; a number: relative and absolute; a pair:
    absolute and relative; a function(got, wanted) that gives whether they count as equal: one truth value, or one for each element."""
    got = output.numpy() if isinstance(output, Array) else np.asarray(output)
    wanted = wanted.numpy() if isinstance(wanted, Array) else np.asarray(wanted)
    kind = output.kind if isinstance(output, Array) else None
    if got.shape != wanted.shape:
        return Difference(f"shape {list(got.shape)}, the reference has {list(wanted.shape)}")
    if callable(tolerance):
        equal = np.asarray(tolerance(got, wanted))
        if equal.shape not in ((), got.shape):
            raise ValueError(f"tolerance() gives values of shape {list(equal.shape)} for arrays of {list(got.shape)}; it gives one truth value, or one for each element")
        if equal.shape != got.shape:
            return None if equal else Difference("the reference differs")
        wrong = ~equal.astype(bool).reshape(-1)
    elif tolerance is None or (isinstance(tolerance, str) and tolerance == BITS):
        if kind is not None and kind.is_small_float and wanted.dtype != got.dtype:
            wanted = types.encode(wanted, kind.name)
        if got.dtype != wanted.dtype:
            return Difference(f"type {got.dtype}, the reference has {wanted.dtype}: give it the same type, or name a tolerance")
        got, wanted = np.ascontiguousarray(got), np.ascontiguousarray(wanted)
        bits = [array.reshape(-1).view(np.uint8).reshape(array.size, -1) if array.size else np.zeros((0, 1), np.uint8) for array in (got, wanted)]
        wrong = (bits[0] != bits[1]).any(axis=1)
    else:
        if kind is not None and kind.is_small_float:
            got = output.float()
        most_abs, most_rel = tolerance if isinstance(tolerance, (tuple, list)) else (tolerance, tolerance)
        with np.errstate(all="ignore"):
            wrong = ~np.isclose(got.astype(np.float64), wanted.astype(np.float64), rtol=most_rel, atol=most_abs, equal_nan=True).reshape(-1)
    differing = np.flatnonzero(wrong)
    if not len(differing):
        return None
    first = int(differing[0])
    index = [int(i) for i in np.unravel_index(first, got.shape)] if got.shape else []
    with np.errstate(all="ignore"):
        gaps = np.abs(got.astype(np.float64) - wanted.astype(np.float64)).reshape(-1)[differing]
    most = float(np.nanmax(gaps)) if np.isfinite(gaps).any() else None
    one, other = got.reshape(-1)[first].item(), wanted.reshape(-1)[first].item()
    size, most = got.size, most if most is not None and math.isfinite(most) else None
    apart = f", by {most:.4g} at most" if most is not None else ""
    return Difference(f"{len(differing)} of {size} elements differ, the first is {first}: {one}, the reference has {other}{apart}", len(differing), size,
                      first, index, one, other, most)


def judge(result, outputs, wanted, tolerance=None):
    """The verdict on a launch that ended: (verdict, {name: Difference}). `outputs` and `wanted` are dictionaries; only what the reference names
    is compared."""
    found = {name: difference(outputs[name], value, tolerance) for name, value in (wanted or {}).items()}
    found = {name: one for name, one in found.items() if one is not None}
    if found:
        return WRONG, found
    return (FINDINGS if grave(result.findings) else OK), {}


class Launch:
    """What became of a launch: `verdict`, `result` (None when it failed), `error` (None when it ended), `differences` by output, `findings`
    the causes first, `outputs` the arrays by name, `seconds` that it took here."""

    def __init__(self, verdict, result, error, differences, findings, outputs, seconds):
        self.verdict, self.result, self.error, self.differences = verdict, result, error, differences
        self.findings, self.outputs, self.seconds = findings, outputs, seconds


def to_device(dev, arguments):
    """The arguments of a case on a device: (arguments by name, outputs by name)."""
    given, outputs = {}, {}
    for name, value in arguments.items():
        if isinstance(value, Output):
            given[name] = outputs[name] = dev.empty(value.shape, value.dtype)
        elif isinstance(value, Typed):
            given[name] = dev.array(value.values, value.dtype)
        elif isinstance(value, np.ndarray) and value.ndim > 0:
            given[name] = dev.array(value)
        else:
            given[name] = value
    return given, outputs


def named_wanted(wanted, outputs):
    """What a reference gives, by the output's name: a dictionary, or the array of the only output."""
    if wanted is None or isinstance(wanted, dict):
        unknown = [name for name in wanted or {} if name not in outputs]
        if unknown:
            raise ValueError(f"the reference names {unknown[0]!r}, which is no output: {', '.join(outputs) or 'there is none'}")
        return wanted or {}
    if len(outputs) != 1:
        raise ValueError("the case has no output to compare: give what the kernel fills as Output(shape, dtype)" if not outputs else
                         f"the reference gives one array, and the case has {len(outputs)} outputs: give a dictionary by name")
    return {next(iter(outputs)): wanted}


def run_kernel(kernel, arguments, wanted=None, *, cores=1, tolerance=None):
    """Launches a kernel of a device with arguments by name, `Output`s among them, and judges it."""
    dev = kernel.module.device
    given, outputs = to_device(dev, arguments)
    begin = time.monotonic()
    try:
        result = kernel(cores=cores, **given)
    except LaunchError as error:
        verdict = _VERDICT_OF_STATUS.get(error.status, LAUNCH)
        return Launch(verdict, None, error, {}, ordered(error.findings), outputs, time.monotonic() - begin)
    seconds = time.monotonic() - begin
    for array in outputs.values():
        array.numpy()  # the checks judge what a program reads
    result.findings = (*result.findings, *dev._take_findings())
    verdict, differences = judge(result, outputs, named_wanted(wanted, outputs), tolerance)
    return Launch(verdict, result, None, differences, ordered(result.findings), outputs, seconds)
