"""softtpu try: compiles a kernel, runs it on every chip, number of cores and shape of a case, checks it, compares it with the case's reference,
and says in one document what came of it.

A case is a Python file:

    import numpy as np
    from softtpu import Output

    shapes = [dict(count=1 << 12), dict(count=1 << 16)]      # what `arguments` is called with; default: once, with nothing
    chips = ["bm1684x", "bm1688"]                            # default: the default chip
    cores = [1]                                              # default: 1
    tolerance = 1e-6                                         # as of softtpu.runner.difference; default: every bit, which "bits" says, too
    kernel = "add"                                           # default: the only one that the source registers

    def arguments(count):                                    # by the names of the kernel's struct
        rng = np.random.default_rng(1)
        return dict(out=Output(count), a=rng.random(count, np.float32), b=rng.random(count, np.float32), count=count)

    def reference(a, b, **rest):                             # an array, or a dictionary by the names of the outputs; may be left out
        return a + b

A member whose name is a keyword of Python is written {"in": ...}, or dict(in_=...); `reference` takes it as `in_`, or as rest["in"] of **rest.
`arguments` and `reference` may also take `chip` and `cores`. `flags` is a list of further options of the compiler.
"""
import argparse
import inspect
import itertools
import json
import keyword
import numbers
import os
import pathlib
import re
import runpy
import signal
import sys
import time
import traceback

import numpy as np

from . import device, runner
from ._temporary import temporary_folder
from .errors import CompileError, Error
from .report import to_json, words_of_bound

# The exit status of each verdict; 2 is a case or an option that is not usable, and of the launcher that no Python has this package.
STATUSES = {runner.OK: 0, runner.WRONG: 110, runner.COMPILE: 111, runner.LAUNCH: 112, runner.FINDINGS: 120, runner.TIMEOUT: 122,
            runner.UNSUPPORTED: 123}
USAGE = 2
VERSION = 2

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
_REGISTERED = re.compile(r"\b(?:TPUKERNEL|OKKERNEL)_FUNC2?_REGISTER\s*\(\s*(\w+)|\btpu_register_kernel_func\s*\(\s*\"(\w+)\"")
_COMPILER_LINE = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+):(?:(?P<column>\d+):)? (?P<kind>error|warning|fatal error): (?P<text>.*)$", re.M)


class CaseError(Error):
    """A case that cannot be used."""


_KINDS = {dict: "dictionaries", str: "names", int: "whole numbers"}


