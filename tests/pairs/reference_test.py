#!/usr/bin/env python3
"""Random calls against the Python of docs/numerics, which shares nothing with the code: argument_pairs draws and carries out, this
compares every byte of both memories.

    reference_test.py --program build/dev/bin/argument_pairs --chip bm1688 --calls 500 --seed 1 [-v]
    reference_test.py --program build/dev/bin/argument_pairs --chip bm1688 --marks

Of functions with work buffers only the elements of results are compared: what they leave between is no promise. A result that lies over
a source in another layout, or over itself, depends on the order of an engine, which the pages do not have: such calls count apart when
they differ. A call that no page has counts apart, and so does one that its page cannot take: what a page knows is what was recorded of
the function, and a draw goes beyond that. With --marks, only functions are drawn that tests/argument_gaps_of_chips.txt has under
[CHIP compared], until each argument that is marked there has had two values in equal calls: a mark that no equal call bears out fails.
A difference fails."""
import argparse
import collections
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE.parent / "numerics"), str(HERE.parent / "grid"), str(HERE.parent / "audit"), str(ROOT / "scripts")]
import numpy as np  # noqa: E402
import argument_audit  # noqa: E402
import golden  # noqa: E402
import models  # noqa: E402
import wrap_calls  # noqa: E402
from signatures import prototypes  # noqa: E402

RUN = {"bm1684x-23.05": models.run_bm1684x, "bm1684x": models.run_bm1684x_1_30, "bm1688": models.run_bm1688, "bm1690": models.run_bm1690,
       "bm1684": models.run_bm1684}
# Enumerations of BM1684 by their names, as the header builds them of bits.
ENUMERATIONS = {value: name for name, bits in re.findall(r"(\w+_(?:OP|MUL)_\w+) = \w+_TYPE\(([^)]*)\)", (ROOT / "firmware/include/okk.h").read_text())
                for value in [("op" if "_OP_" in name else "mul", sum(int(bit) << i for i, bit in enumerate(bits.split(","))))]}
TYPES = {0: "DT_UINT8", 1: "DT_INT8", 3: "DT_FP16", 5: "DT_FP32", 6: "DT_UINT16", 7: "DT_INT16", 8: "DT_UINT32", 9: "DT_INT32", 11: "DT_BFP16",
         12: "DT_UINT4", 13: "DT_INT4", 15: "DT_FP8E5M2", 47: "DT_FP8E4M3"}
ROUNDINGS = ["RM_HALF_TO_EVEN", "RM_HALF_AWAY_FROM_ZERO", "RM_TOWARDS_ZERO", "RM_DOWN", "RM_UP", "RM_HALF_UP", "RM_HALF_DOWN"]
WORDS = {"const dim4*": 4, "const dim2*": 2, "const padding_t*": 4, "const Padding*": 4}
VARIABLES = ["TENSOR", "SCALAR", "VECTOR"]
WHOLE = {"scalar_t", "var_context_t", "x32", "x16", "x8"}
NUMBERS = {"int", "unsigned int", "char", "unsigned char", "short", "unsigned short", "bool", "local_addr_t", "long long", "unsigned long long",
           "const int", "signed char", "static_addr_t"}
SYSTEM = {"system_addr_t", "global_addr_t", "addr_t", "l2_sram_addr_t"}
MOST_SECONDS = 10  # of a call
SAME_START, TURN = 64, 8 * 4099  # what the memories hold before a call (main.cpp: kSameStart and kTurn)
# Of --marks: calls that are drawn of each function in a round, more of what is left late, and rounds, each with the next seed.
CALLS_A_ROUND = (4, 4, 4, 4, 8, 8, 16, 16, 32, 32, 64, 64)
# Families in which the payload of an f32 NaN is no property of the chip (tests/numerics/golden.py: ANY_NAN).
ANY_NAN = ("conv2d", "_mm", "pool2d", "depthwise", "matmul")


def argument(ctype, value, global_start):
    """A drawn argument as the models take those of recorded calls; raises KeyError for a type they do not know."""
    ctype = ctype.replace(" *", "*")
    if ctype in WORDS:
        return None if value["null"] else value["words"][:WORDS[ctype]]
    if ctype in WHOLE:
        return value["words"][0] & 0xffffffff
    if ctype == "float":
        return value["float"]
    if ctype == "data_type_t":
        return TYPES[value["number"]]
    if ctype == "rounding_mode_t":
        return ROUNDINGS[value["number"]]
    if ctype in ("op_type_t", "mul_type_t"):
        return ENUMERATIONS[ctype.split("_")[0], value["number"]]
    if ctype == "const variable_t*":
        return [{"enum": VARIABLES[value["words"][0]]}, {"u32": value["words"][1] & 0xffffffff}]
    if ctype.endswith("_or_addr_t*"):
        return [{"bool": value["words"][0] & 255}, {"u32": value["words"][1] & 0xffffffff}]
    if ctype in SYSTEM:
        return value["number"] - global_start if value["number"] >= global_start else value["number"]
    if ctype in NUMBERS:
        return value["number"]
    raise KeyError(ctype)


