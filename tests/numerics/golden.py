"""Recorded cases for the models of docs/numerics: fills, memories, tensors. The format is described in tools/golden/case.hpp."""
import json
import pathlib
import re

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SIZES = {"f32": 4, "i32": 4, "u32": 4, "f16": 2, "bf16": 2, "i16": 2, "u16": 2, "i8": 1, "u8": 1}
DTYPES = {"DT_FP32": "fp32", "DT_FP16": "fp16", "DT_BFP16": "bfp16", "DT_INT8": "int8", "DT_UINT8": "uint8", "DT_INT16": "int16",
          "DT_UINT16": "uint16", "DT_INT32": "int32", "DT_UINT32": "uint32", "DT_FP8E4M3": "e4m3", "DT_FP8E5M2": "e5m2"}
BYTES = {"fp32": 4, "fp16": 2, "bfp16": 2, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "e4m3": 1, "e5m2": 1}
BITS = {1: np.uint8, 2: np.uint16, 4: np.uint32}
FLOATS = ("fp32", "fp16", "bfp16", "e4m3", "e5m2")
GLOBAL_BYTES, L2_BYTES = 1 << 24, 1 << 24
UNTOUCHED = 0xa5    # every byte before the setup of an instruction
# Families in which the payload of an f32 NaN is that of the recording machine's processor (tools/golden/case_reader.cpp); BM1690 has one NaN.
ANY_NAN = ("mm_fp", "conv_fp", "pool_fp", "roi_pool", "new_conv", "new_pool", "new_mm")


def read_special_tables():
    """The tables of special values, from the C++ reader of the same format."""
    text = (ROOT / "tools/golden/fill.cpp").read_text()
    found = {name: [int(word, 16) for word in re.findall(r"0x([0-9a-fA-F]+)", body)]
             for name, body in re.findall(r"kSpecial(\w+)\[\] = \{([^}]*)\}", text)}
    return {"f32": found["F32"], "f16": found["F16"], "bf16": found["Bf16"], "i8": found["8"], "u8": found["8"], "i16": found["16"],
            "u16": found["16"], "i32": found["32"], "u32": found["32"]}


def mixed(seed, count):
    """x(i) of the fills."""
    i = np.arange(count, dtype=np.uint64)
    with np.errstate(over="ignore"):
        z = np.uint64(seed % 2**64) + i * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def real(values, dtype):
    f = values.astype(np.float32)
    if dtype == "f32":
        return f.view(np.uint32)
    if dtype == "f16":
        with np.errstate(over="ignore"):
            return f.astype(np.float16).view(np.uint16)
    u = f.view(np.uint32).astype(np.uint64)
    return ((u + 0x7fff + ((u >> np.uint64(16)) & np.uint64(1))) >> np.uint64(16)).astype(np.uint16)


def unit(x):
    return (x >> np.uint64(11)).astype(np.float64) * 2.0**-53