class Case:
    """A case's file, read."""

    def __init__(self, path):
        self.path = pathlib.Path(path).absolute()
        if not self.path.is_file():
            raise CaseError(f"{path} is no file")
        folder = str(self.path.parent)
        sys.path.insert(0, folder)
        try:
            names = runpy.run_path(str(self.path), run_name="__softtpu_case__")
        except Exception as problem:  # noqa: BLE001: whatever the file does
            raise CaseError(f"{self._place_of(problem)} cannot be read: {type(problem).__name__}: {problem}") from problem
        finally:
            sys.path.remove(folder)
        if not callable(names.get("arguments")):
            raise CaseError(f"{self.path.name} has no function arguments(...)")
        self.arguments, self.reference = names["arguments"], names.get("reference")
        self.shapes = self._list_of(names, "shapes", dict) or [{}]
        self.chips, self.cores = self._list_of(names, "chips", str), self._list_of(names, "cores", int)
        self.tolerance, self.kernel, self.flags = self._tolerance_of(names), names.get("kernel"), list(names.get("flags", ()))

    def _list_of(self, names, name, kind):
        """What the case gives under a name: a list, or its only element; None: nothing."""
        given = names.get(name)
        if given is None:
            return None
        try:
            listed = [given] if isinstance(given, kind) else list(given)
        except TypeError:
            listed = [None]
        if not all(isinstance(one, kind) for one in listed):
            raise CaseError(f"{self.path.name}: {name} = {given!r} is no list of {_KINDS[kind]}")
        return listed

    def _tolerance_of(self, names):
        given = names.get("tolerance")
        if given is None or callable(given) or (isinstance(given, str) and given == runner.BITS):
            return given
        both = given if isinstance(given, (tuple, list)) else (given, given)
        if len(both) != 2 or not all(isinstance(number, numbers.Real) and number >= 0 for number in both):
            raise CaseError(f'{self.path.name}: tolerance = {given!r} is no number, pair (absolute, relative), function or "{runner.BITS}"')
        return given

    def make_arguments(self, shape, chip, cores):
        known = inspect.signature(self.arguments).parameters
        takes_all = any(parameter.kind == parameter.VAR_KEYWORD for parameter in known.values())
        extra = {name: value for name, value in (("chip", chip), ("cores", cores)) if name in known or (takes_all and name not in shape)}
        return self._call("arguments", {**extra, **shape}, lambda: self.arguments(**extra, **shape))

    def make_reference(self, arguments, chip, cores):
        if self.reference is None:
            return None
        given = {name: value for name, value in arguments.items() if not isinstance(value, runner.Output)}
        given = {name: value.values if isinstance(value, runner.Typed) else value for name, value in given.items()}
        # A reference may compute in place: the kernel gets what `arguments` gave.
        given = {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in given.items()}
        known = inspect.signature(self.reference).parameters
        given = {name + "_" if keyword.iskeyword(name) and name + "_" in known else name: value for name, value in given.items()}
        if not any(parameter.kind == parameter.VAR_KEYWORD for parameter in known.values()):
            given = {name: value for name, value in given.items() if name in known}
        given = {**{name: value for name, value in (("chip", chip), ("cores", cores)) if name in known}, **given}
        wanted = self._call("reference", given, lambda: self.reference(**given))
        if wanted is None or (isinstance(wanted, dict) and not wanted):
            raise CaseError(f"{self.path.name}: reference({', '.join(given)}) gives nothing to compare: it returns the right output, or a dictionary by the outputs' names")
        return wanted

    def _place_of(self, problem):
        """The file, and the line of it where an exception comes from."""
        lines = [frame.lineno for frame in traceback.extract_tb(problem.__traceback__) if frame.filename == str(self.path)]
        return f"{self.path.name}:{lines[-1]}" if lines else self.path.name

    def compare_with(self, tolerance):
        """The tolerance, with errors of a function named as those of the case."""
        if not callable(tolerance):
            return tolerance
        return lambda got, wanted: self._call("tolerance", ("output", "reference"), lambda: tolerance(got, wanted))

    def _call(self, name, given, function):
        try:
            return function()
        except Exception as problem:  # noqa: BLE001: whatever the case does
            raise CaseError(f"{self._place_of(problem)}: {name}({', '.join(given)}): {type(problem).__name__}: {problem}") from problem


class Trial(dict):
    """The document that `softtpu try --json` prints (docs/agents.md), as a dictionary with `verdict`, `exit_status` and `ok`."""

    has_reference = True

    @property
    def verdict(self):
        return self["verdict"]

    @property
    def exit_status(self):
        return self["exit_status"]

    @property
    def ok(self):
        return self.verdict == runner.OK

    def as_dict(self):
        """The document as a plain dictionary."""
        return dict(self)

    def to_json(self, indent=1):
        """The document as a text in JSON."""
        return to_json(self.as_dict(), indent)

    @property
    def text(self):
        """The document for people."""
        lines = []
        for one in self["compile"]:
            lines += [f"compile  {one['file']}", *("  " + line for line in one["output"].rstrip().splitlines())]
        for case in self["cases"]:
            lines += _case_lines(case)
        for left in self["left_out"]:
            lines.append(f"left out {_place(left)}: {left['why']}")
        count = len(self["cases"])
        right = sum(case["verdict"] == runner.OK for case in self["cases"])
        lacking = sum(case["verdict"] == runner.UNSUPPORTED for case in self["cases"])
        apart = f", {lacking} on chips without what the kernel uses" if lacking else ""
        said = f"{right} of {count} case{'' if count == 1 else 's'} right{apart}" if count else "no case was run"
        if count and not self.has_reference:
            said += ", nothing is compared (the case has no reference)"
        lines.append(f"{self.verdict}: {said}, {self['seconds']:.2f} s")
        return "\n".join(lines)