class Accesses:
    """The tensors that a page reads and writes."""

    def __init__(self):
        self.read, self.written = [], []
        get, put, move = golden.Words.get, golden.Words.put, golden.move

        def recorded_get(tensor):
            self.read.append((tensor, None))
            return get(tensor)

        def recorded_put(tensor, values, where=None):
            put(tensor, values, where)
            self.written.append((tensor, where))

        def recorded_move(dst, src, order):
            self.read.append((src, None))
            self.written.append((dst, None))
            move(dst, src, order)

        golden.Words.get, golden.Words.put, golden.move = recorded_get, recorded_put, recorded_move
        for module in [module for module in sys.modules.values() if getattr(module, "move", None) is move]:
            module.move = recorded_move

    def forget(self):
        self.read, self.written = [], []

    @staticmethod
    def mask(accesses, block):
        """Which bytes of a memory; and whether an access has one of them twice."""
        found, twice = np.zeros(block.size, bool), False
        for tensor, where in accesses:
            if np.shares_memory(tensor.block, block):
                at = tensor.positions()
                at = at.reshape(-1) if where is None else at[np.broadcast_to(where, at.shape)]
                bytes_at = np.concatenate([at + i for i in range(tensor.size)]) if at.size else at
                bytes_at = bytes_at[(bytes_at >= 0) & (bytes_at < block.size)]
                twice = twice or len(np.unique(bytes_at)) < len(bytes_at)
                found[bytes_at] = True
        return found, twice

    def touches_buffers(self, buffers, block, npu_bytes):
        """Whether a work buffer of a result's size, which no page writes, may lie over a result or a source."""
        spans = []
        for tensor, _ in self.read + self.written:
            if np.shares_memory(tensor.block, block):
                offsets = tensor.positions() % npu_bytes
                spans.append((int(offsets.min()), int(offsets.max()) + tensor.size))
        longest = max((end - first for first, end in spans), default=0)
        return any(first < buffer % npu_bytes + longest and buffer % npu_bytes < end for buffer in buffers for first, end in spans)

    def depends_on_order(self, block, several_steps):
        """Whether a result lies over itself, over a source whose elements lie elsewhere, or over any source of several steps."""
        whole = np.zeros(block.size, bool)
        for result in self.written:
            mask, twice = self.mask([result], block)
            if twice or (not several_steps and (whole & mask).any()):    # two results over each other
                return True
            whole |= mask
            places = result[0].positions()
            for source in self.read:
                if (mask & self.mask([source], block)[0]).any():
                    sizes = [getattr(tensor, "element", tensor.size) for tensor in (source[0], result[0])]   # BM1684 packs elements into words
                    same = sizes[0] == sizes[1] and np.array_equal(source[0].positions(), places)
                    if several_steps or not same:
                        return True
        return False


class Images:
    """What the memories hold before a call (tests/pairs/main.cpp: fill and load_tables)."""

    def __init__(self, *images):
        # Twice behind each other, so that a turned image is a piece of it.
        doubled = [np.concatenate([image, image]) for image in images]
        self.sizes, self.kinds = [image.size for image in images], (doubled, [image & mask for image, mask in zip(doubled, (0x3f, 0x07))])

    def before(self, call):
        start = call["number"] // SAME_START
        local, system = (image[start * TURN % size:start * TURN % size + size] for image, size in zip(self.kinds[start % 2], self.sizes))
        return changed(local, call["tables"]), system


