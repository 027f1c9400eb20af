#!/usr/bin/env python3
"""Says which arguments of a function its cases never vary, or vary only together.

Cases are the recorded ones (tests/golden) and the calls of the unit tests that are not refused. What they leave open has to be
exactly what tests/argument_gaps.txt lists: a gap that is not listed fails, and so does a listed one that is closed. The list may
only shrink: --write takes closed gaps off it, nothing is ever added. With --golden, more recorded cases are looked at, and what
is still open is printed. With --chip, only the recorded cases of that chip count, of the complete corpora where they lie beside the
checkout: what no recording of the chip varies, and with --functions how many gaps each function has.

tests/argument_gaps_of_chips.txt has for each chip of CHIPS the arguments that no recorded case of it varies, tests/golden and the
complete corpora together: [CHIP] is not determined by anything, [CHIP compared] varies in random calls whose results equal the Python
of docs/numerics, byte for byte (tests/pairs/reference_test.py --log). `softtpu api --chip` reads it. --check-chips compares: an argument that tests/golden varies has to be off
the list, and where the complete corpora lie beside the checkout the list has to be exactly what they leave open. With --write
closed ones are taken off; a new one is never added. --compared CHIP FILE reads such a log: with --write what it varies moves to
[CHIP compared], without it what stands there and does not vary in the log is a difference. reference_test.py --marks holds these in CI.

Looked at are the arguments, the members of shapes, strides, windows and variables, and of an address the start NPU (of a local
one), the offset and its alignment. Two of them vary together when in all cases each value of one goes with one value of the other."""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "tests/argument_gaps.txt"
LIST_OF_CHIPS = ROOT / "tests/argument_gaps_of_chips.txt"
LIMITS = ROOT / "docs/reference/limits.json"
CHIPS = {"bm1684x": "bm1684x-1.30*", "bm1688": "bm1688*", "bm1690": "bm1690*"}  # and the folders of its recordings, of today's revision
HEAD_OF_CHIPS = """# What no recorded case of a chip varies: read and shortened by scripts/argument_audit.py --check-chips --write, never extended.
# [CHIP], then FUNCTION ARGUMENT ...; an address has three: start NPU, offset and the offset's alignment. [CHIP compared]: of these, those
# that vary in random calls whose results equal the Python of docs/numerics (tests/pairs, --compared).
"""
HEAD = """# What no case of a function varies by itself: read and shortened by scripts/argument_audit.py (--write), never extended.
# FUNCTION never ARGUMENT ...: one value in all cases; FUNCTION together A B ...: each value of one goes with one of the others;
# FUNCTION uncovered: no case.
"""
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/audit"))
import wrap_calls  # noqa: E402

MOST_ALIGNMENT = 128  # bytes; larger powers of two tell nothing more
MOST_CASES = 2000  # distinct ones of a function, as in tests/audit
RECORDED_POINTERS = {"dim4", "dim2", "pad"}


def headers():
    include = ROOT / "firmware/include"
    return [include / "okk.h", include / "tpu_kernel.h", *sorted((include / "softtpu").glob("tpu_*.h"))]


def audited():
    """{function: [(type, parameter)]} of the functions that chips have and that take something."""
    tables = "".join((ROOT / f"device/isa/ops/{name}.def").read_text() for name in ("unsupported", "undetermined", "fp8", "sdma"))
    refused = set(re.findall(r"OP\((?:unsupported|undetermined|with), +(\w+)", tables))
    return {name: parameters for header in headers() for _, name, parameters in wrap_calls.prototypes(header) if name not in refused}


def local_bytes():
    """{chip: bytes of an NPU's local memory}."""
    chips = (json.loads(path.read_text()) for path in (ROOT / "device/chip/chips").glob("*.json"))
    return {chip["name"]: chip["local_mem"]["bytes_per_npu"] for chip in chips if "base" not in chip}


def alignment(address):
    return min(address & -address, MOST_ALIGNMENT) if address else MOST_ALIGNMENT