def _name_of(dev, asked):
    """The device's chip, with the generation where one was asked for: two of them may stand in one document."""
    return asked.lower() if asked and asked.lower().startswith(dev.chip + "-") else dev.chip


def _place(case):
    shape = " ".join(f"{name}={value}" for name, value in case["shape"].items())
    return " ".join(filter(None, [case["chip"], f"cores={case['cores']}", shape]))


def _case_lines(case):
    head = f"{case['verdict']:11} {_place(case)}"
    if case["estimated_us"] is not None:
        head += f": {case['estimated_us']:.1f} us estimated, mostly {words_of_bound(case['bound'])}"
    lines = [head]
    failure = case["failure"]["text"].rstrip().splitlines() if case["failure"] is not None else []
    lines += ["  " + line for line in failure]
    # A finding is the cause of what differs. The one that has ended the launch stands with its failure, which says the rest.
    ended = [finding for finding in case["findings"] if failure and finding["what"] == failure[0]]
    for finding in ended + [finding for finding in case["findings"] if finding not in ended]:
        text = (finding.get("text") or f"{finding['rule']}: {finding['what']}").rstrip().splitlines()
        lines += ["  " + line for line in text if finding not in ended or line.lstrip().startswith(("why:", "fix:"))]
    for name, one in case["differences"].items():
        at = f"{name}{one['index']}" if one["index"] else name
        lines.append(f"  {at}: {one['text']}")
        writer = one["written_by"]
        if writer is not None:
            where = f" at {writer['at']}" if writer["at"] else ""
            lines.append(f"    written by command {writer['command']}, {writer['function']}{where}: {writer['operand']} is {writer['tensor']}, "
                         f"its element {writer['index']}")
        elif one["index"] is not None:
            lines.append("    no command has written it")
    if case["verdict"] in (runner.OK, runner.FINDINGS):  # of what is wrong, times say little
        lines += [f"  advice: {advice['text']}" for advice in case["advice"]]
    return lines