def fill_bytes(fill, size, tables):
    kind = fill["kind"]
    if kind == "byte":
        return np.full(size, fill.get("value", 0xA5), np.uint8)
    dtype = fill["dtype"]
    count = size // SIZES[dtype]
    is_float = dtype in ("f32", "f16", "bf16")
    x = mixed(fill.get("seed", 0), count)
    i = np.arange(count)
    if kind == "const":
        word = fill["bits"] if "bits" in fill else None
        values = np.full(count, word if word is not None else fill["value"], np.float64 if is_float and word is None else np.int64)
        words = real(values, dtype) if is_float and word is None else values
    elif kind == "uniform":
        span = fill["hi"] - fill["lo"]
        words = real(fill["lo"] + unit(x) * span, dtype) if is_float else (x % np.uint64(span + 1)).astype(np.int64) + fill["lo"]
    elif kind == "normal":
        y = mixed(fill.get("seed", 0) ^ 0xD1B54A32D192ED03, count)
        total = sum(((v >> np.uint64(16 * part)) & np.uint64(0xffff)).astype(np.int64) for v in (x, y) for part in range(4))
        values = (total - 262140.0) * 1.86881188e-05 * fill.get("std", 1.0) + fill.get("mean", 0.0)
        words = real(values, dtype) if is_float else values.astype(np.int64)
    elif kind == "bits":
        words = x
    elif kind == "iota":
        values = fill.get("start", 0) + fill.get("step", 1) * i
        words = real(values.astype(np.float64), dtype) if is_float else values.astype(np.int64)
    elif kind == "perm":
        order = list(range(count))
        for at in range(count - 1, 0, -1):
            other = int(x[at]) % (at + 1)
            order[at], order[other] = order[other], order[at]
        words = np.array(order, np.int64) + fill.get("start", 0)
    else:
        table = np.array(tables[dtype], np.uint64)
        if kind == "special_row":
            words = table[(i // len(table)) % len(table)]
        elif kind == "special_col":
            words = table[i % len(table)]
        else:
            other = real(-8 + 16 * unit(x), dtype).astype(np.uint64) if is_float else x >> np.uint64(16)
            words = np.where(x % np.uint64(4) != 3, table[((x >> np.uint64(8)) % np.uint64(len(table))).astype(np.int64)], other)
    return np.ascontiguousarray(np.asarray(words).astype(np.uint64).astype(BITS[SIZES[dtype]])).view(np.uint8)


class Memory:
    """Local memory of all NPUs and a block of global memory."""

    def __init__(self, npu_bytes, npus=64):
        self.npus, self.npu_bytes = npus, npu_bytes
        self.local = np.zeros((npus, npu_bytes), np.uint8)
        self.system = np.zeros(GLOBAL_BYTES + L2_BYTES, np.uint8)      # global memory, then L2
        self.spaces = {"gmem": self.system[:GLOBAL_BYTES], "l2": self.system[GLOBAL_BYTES:]}
        self.seed = None        # of random numbers
        self.filtered = None    # how many elements the last selection found
        self.answer = None      # of a function that returns a value
        self.parallel = False   # inside a parallel section

    def region(self, entry):
        """A view of a region of a case."""
        at, size = entry["addr"], entry["size"]
        if entry["space"] == "lmem":
            first, count = entry.get("npu", [0, self.npus])
            return self.local[first:first + count, at:at + size]
        return self.spaces[entry["space"]][at:at + size]


def element_offsets(shape, channel, stride):
    n, c, h, w = (np.arange(extent).reshape([-1 if i == axis else 1 for i in range(4)]) for axis, extent in enumerate(shape))
    return n * stride[0] + channel(c) * stride[1] + h * stride[2] + w * stride[3]


class Words:
    """Elements of a tensor as bit patterns; `place` gives byte i of all of them."""

    def get(self):
        out = np.zeros(self.shape, np.uint64)
        for i in range(self.size):
            out |= self.block[self.place(i)].astype(np.uint64) << np.uint64(8 * i)
        return out.astype(BITS[self.size])

    def put(self, values, where=None):
        words = np.broadcast_to(np.asarray(values), self.shape).astype(np.uint64)
        words = words if where is None else np.where(where, words, self.get())
        for i in range(self.size):
            self.block[self.place(i)] = ((words >> np.uint64(8 * i)) & np.uint64(255)).astype(np.uint8)


class Tensor(Words):
    """A tensor in local memory."""

    def __init__(self, memory, address, shape, stride, size):
        self.block, self.size, self.shape = memory.local, size, tuple(shape)
        first, offset = divmod(address, memory.npu_bytes)
        self.npu = np.broadcast_to((np.arange(shape[1]) + first)[None, :, None, None] % memory.npus, self.shape)
        self.at = offset + size * element_offsets(shape, lambda c: (c + first) // memory.npus, stride)

    def place(self, i):
        return self.npu, self.at + i

    def positions(self):
        """Where each element begins in the whole memory."""
        return self.npu * self.block.shape[1] + self.at


class SystemTensor(Words):
    """A tensor in global memory, L2 or the window of local memory, continuous without strides."""

    def __init__(self, memory, address, shape, stride, size, window=None):
        self.block, self.size, self.shape = memory.system, size, tuple(shape)
        if window is not None and window <= address < window + memory.local.size:
            self.block, address = memory.local.reshape(-1), address - window
        n, c, h, w = shape
        self.at = address + size * element_offsets(shape, lambda channel: channel, stride or [c * h * w, h * w, w, 1])

    def place(self, i):
        return self.at + i

    def positions(self):
        return np.broadcast_to(self.at, self.shape)


def move(dst, src, order):
    """Element i of dst comes from element order[i] of src, one by one in the order of dst: the tensors may overlap."""
    to, origin = dst.positions().reshape(-1), src.positions().reshape(-1)[np.asarray(order).reshape(-1)]
    into, out_of, size = dst.block.reshape(-1), src.block.reshape(-1), dst.size
    if np.shares_memory(into, out_of) and len(to) and to.min() < origin.max() + size and origin.min() < to.max() + size:
        for place, source in zip(to, origin):
            into[place:place + size] = out_of[source:source + size].copy()
    else:
        for i in range(size):
            into[to + i] = out_of[origin + i]


class Corpus:
    """The recorded cases of a chip, those of tests/golden unless another folder is named."""

    def __init__(self, chip, npu_bytes, root=ROOT / "tests/golden"):
        self.folder, self.npu_bytes = pathlib.Path(root) / chip, npu_bytes
        self.tables = read_special_tables()

    def families(self):
        return sorted(path.stem for path in self.folder.glob("*.json"))

    def cases(self, family):
        data = np.frombuffer((self.folder / f"{family}.bin").read_bytes(), np.uint8)
        for case in json.loads((self.folder / f"{family}.json").read_text())["cases"]:
            if not case.get("abort") and not case.get("deviation"):
                case["nan_is_nan"] = family in ANY_NAN and self.folder.name != "bm1690"
                yield case, data

    def prepare(self, memory, case, data):
        for entry in case["setup"]:
            view, fill = memory.region(entry), entry["fill"]
            words = data[fill["data"][0]:sum(fill["data"])] if "data" in fill else fill_bytes(fill, view.size, self.tables)
            view[...] = words.reshape(view.shape)

    @staticmethod
    def differences(memory, case, data):
        wrong = 0
        for entry in case.get("expect", []):
            view = memory.region(entry)
            differs = view != data[entry["data"][0]:sum(entry["data"])].reshape(view.shape)
            if case["nan_is_nan"] and entry.get("dtype") == "f32" and differs.any():
                got, expected = (np.ascontiguousarray(bits).reshape(-1).view(np.float32) for bits in (view, data[entry["data"][0]:sum(entry["data"])]))
                differs = differs.reshape(-1, 4) & ~(np.isnan(got) & np.isnan(expected))[:, None]
            wrong += int(differs.sum())
        return wrong