class Features:
    """What is looked at of one function's arguments: names, and values for a list of raw members."""

    def __init__(self, parameters):
        self.plan = []  # (raw members, kind)
        self.names = []
        for ctype, name in parameters:
            members = wrap_calls.MEMBERS.get(ctype)
            if members:
                self.plan.append((len(members), "members"))
                self.names += [f"{name}.{member}" for member in members]
            elif ctype == "local_addr_t":
                self.plan.append((1, "local"))
                self.names += [f"{name}.npu", f"{name}.offset", f"{name}.alignment"]
            elif ctype in ("system_addr_t", "global_addr_t"):
                self.plan.append((1, "system"))
                self.names += [f"{name}.offset", f"{name}.alignment"]
            else:
                self.plan.append((1, "value"))
                self.names.append(name)

    def values(self, raw, npu_bytes):
        at, out = 0, []
        for count, kind in self.plan:
            if kind == "local":
                npu, offset = divmod(raw[at], npu_bytes)
                out += [npu, offset, alignment(offset)]
            elif kind == "system":
                out += [raw[at], alignment(raw[at])]
            else:
                out += raw[at:at + count]
            at += count
        return tuple(out)


def recorded_members(argument, ctype):
    """The raw members of a recorded argument, as the log of generated calls has them."""
    (kind, value), = argument.items()
    count = len(wrap_calls.MEMBERS.get(ctype, "."))
    if kind == "null":
        return [None] * count if ctype in wrap_calls.MEMBERS else [0]
    if kind in RECORDED_POINTERS:
        return list(value)
    if ctype in wrap_calls.MEMBERS:
        flat = [item for field in value for item in recorded_members(field, "")]
        return flat[:count] if len(flat) >= count else flat + [None] * (count - len(flat))
    return [value if isinstance(value, (int, str)) and "*" not in ctype else 1]


def recorded_cases(folders, functions, chip=None):
    per_npu = local_bytes()
    for folder in folders:
        for path in sorted(folder.rglob("*.json")):
            family = json.loads(path.read_text())
            if family["chip"] not in per_npu or chip not in (None, family["chip"]):
                continue
            for case in family["cases"]:
                if case.get("abort") or "calls" not in case:
                    continue
                for call in case["calls"]:
                    parameters = functions.get(call["fn"])
                    if parameters is None or len(parameters) > len(call["args"]):
                        continue
                    raw = [member for (ctype, _), argument in zip(parameters, call["args"]) for member in recorded_members(argument, ctype)]
                    yield call["fn"], per_npu[family["chip"]], raw


def generated_cases(lines, functions):
    for line in lines:
        function, npu_bytes, *values = line.split()
        if function in functions:
            yield function, int(npu_bytes), [None if value == "-" else int(value) for value in values]


def collect(functions, cases):
    """{function: distinct feature values}."""
    features = {name: Features(parameters) for name, parameters in functions.items()}
    found = collections.defaultdict(dict)  # dicts keep the order
    for function, npu_bytes, raw in cases:
        if len(found[function]) < MOST_CASES:
            found[function][features[function].values(raw, npu_bytes)] = True
    return features, found


def classes(names, rows):
    """Groups of two and more features that determine each other: their values fall into the same groups of cases."""
    groups = collections.defaultdict(list)
    for at, name in enumerate(names):
        first, pattern = {}, []
        for row in rows:
            pattern.append(first.setdefault(row[at], len(first)))
        groups[tuple(pattern)].append(name)
    constant = (0,) * len(rows)
    never = groups.pop(constant, [])
    return never, [group for group in groups.values() if len(group) > 1]


def gaps_of(functions, cases):
    """The lines that the list has to have: {function: (never, groups)}; None without a case."""
    features, found = collect(functions, cases)
    gaps = {}
    for function in sorted(functions):
        rows = list(found.get(function, ()))
        if not rows:
            gaps[function] = None
            continue
        never, groups = classes(features[function].names, rows)
        if never or groups:
            gaps[function] = (never, groups)
    return gaps


def facts(gaps):
    """Each gap by itself: an argument that never varies, or a pair that varies together."""
    out = set()
    for function, entry in gaps.items():
        if entry is None:
            out.add((function, "uncovered"))
            continue
        never, groups = entry
        out |= {(function, "never", name) for name in never}
        out |= {(function, "together", *sorted((a, b))) for group in groups for i, a in enumerate(group) for b in group[i + 1:]}
    return out


def is_part_of(fact, known):
    """Less than what is known already: a function without cases leaves everything open, a constant varies with nothing."""
    function, kind, *names = fact
    if (function, "uncovered") in known:
        return True
    return kind == "together" and any((function, "never", name) in known for name in names)