class Trier:
    """Keeps devices between trials, so that a trial costs no start. Use it in a `with`, or close() it."""

    def __init__(self):
        self._devices = {}

    def close(self):
        for dev in self._devices.values():
            dev.close()
        self._devices = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _device(self, chip, check, timed, timeout):
        key = (chip, check, timed, timeout)
        dev = self._devices.get(key)
        if dev is None or not dev.is_open:
            dev = self._devices[key] = device.Device(chip, check=check, time=timed, timeout=timeout, limit=timeout)
        return dev

    def run(self, kernel, case, *, chips=None, cores=None, shapes=None, tolerance=None, check="all", timed=True, timeout=60, name=None, flags=()):
        """One trial, as a `Trial`. What is None is as the case says. `tolerance` "bits": every bit; `timed` False: no estimates."""
        begin = time.monotonic()
        case = case if isinstance(case, Case) else Case(case)
        kernel = pathlib.Path(kernel).absolute()
        if not kernel.is_file():
            raise CaseError(f"{kernel} is no file")
        chips = list(chips or case.chips or [None])
        counts = [int(count) for count in cores or case.cores or [1]]
        shapes = [dict(shape) for shape in shapes or case.shapes]
        tolerance = case.tolerance if tolerance is None else tolerance
        document = Trial(format="softtpu-try", version=VERSION, kernel_file=str(kernel), case_file=str(case.path), verdict=runner.OK, exit_status=0,
                         kernel=None, compile=[], cases=[], left_out=[], seconds=0.0)
        for chip in chips:
            dev = self._device(chip, check, timed, timeout)
            try:
                module = dev.compile(kernel, flags=[*case.flags, *flags])
            except CompileError as problem:
                document["compile"].append(_compile_entry(kernel, problem))
                break  # the same on every chip
            try:
                function = module.kernel(name or case.kernel or _only_kernel(kernel))
                document["kernel"] = function.name
                for count, shape in itertools.product(counts, shapes):
                    place = {"chip": _name_of(dev, chip), "cores": count, "shape": shape}
                    if count > dev.cores:
                        document["left_out"].append({**place, "why": f"the chip has {dev.cores} core{'' if dev.cores == 1 else 's'}"})
                        continue
                    document["cases"].append(self._run_case(case, function, place, chip, tolerance, timeout))
            finally:
                module.unload()
        verdicts = {one["verdict"] for one in document["cases"]} | ({runner.COMPILE} if document["compile"] else set())
        if not verdicts:
            raise CaseError("there is nothing to run: " + "; ".join(f"{_place(left)}: {left['why']}" for left in document["left_out"]))
        document["verdict"] = next(verdict for verdict in runner.VERDICTS if verdict in verdicts)
        document.has_reference = case.reference is not None
        document["exit_status"] = STATUSES[document["verdict"]]
        document["seconds"] = round(time.monotonic() - begin, 3)
        return document

    def _run_case(self, case, function, place, chip, tolerance, timeout):
        begin = time.monotonic()
        chip_name = function.module.device.chip
        arguments = case.make_arguments(place["shape"], chip_name, place["cores"])
        if not isinstance(arguments, dict):
            raise CaseError(f"{case.path.name}: arguments() gives a {type(arguments).__name__}, not a dictionary")
        wanted = case.make_reference(arguments, chip_name, place["cores"])
        try:
            launch = runner.run_kernel(function, arguments, wanted, cores=place["cores"], tolerance=case.compare_with(tolerance))
        except CaseError:
            raise
        except (TypeError, ValueError, Error) as problem:
            raise CaseError(f"{case.path.name}: {problem}") from problem
        result = launch.result
        entry = {**place, "verdict": launch.verdict, "seconds": 0.0, "launch_seconds": round(launch.seconds, 4),
                 "estimated_us": result.estimated_us if result else None, "bound": result.bound if result else None,
                 "failure": launch.error.as_dict() if launch.error is not None else None,
                 "differences": {name: {**one.as_dict(), "written_by": None} for name, one in launch.differences.items()},
                 "findings": [finding.as_dict() for finding in launch.findings], "advice": (result.advice if result else None) or []}
        for one in entry["differences"].values():
            if result._float64:
                one["text"] = f"{result._float64}; {one['text']}"
            if tolerance is None and one["first"] is not None:
                one["text"] += "; every bit is compared: `tolerance` in the case, or --tolerance, names what counts as equal"
        if entry["failure"] is not None:
            entry["failure"].pop("findings")  # they stand in the entry
            entry["failure"].pop("result")
        if any(one.first is not None for one in launch.differences.values()):
            writers = _find_writers(function, arguments, place["cores"], chip, timeout, launch.differences)
            for name, writer in writers.items():
                entry["differences"][name]["written_by"] = writer
        entry["seconds"] = round(time.monotonic() - begin, 3)
        return entry


def _compile_entry(kernel, problem):
    said = problem.output or str(problem)
    errors = [{"file": found["file"], "line": int(found["line"]), "column": int(found["column"]) if found["column"] else None,
               "kind": found["kind"], "text": found["text"]} for found in _COMPILER_LINE.finditer(said)]
    return {"file": kernel.name, "output": said, "errors": errors}


def _only_kernel(path):
    text = _COMMENT.sub(" ", path.read_text(errors="replace"))
    names = list(dict.fromkeys(macro or call for macro, call in _REGISTERED.findall(text)))
    if len(names) != 1:
        raise CaseError(f"{path.name} registers {', '.join(names) or 'no kernel'}: say which with --kernel, or kernel = ... in the case")
    return names[0]


# ---- Which command has written an element