def changed(image, spans):
    if not spans:
        return image
    after = image.copy()
    for offset, text in spans:
        after[offset:offset + len(text) // 2] = np.frombuffer(bytes.fromhex(text), np.uint8)
    return after


def differs(got, expected, nans):
    """Where two memories differ, as a mask of bytes."""
    if np.array_equal(got.view(np.uint64), expected.view(np.uint64)):
        return np.zeros(got.size, bool)
    wrong = got != expected
    if nans:
        words = got.size // 4 * 4
        both = np.isnan(got[:words].view(np.float32)) & np.isnan(expected[:words].view(np.float32))
        wrong[:words] &= ~np.repeat(both, 4)
    return wrong


def stop(*_):
    raise TimeoutError("too long")


class Comparison:
    def __init__(self, chip, folder, verbose, log=None, marks=None):
        self.chip, self.folder, self.verbose, self.log, self.marks = chip, folder, verbose, log, marks
        headers = (*(ROOT / "firmware/include/softtpu").glob("tpu_*.h"), ROOT / "firmware/include/tpu_kernel.h", ROOT / "firmware/include/okk.h")
        self.parameters = {name: typed for header in headers for _, name, typed in prototypes(header)}
        self.accesses = Accesses()
        self.counts, self.equal, self.wrong = collections.Counter(), set(), collections.defaultdict(list)

    def run(self):
        signal.signal(signal.SIGALRM, stop)
        np.seterr(all="ignore")
        with open(self.folder / "calls.json") as lines:
            self.sizes = json.loads(next(lines))
            everything = np.fromfile(self.folder / "images.bin", np.uint8)
            images = Images(everything[:self.sizes["local_bytes"]], everything[self.sizes["local_bytes"]:])
            self.memory = golden.Memory(self.sizes["npu_bytes"], self.sizes["npus"])
            for line in lines:
                call = json.loads(line)
                members = self.members(call)
                if self.marks and not self.marks.may_confirm(call["function"], self.sizes["npu_bytes"], members):
                    continue
                what = self.compare(call, *images.before(call))
                self.counts[what] += 1
                if what == "equal":
                    self.equal.add(call["function"])
                    if self.marks:
                        self.marks.add(call["function"], self.sizes["npu_bytes"], members)
                    if self.log:
                        print(call["function"], self.sizes["npu_bytes"], *("-" if member is None else member for member in members), file=self.log)
                elif what == "different":
                    self.wrong[call["function"]].append(call["number"])

    def members(self, call):
        """Members of the arguments, as scripts/argument_audit.py reads them."""
        members = []
        for (ctype, _), value in zip(self.parameters[call["function"]], call["arguments"]):
            ctype = ctype.replace(" *", "*")
            if ctype in wrap_calls.MEMBERS:
                members += [None if value["null"] else word for word in value["words"][:len(wrap_calls.MEMBERS[ctype])]]
            elif "*" in ctype:
                members.append(int(not value["null"]))
            else:
                members.append(value["float"] if ctype == "float" else value["words"][0] if ctype in WHOLE else value["number"])
        return members

    def compare(self, call, local, system):
        name, memory = call["function"], self.memory
        try:
            arguments = {parameter: argument(ctype, value, self.sizes["global_start"])
                         for (ctype, parameter), value in zip(self.parameters[name], call["arguments"])}
        except (KeyError, IndexError):
            return "with arguments of other types"
        if arguments.get("mask_in_lmem"):
            arguments["mask_addr"] = call["arguments"][list(arguments).index("mask_addr")]["number"]
        memory.local.reshape(-1)[...] = local
        memory.system[:system.size] = system
        memory.seed = memory.filtered = memory.answer = None
        self.accesses.forget()
        signal.alarm(MOST_SECONDS)  # numbers far from what was recorded may keep a page busy
        try:
            if not RUN[self.chip](memory, name, arguments):
                return "of functions that no page has"
        except Exception as error:  # what a page was not written for
            if self.verbose:
                print(f"  {call['number']} {name}: {type(error).__name__} {error}")
            return "beyond what their page takes"
        finally:
            signal.alarm(0)
        nans = any(part in name for part in ANY_NAN)
        spaces = [("local memory", local, memory.local.reshape(-1), changed(local, call["local"])),
                  ("global memory", system, memory.system[:system.size], changed(system, call["global"]))]
        buffers = {value for parameter, value in arguments.items() if "work" in parameter and parameter.endswith("addr") or parameter == "buffer_addr"}
        found = []
        for space, before, page, code in spaces:
            wrong = differs(page, code, nans)
            if buffers:
                results = [access for access in self.accesses.written if access[0].positions().flat[0] not in buffers]
                wrong &= self.accesses.mask(results, page)[0]
            if wrong.any():
                found.append((space, before, page, code, np.flatnonzero(wrong)))
        if not found:
            return "equal"
        local_block = memory.local.reshape(-1)
        if any(self.accesses.depends_on_order(block, bool(buffers)) for block in (local_block, memory.system)) or \
                self.accesses.touches_buffers(buffers, local_block, self.sizes["npu_bytes"]):
            return "that depend on an order"
        if self.verbose:
            for space, before, page, code, at in found:
                word = slice(at[0] & ~3, (at[0] & ~3) + 4)
                print(f"  {call['number']} {name}: {len(at)} bytes of {space}, the first at 0x{at[0]:x}: page {page[word].tobytes().hex()}, "
                      f"code {code[word].tobytes().hex()}, before {before[word].tobytes().hex()}; {arguments}")
        return "different"


def compare(options, calls, seed, functions=(), log=None, marks=None):
    """The comparison of some drawn calls, or None when they could not be drawn."""
    with tempfile.TemporaryDirectory() as name:
        command = [options.program, "--chip", options.chip, "--calls", str(calls), "--seed", str(seed), "--export", name]
        drawn = subprocess.run([*command, "--functions", *functions] if functions else command)
        if drawn.returncode > 1 or not functions and drawn.returncode:
            return None
        comparison = Comparison(options.chip, pathlib.Path(name), options.verbose, log, marks)
        comparison.run()
    for function, numbers in sorted(comparison.wrong.items()):
        print(f"{options.chip}: {function} differs from its page in {len(numbers)} calls of seed {seed}: {' '.join(map(str, numbers[:8]))}")
    return comparison


class Marks:
    """The arguments under [CHIP compared] that have not had two values in equal calls yet."""

    def __init__(self, chip):
        parameters = argument_audit.audited()
        self.left = {function: set(names) for function, names in argument_audit.read_list_of_chips()[f"{chip} compared"].items()}
        self.features = {function: argument_audit.Features(parameters[function]) for function in self.left}
        self.first = {}

    def varies(self, function, npu_bytes, members):
        """Those that differ from the function's first equal call; all features without such a call."""
        features = self.features[function]
        values = features.values(members, npu_bytes)
        first = self.first.get(function, [None] * len(values))
        return {name for name, value, other in zip(features.names, values, first) if value != other}

    def may_confirm(self, function, npu_bytes, members):
        left = self.left.get(function, set())
        return bool(left) and (function not in self.first or bool(left & self.varies(function, npu_bytes, members)))

    def add(self, function, npu_bytes, members):
        if function in self.first:
            self.left[function] -= self.varies(function, npu_bytes, members)
            if not self.left[function]:
                del self.left[function]
        else:
            self.first[function] = self.features[function].values(members, npu_bytes)


def hold_marks(options):
    """Whether each argument under [CHIP compared] has two values in equal calls. Calls that would show no further one are not compared."""
    marks, calls, seed = Marks(options.chip), 0, options.seed
    every = sum(map(len, marks.left.values()))
    for seed, of_each in enumerate(CALLS_A_ROUND, options.seed):
        drawn, functions = of_each * len(marks.left), sorted(marks.left)
        comparison = compare(options, drawn, seed, functions, marks=marks)
        if comparison is None:
            return 1
        if comparison.wrong:
            print(f"again: reference_test.py --chip {options.chip} --calls {drawn} --seed {seed} -v --functions {' '.join(functions)}")
            return 1
        calls += comparison.counts["equal"]
        if not marks.left:
            break
    for function, names in sorted(marks.left.items()):
        print(f"{options.chip}: {function} is marked as compared, but no equal calls vary {' '.join(sorted(names))}")
    print(f"{options.chip}: {every - sum(map(len, marks.left.values()))} of {every} arguments marked as compared vary in {calls} equal calls; "
          f"seeds {options.seed} to {seed}")
    return 1 if marks.left else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="argument_pairs")
    parser.add_argument("--chip", required=True, choices=sorted(RUN))
    parser.add_argument("--calls", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", type=argparse.FileType("a"), metavar="FILE", help="add the arguments of the calls that are equal (scripts/argument_audit.py --compared)")
    parser.add_argument("--functions", nargs="+", default=(), metavar="FUNCTION", help="calls of these functions only")
    parser.add_argument("--marks", action="store_true", help="hold what tests/argument_gaps_of_chips.txt marks as compared")
    parser.add_argument("-v", "--verbose", action="store_true", help="the first different bytes of a call, with its arguments")
    options = parser.parse_args()
    if options.marks:
        return hold_marks(options)
    comparison = compare(options, options.calls, options.seed, options.functions, options.log)
    if comparison is None:
        return 1
    others = ", ".join(f"{count} {what}" for what, count in sorted(comparison.counts.items()) if what not in ("equal", "different"))
    print(f"{options.chip}: {comparison.counts['equal']} calls of {len(comparison.equal)} functions equal the pages of docs/numerics, "
          f"{comparison.counts['different']} differ; {others}; seed {options.seed}")
    return 1 if comparison.wrong or not comparison.equal else 0


if __name__ == "__main__":
    sys.exit(main())