def write(gaps):
    text = HEAD
    for function, entry in sorted(gaps.items()):
        if entry is None:
            text += f"{function} uncovered\n"
            continue
        never, groups = entry
        if never:
            text += f"{function} never {' '.join(never)}\n"
        text += "".join(f"{function} together {' '.join(group)}\n" for group in groups)
    LIST.write_text(text)


def read():
    gaps = {}
    for line in LIST.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        function, kind, *names = line.split()
        if kind == "uncovered":
            gaps[function] = None
        else:
            never, groups = gaps.setdefault(function, ([], []))
            never.extend(names) if kind == "never" else groups.append(names)
    return gaps


def as_text(fact):
    function, kind, *names = fact
    words = {"uncovered": "has no case", "never": "is the same in all cases", "together": "vary only together"}
    return f"{function}: {' and '.join(names) + ' ' if names else ''}{words[kind]}"


def print_gaps_of(chip, functions, options):
    complete = ROOT.parent / "shared/golden"
    folders = options.golden or [complete if complete.is_dir() else ROOT / "tests/golden"]
    now = gaps_of(functions, recorded_cases(folders, functions, chip))
    recorded = {name: entry for name, entry in now.items() if entry is not None}
    found = facts(recorded)
    covered = len(functions) - (len(now) - len(recorded))
    print(f"{chip}: {covered} functions with recorded cases; {len(found)} gaps in {len(recorded)} of them")
    counts = collections.Counter(fact[0] for fact in found)
    print("\n".join(f"{name} {count}" for name, count in sorted(counts.items())) if options.functions else "\n".join(sorted(map(as_text, found))))
    return 0


def never_varied(chip, folders, functions, logs=()):
    """{function: its arguments that are the same in all recorded cases of the chip, and in the logged calls} of the functions with recorded cases."""
    cases = recorded_cases(folders, functions, chip)
    features, found = collect(functions, cases)
    for log in logs:
        more = collect({name: functions[name] for name in found}, generated_cases(log.read_text().splitlines(), found))[1]
        for name, rows in more.items():
            found[name].update(rows)
    single = of_one_type(chip)
    return {name: set(classes(features[name].names, list(rows))[0]) - single.get(name, set()) for name, rows in found.items()}


def of_one_type(chip):
    """{function: its arguments for which the chip takes a single type}, from the rules' answers: such an argument cannot vary."""
    single = {}
    for name, answers in json.loads(LIMITS.read_text()).items():
        taken = collections.defaultdict(set)
        for together in answers.get("types_on", {}).get(chip, answers.get("types", [])):
            for argument, types in together.items():
                taken[argument].update(types)
        single[name] = {argument for argument, types in taken.items() if len(types) == 1}
    return single


def read_list_of_chips():
    """{chip: {function: arguments}}."""
    listed, chip = {}, None
    for line in LIST_OF_CHIPS.read_text().splitlines():
        if line.startswith("["):
            chip = listed.setdefault(line.strip("[]"), {})
        elif line and not line.startswith("#"):
            function, *names = line.split()
            chip[function] = names
    return listed