_TENSOR = re.compile(r"^0x([0-9a-f]+), shape \[([0-9, ]+)\](?: for all of \[([0-9, ]+)\])?, (\w+)(?:, stride \[([-0-9, ]+)\])?")
_BYTES = {"fp32": 4, "int32": 4, "uint32": 4, "fp16": 2, "bfp16": 2, "int16": 2, "uint16": 2}
_MOST_TRACE = 256 << 20


def _numbers(text):
    return [int(part) for part in text.split(",")]


def _index_in(text, address):
    """The element of a tensor, as a trace writes it, that holds the byte at an address; None: none does."""
    found = _TENSOR.match(text)
    if not found:
        return None
    start, shape, size = int(found[1], 16), _numbers(found[3] or found[2]), _BYTES.get(found[4], 1)
    strides = _numbers(found[5]) if found[5] else [shape[1] * shape[2] * shape[3], shape[2] * shape[3], shape[3], 1]
    left = (address - start) // size
    if left < 0 or any(step < 0 for step in strides):
        return None
    index = [0, 0, 0, 0]
    # The largest step first: a dense tensor has one such index, and one with gaps none where there is a gap.
    for axis in sorted(range(4), key=lambda axis: -strides[axis]):
        if strides[axis] > 0 and shape[axis] > 1:
            index[axis] = min(left // strides[axis], shape[axis] - 1)
            left -= index[axis] * strides[axis]
    return index if left == 0 else None


def _find_writers(function, arguments, cores, chip, timeout, differences):
    """The last command that has written the first wrong element of each output. The case runs once more, with a trace."""
    with temporary_folder("softtpu-try-") as folder:
        file = folder / "trace.json"
        with device.Device(chip, check="", timeout=timeout, limit=timeout, settings={"SOFTTPU_TRACE": file}) as dev:
            given, outputs = runner.to_device(dev, arguments)
            kernel = dev.load(function.module.path).kernel(function.name)
            kernel(cores=cores, **given)
            places = {name: outputs[name].address + one.first * outputs[name].kind.itemsize for name, one in differences.items()
                      if one.first is not None}
        if not file.exists() or file.stat().st_size > _MOST_TRACE:
            return {}
        events = json.loads(file.read_text())
    writers = {}
    for event in events:
        args = event.get("args", {})
        for operand in args.get("writes", ()):
            for name, address in places.items():
                index = _index_in(args[operand], address)
                if index is not None:
                    writers[name] = {"command": args["command"], "function": event["name"], "at": args.get("at", ""), "operand": operand,
                                     "tensor": args[operand], "index": index}
    return writers


# ---- The command

def _parser():
    parser = argparse.ArgumentParser(prog="softtpu try", description="Compiles a kernel, runs it on every chip, number of cores and shape of a case, "
                                     "checks it, and compares it with the case's reference. docs/agents.md describes cases and the JSON.",
                                     formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="Exit status: " + ", ".join(f"{status} {verdict}" for verdict, status in sorted(
                                         STATUSES.items(), key=lambda row: row[1])) + f"; {USAGE} a case or an option that is not usable, or no Python with softtpu and numpy (SOFTTPU_PYTHON names one).")
    parser.add_argument("kernel", metavar="KERNEL.c", help="source of the kernel")
    parser.add_argument("case", metavar="CASE.py", help="arguments, shapes and reference")
    parser.add_argument("--chip", action="append", metavar="CHIPS", help="chips, separated by commas, instead of the case's")
    parser.add_argument("--cores", metavar="COUNTS", help="numbers of cores, separated by commas, instead of the case's")
    parser.add_argument("--shape", action="append", metavar="NAME=VALUE,...", help="a shape instead of the case's; may be repeated")
    parser.add_argument("--kernel", dest="name", metavar="NAME", help="the kernel's name, where the source registers several")
    parser.add_argument("--check", default="all", metavar="CHECKS", help="as of `softtpu run`; none switches the checks off (default: all)")
    parser.add_argument("--tolerance", metavar="ABS[,REL]", help="differences that count as equal; one number is both; bits: none, every bit counts")
    parser.add_argument("--timeout", type=int, default=60, metavar="SECONDS", help="of each launch (default: 60)")
    parser.add_argument("--no-time", action="store_true", help="no estimates and no advice")
    parser.add_argument("--flag", action="append", default=[], metavar="FLAG", help="a further option of the compiler; may be repeated")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of text; with --watch one on each line")
    parser.add_argument("--watch", action="store_true", help="again whenever a file changes, until Ctrl-C")
    return parser


def _with_flags(arguments):
    """`--flag -DX` as one argument: argparse takes what begins with a hyphen for an option."""
    joined = []
    for argument in arguments:
        if joined and joined[-1] == "--flag":
            joined[-1] += "=" + argument
        else:
            joined.append(argument)
    return joined


def _split(texts):
    return [part for text in texts for part in text.split(",") if part] or None


def _parse_shape(text):
    shape = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not equals or not name.isidentifier():
            raise CaseError(f"--shape {text}: {part!r} is not NAME=VALUE")
        try:
            shape[name] = json.loads(value)
        except ValueError:
            shape[name] = value
    return shape


def _parse_tolerance(text):
    if text is None or text == runner.BITS:
        return text
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 2) or not all(number >= 0 for number in numbers):
        raise CaseError(f"--tolerance {text}: not a number, two numbers or bits")
    return numbers[0] if len(numbers) == 1 else tuple(numbers)


def _parse_counts(text):
    try:
        counts = [int(part) for part in text.split(",")] if text else None
    except ValueError:
        counts = [0]
    if counts and min(counts) < 1:
        raise CaseError(f"--cores {text}: not numbers from 1 on, separated by commas")
    return counts


def _stamps(kernel, case):
    """Of what a trial depends on: the files in both folders that can be part of it."""
    stamps = {}
    for path in {pathlib.Path(kernel).absolute(), pathlib.Path(case).absolute()}:
        for other in [path, *path.parent.glob("*.h"), *path.parent.glob("*.hpp"), *path.parent.glob("*.py")]:
            try:
                stamps[other] = other.stat().st_mtime_ns
            except OSError:
                stamps[other] = None
    return stamps


def _once(trier, options):
    """One trial, printed; its status."""
    indent = None if options.watch else 1
    try:
        trial = trier.run(options.kernel, options.case, chips=_split(options.chip or []), cores=_parse_counts(options.cores),
                          shapes=[_parse_shape(text) for text in options.shape] if options.shape else None,
                          tolerance=_parse_tolerance(options.tolerance), check="" if options.check == "none" else options.check,
                          timed=not options.no_time, timeout=options.timeout, name=options.name, flags=options.flag)
    except Error as problem:
        if options.json:
            print(to_json({"format": "softtpu-try", "version": VERSION, "verdict": "usage", "exit_status": USAGE, "text": str(problem)}, indent),
                  flush=True)
        else:
            print(f"softtpu: try: {problem}", file=sys.stderr)
        return USAGE
    print(trial.to_json(indent) if options.json else trial.text, flush=True)
    return trial.exit_status


def main(arguments=None):
    """The command `softtpu try`; returns its exit status."""
    options = _parser().parse_args(_with_flags(sys.argv[1:] if arguments is None else arguments))
    with Trier() as trier:
        seen = _stamps(options.kernel, options.case)  # what is saved during a trial asks for another one
        try:
            status = _once(trier, options)
            try:
                while options.watch:
                    time.sleep(0.2)
                    now = _stamps(options.kernel, options.case)
                    if now != seen:
                        seen = now
                        status = _once(trier, options)
            except KeyboardInterrupt:
                pass
        except KeyboardInterrupt:
            status = 128 + signal.SIGINT
        except BrokenPipeError:  # the reader of the output has ended, as `head` does
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            status = 128 + signal.SIGPIPE
    return status


def run(kernel, case, **options):
    """One trial without the command: `Trier.run` on devices of its own."""
    with Trier() as trier:
        return trier.run(kernel, case, **options)


if __name__ == "__main__":
    sys.exit(main())