def check_chips(functions, options):
    corpora = ROOT.parent / "shared/golden"
    complete = corpora.is_dir()
    roots = [ROOT / "tests/golden", *([corpora] if complete else [])]
    listed, wrong, text = read_list_of_chips() if LIST_OF_CHIPS.exists() else None, [], HEAD_OF_CHIPS
    for chip, pattern in CHIPS.items():
        now = never_varied(chip, [folder for root in roots for folder in sorted(root.glob(pattern))], functions)
        known = {name: set(names) for name, names in listed.get(chip, {}).items()} if listed is not None else now
        compared = {name: set(names) & now.get(name, set(names)) for name, names in (listed or {}).get(f"{chip} compared", {}).items()}
        for name, names in compared.items():
            known.setdefault(name, set()).update(names)
        logs = [pathlib.Path(file) for of, file in options.compared if of == chip]
        if logs:
            with_logs = never_varied(chip, [folder for root in roots for folder in sorted(root.glob(pattern))], functions, logs)
            for name, names in known.items():
                compared.setdefault(name, set()).update((names & now.get(name, names)) - with_logs.get(name, names) if options.write else ())
            wrong += [] if options.write else [f"not varied by {chip}'s log: {name} {' '.join(sorted(names & with_logs.get(name, set())))}"
                                               for name, names in sorted(compared.items()) if names & with_logs.get(name, set())]
        left = {name: names & now.get(name, names) for name, names in known.items()}
        wrong += [f"closed, take it off {LIST_OF_CHIPS.name} (--check-chips --write): {chip} {name} {' '.join(sorted(known[name] - left[name]))}"
                  for name in sorted(known) if known[name] != left[name]] if not options.write else []
        if complete:
            wrong += [f"new: {chip} {name}: no recorded case varies {' '.join(sorted(names - known.get(name, set())))}"
                      for name, names in sorted(now.items()) if names - known.get(name, set())]
        undetermined = {name: names - compared.get(name, set()) for name, names in left.items()}
        for title, of in ((chip, undetermined), (f"{chip} compared", compared)):
            text += f"[{title}]\n" + "".join(f"{name} {' '.join(sorted(names))}\n" for name, names in sorted(of.items()) if names)
        print(f"{chip}: {sum(map(len, left.values()))} arguments of {sum(map(bool, left.values()))} functions are not varied by a recorded case, "
              f"{sum(map(len, undetermined.values()))} neither by calls that were compared with docs/numerics")
    if wrong:
        print("\n".join(wrong))
    elif options.write:
        LIST_OF_CHIPS.write_text(text)
    return 1 if wrong else 0


def run_unit_tests(program, folder):
    log = folder / "arguments.txt"
    # Whether they pass is another test's affair; some look for the line of a call, which is the wrapper's here.
    subprocess.run([program, "--gtest_brief=1"], env={**os.environ, "SOFTTPU_ARGUMENT_LOG": str(log)}, stdout=subprocess.DEVNULL)
    if not log.exists():
        sys.exit(f"{program} has logged nothing")
    return log


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unit-tests", type=pathlib.Path, metavar="PROGRAM", default=ROOT / "build/dev/bin/audited_unit_tests")
    parser.add_argument("--log", type=pathlib.Path, nargs="+", metavar="FILE", help="what that program has written (SOFTTPU_ARGUMENT_LOG), instead of running it")
    parser.add_argument("--golden", type=pathlib.Path, nargs="+", metavar="FOLDER", help="other recorded cases, for a look: prints what is still open with them")
    parser.add_argument("--write", action="store_true", help="take closed gaps off the list")
    parser.add_argument("--chip", help="what no recorded case of this chip varies")
    parser.add_argument("--check-chips", action="store_true", help="compare what no recorded case varies with the list of each chip")
    parser.add_argument("--compared", nargs=2, action="append", default=[], metavar=("CHIP", "FILE"), help="with --check-chips: calls that equal docs/numerics (reference_test.py --log)")
    parser.add_argument("--functions", action="store_true", help="with --chip: the number of gaps of each function that the chip was recorded with")
    options = parser.parse_args()
    functions = audited()
    if options.check_chips:
        return check_chips(functions, options)
    if options.chip:
        return print_gaps_of(options.chip, functions, options)
    with tempfile.TemporaryDirectory() as name:
        logs = options.log or [run_unit_tests(options.unit_tests, pathlib.Path(name))]
        generated = [case for log in logs for case in generated_cases(log.read_text().splitlines(), functions)]
    folders = [ROOT / "tests/golden", *(options.golden or [])]
    now = gaps_of(functions, [*recorded_cases(folders, functions), *generated])
    found = facts(now)
    print(f"{len(functions)} functions; {len(found)} gaps in {len(now)} of them")
    if options.golden:
        print("\n".join(sorted(map(as_text, found))))
        return 0
    known = facts(read()) if LIST.exists() else found
    new, closed = found - known, known - found
    if closed:
        new = {fact for fact in new if not is_part_of(fact, known)}
    for fact in sorted(new):
        print(f"new: {as_text(fact)}")
    if options.write and not new:
        write(now)
        return 0
    for fact in sorted(closed):
        print(f"closed, take it off {LIST.name} (--write): {as_text(fact)}")
    return 1 if new or closed else 0


if __name__ == "__main__":
    sys.exit(main())
